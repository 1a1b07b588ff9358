# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From what a module was asked for to cgroups on this node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Iterator, Optional

from ..cgroup import container_paths, slice_names
from ..cgroup.hierarchy import Hierarchies
from ..cgroup.kubelet_names import Driver, KubeletTree, QosClass, unit_of
from ..cgroup.safe_path import parts
from ..errors import ColocationError
from ..host import Host
from .ownership import CgroupLevel, cgroup_level


@dataclass(frozen=True)
class TargetSpec:
    """Exactly one of the fields. A pod is named by ``uid``, or by ``pod`` as namespace/name.

    ``each_pod``: every pod of the class that is on the node, in place of the class itself.
    """

    qos_class: QosClass | None = None
    slice_name: str | None = None
    path: str | None = None
    uid: str | None = None
    pod: str | None = None
    each_pod: QosClass | None = None


@dataclass(frozen=True)
class Target:
    """One cgroup. ``unit`` is the systemd unit that may have it; ``driver`` is kubelet's, inside its tree."""

    cgroup: str
    place: CgroupLevel
    qos: QosClass | None
    driver: Driver | None
    unit: str | None
    pod: str = ""


@dataclass(frozen=True)
class Cgroups:
    """The cgroups of a node: where they are, and where kubelet's are among them."""

    host: Host
    hierarchies: Hierarchies
    kubelet_root: str = "/"
    driver: Driver | None = None

    def folders(self, cgroup: str) -> list[str]:
        """The folders of a cgroup that there are, in whatever hierarchy."""
        points = sorted(set(self.hierarchies.points.values()))
        found = [f"{point}/{cgroup}" if cgroup else point for point in points]
        return [folder for folder in found if self.host.is_directory(folder)]

    def list(self, cgroup: str) -> list[str]:
        """Sorted names of the cgroups in a cgroup."""
        return sorted(
            {
                name
                for folder in self.folders(cgroup)
                for name in self.host.list(folder)
                if self.host.is_directory(f"{folder}/{name}")
            }
        )


UidOf = Callable[[str], Optional[str]]
"""The UID of a pod that is on the node by its namespace/name; None when there is none."""


def resolve_targets(wish: TargetSpec, cgroups: Cgroups, uid_of: UidOf) -> tuple[Target, ...]:
    """The cgroups that are meant; some may be gone. ColocationError when it is unclear which."""
    if wish.slice_name is not None:
        return (_of_path(slice_names.path(wish.slice_name), cgroups),)
    if wish.path is not None:
        parts(wish.path)
        return (_of_path(wish.path, cgroups),)
    tree = KubeletTree(detect_driver(cgroups), cgroups.kubelet_root)
    if wish.qos_class is not None:
        return (_in_tree(tree.qos(wish.qos_class), tree),)
    if wish.each_pod is not None:
        return tuple(_in_tree(cgroup, tree) for cgroup in _pods(wish.each_pod, tree, cgroups))
    return tuple(_of_pod(wish, tree, cgroups, uid_of))


def detect_driver(cgroups: Cgroups) -> Driver:
    """Kubelet's driver as it was told, or as processes show it; ColocationError where they do not."""
    if cgroups.driver is not None:
        return cgroups.driver
    trees = {tree.driver: tree.pods() for tree in _trees(cgroups)}
    alive = [
        each for each, tree in trees.items() if any(has_processes(cgroups.host, at) for at in cgroups.folders(tree))
    ]
    if len(alive) == 1:
        return alive[0]
    found = "processes are in both" if alive else "no process is in either"
    raise ColocationError(
        f"kubelet's cgroup driver does not show: of {' and '.join(trees.values())}, {found}",
        "Say which it is with cgroup_driver, and kubelet_cgroup_root if kubelet has a cgroupRoot",
    )


def has_processes(host: Host, folder: str) -> bool:
    """Whether a process is in the cgroup or below it."""
    try:
        # cgroup-v2.rst: populated counts the cgroups below as well.
        return "populated 1" in host.read(f"{folder}/cgroup.events").splitlines()
    except OSError:
        pass
    try:
        if host.read(f"{folder}/cgroup.procs").strip():
            return True
    except OSError:
        pass
    below = (f"{folder}/{name}" for name in host.list(folder))
    return any(has_processes(host, each) for each in below if host.is_directory(each) and not host.is_symlink(each))


def _of_path(cgroup: str, cgroups: Cgroups) -> Target:
    """Whoever names a cgroup of kubelet's by its path gets the rules that kubelet's cgroups have."""
    if not cgroup:
        raise ColocationError("the root cgroup has no limits of its own", "Name a cgroup below it")
    for tree in _trees(cgroups):
        if cgroup == tree.pods() or cgroup.startswith(tree.pods() + "/"):
            return _in_tree(cgroup, tree)
    if container_paths.classify(cgroup) is not None:
        raise ColocationError(
            f"{cgroup} is in a tree of kubelet's, but not below the cgroupRoot {cgroups.kubelet_root}",
            "Say with kubelet_cgroup_root what kubelet's cgroupRoot is",
        )
    return Target(cgroup, CgroupLevel.OTHER, None, None, unit_of(cgroup))


def matches_record(wish: TargetSpec, cgroup: str, pod: str, cgroups: Cgroups) -> bool:
    """Whether the wish means a cgroup that is gone by now; ``pod`` is what it was asked for as."""
    if wish.slice_name is not None:
        return cgroup == slice_names.path(wish.slice_name)
    if wish.path is not None:
        return cgroup == wish.path
    if wish.pod is not None:
        return pod == wish.pod
    return any(_matches_tree(wish, cgroup, tree) for tree in _trees(cgroups))


def _matches_tree(wish: TargetSpec, cgroup: str, tree: KubeletTree) -> bool:
    if wish.qos_class is not None:
        return cgroup == tree.qos(wish.qos_class)
    if wish.each_pod is not None:
        return classify_target(cgroup, tree) == (CgroupLevel.POD, wish.each_pod)
    return cgroup in [tree.pod(qos, wish.uid or "") for qos in QosClass]


def _trees(cgroups: Cgroups) -> list[KubeletTree]:
    return [KubeletTree(each, cgroups.kubelet_root) for each in Driver]


def _in_tree(cgroup: str, tree: KubeletTree) -> Target:
    place, qos = classify_target(cgroup, tree)
    return Target(cgroup, place, qos, tree.driver, unit_of(cgroup))


def classify_target(cgroup: str, tree: KubeletTree) -> tuple[CgroupLevel, QosClass | None]:
    """What a cgroup of kubelet's tree is, and of which class."""
    found = container_paths.classify_in_tree(cgroup, tree)
    return (cgroup_level(found), found.qos) if found is not None else (CgroupLevel.OTHER, None)


def _pods(qos: QosClass, tree: KubeletTree, cgroups: Cgroups) -> Iterator[str]:
    own = tree.qos(qos)
    for name in cgroups.list(own):
        if classify_target(f"{own}/{name}", tree) == (CgroupLevel.POD, qos):
            yield f"{own}/{name}"


def _of_pod(wish: TargetSpec, tree: KubeletTree, cgroups: Cgroups, uid_of: UidOf) -> Iterator[Target]:
    uid = wish.uid if wish.uid is not None else uid_of(wish.pod or "")
    if uid is None:
        return
    for qos in QosClass:
        cgroup = tree.pod(qos, uid)
        if cgroups.folders(cgroup):
            yield Target(cgroup, CgroupLevel.POD, qos, tree.driver, unit_of(cgroup), wish.pod or "")
            return
