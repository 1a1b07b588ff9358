# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Resolve the target of a module's options to cgroups on this node."""

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
    """The target of a request; exactly one field is set. ``uid`` or ``pod`` (namespace/name) names a pod.

    ``each_pod``: every pod of the class on the node, instead of the class itself.
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
    level: CgroupLevel
    qos: QosClass | None
    driver: Driver | None
    unit: str | None
    pod: str = ""


@dataclass(frozen=True)
class Cgroups:
    """The cgroups of a node, with the root and the driver of kubelet's tree."""

    host: Host
    hierarchies: Hierarchies
    kubelet_root: str = "/"
    driver: Driver | None = None

    def directories(self, cgroup: str) -> list[str]:
        """The existing directories of a cgroup in all hierarchies."""
        points = sorted(set(self.hierarchies.points.values()))
        paths = [f"{point}/{cgroup}" if cgroup else point for point in points]
        return [directory for directory in paths if self.host.is_directory(directory)]

    def list(self, cgroup: str) -> list[str]:
        """Sorted names of the child cgroups of a cgroup."""
        return sorted(
            {
                name
                for directory in self.directories(cgroup)
                for name in self.host.list(directory)
                if self.host.is_directory(f"{directory}/{name}")
            }
        )


UidOf = Callable[[str], Optional[str]]
"""Returns the UID of the pod with this namespace/name; None if the pod is not on the node."""


def resolve_targets(spec: TargetSpec, cgroups: Cgroups, uid_of: UidOf) -> tuple[Target, ...]:
    """The cgroups of a target; some may not exist. ColocationError if the target is ambiguous."""
    if spec.slice_name is not None:
        return (_of_path(slice_names.path(spec.slice_name), cgroups),)
    if spec.path is not None:
        parts(spec.path)
        return (_of_path(spec.path, cgroups),)
    tree = KubeletTree(detect_driver(cgroups), cgroups.kubelet_root)
    if spec.qos_class is not None:
        return (_in_tree(tree.qos(spec.qos_class), tree),)
    if spec.each_pod is not None:
        return tuple(_in_tree(cgroup, tree) for cgroup in _pods(spec.each_pod, tree, cgroups))
    return tuple(_of_pod(spec, tree, cgroups, uid_of))


def detect_driver(cgroups: Cgroups) -> Driver:
    """kubelet's driver: the explicit one, or that of the only tree with processes; ColocationError otherwise."""
    if cgroups.driver is not None:
        return cgroups.driver
    trees = {tree.driver: tree.pods() for tree in _trees(cgroups)}
    alive = [
        driver
        for driver, tree in trees.items()
        if any(has_processes(cgroups.host, directory) for directory in cgroups.directories(tree))
    ]
    if len(alive) == 1:
        return alive[0]
    reason = "processes are in both" if alive else "no process is in either"
    raise ColocationError(
        f"kubelet's cgroup driver is unknown: of {' and '.join(trees.values())}, {reason}",
        "Set cgroup_driver, and kubelet_cgroup_root if kubelet has a cgroupRoot",
    )


def has_processes(host: Host, directory: str) -> bool:
    """Whether a process is in the cgroup or below it."""
    try:
        # cgroup-v2.rst: populated includes the cgroups below.
        return "populated 1" in host.read(f"{directory}/cgroup.events").splitlines()
    except OSError:
        pass
    try:
        if host.read(f"{directory}/cgroup.procs").strip():
            return True
    except OSError:
        pass
    paths = (f"{directory}/{name}" for name in host.list(directory))
    return any(has_processes(host, path) for path in paths if host.is_directory(path) and not host.is_symlink(path))


def _of_path(cgroup: str, cgroups: Cgroups) -> Target:
    """The target of a path. The rules for kubelet's cgroups also apply to a path in kubelet's tree."""
    if not cgroup:
        raise ColocationError("the root cgroup has no limits", "Name a cgroup below it")
    for tree in _trees(cgroups):
        if cgroup == tree.pods() or cgroup.startswith(tree.pods() + "/"):
            return _in_tree(cgroup, tree)
    if container_paths.classify(cgroup) is not None:
        raise ColocationError(
            f"{cgroup} is in a tree of kubelet, but not below the cgroupRoot {cgroups.kubelet_root}",
            "Set kubelet_cgroup_root to kubelet's cgroupRoot",
        )
    return Target(cgroup, CgroupLevel.OTHER, None, None, unit_of(cgroup))


def matches_record(spec: TargetSpec, cgroup: str, pod: str, cgroups: Cgroups) -> bool:
    """Whether the target includes a recorded cgroup that no longer exists; ``pod`` is the pod's recorded name."""
    if spec.slice_name is not None:
        return cgroup == slice_names.path(spec.slice_name)
    if spec.path is not None:
        return cgroup == spec.path
    if spec.pod is not None:
        return pod == spec.pod
    return any(_matches_tree(spec, cgroup, tree) for tree in _trees(cgroups))


def _matches_tree(spec: TargetSpec, cgroup: str, tree: KubeletTree) -> bool:
    if spec.qos_class is not None:
        return cgroup == tree.qos(spec.qos_class)
    if spec.each_pod is not None:
        return classify_target(cgroup, tree) == (CgroupLevel.POD, spec.each_pod)
    return cgroup in [tree.pod(qos, spec.uid or "") for qos in QosClass]


def _trees(cgroups: Cgroups) -> list[KubeletTree]:
    return [KubeletTree(driver, cgroups.kubelet_root) for driver in Driver]


def _in_tree(cgroup: str, tree: KubeletTree) -> Target:
    place, qos = classify_target(cgroup, tree)
    return Target(cgroup, place, qos, tree.driver, unit_of(cgroup))


def classify_target(cgroup: str, tree: KubeletTree) -> tuple[CgroupLevel, QosClass | None]:
    """The level and the QoS class of a cgroup in kubelet's tree."""
    place = container_paths.classify_in_tree(cgroup, tree)
    return (cgroup_level(place), place.qos) if place is not None else (CgroupLevel.OTHER, None)


def _pods(qos: QosClass, tree: KubeletTree, cgroups: Cgroups) -> Iterator[str]:
    class_cgroup = tree.qos(qos)
    for name in cgroups.list(class_cgroup):
        if classify_target(f"{class_cgroup}/{name}", tree) == (CgroupLevel.POD, qos):
            yield f"{class_cgroup}/{name}"


def _of_pod(spec: TargetSpec, tree: KubeletTree, cgroups: Cgroups, uid_of: UidOf) -> Iterator[Target]:
    uid = spec.uid if spec.uid is not None else uid_of(spec.pod or "")
    if uid is None:
        return
    for qos in QosClass:
        cgroup = tree.pod(qos, uid)
        if cgroups.directories(cgroup):
            yield Target(cgroup, CgroupLevel.POD, qos, tree.driver, unit_of(cgroup), spec.pod or "")
            return
