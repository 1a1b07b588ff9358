# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse the path of a cgroup in kubelet's tree: the inverse of kubelet_names.py.

Only paths that kubelet_names.py generates for some driver, root, class and pod are recognized.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Iterator

from ..errors import ColocationError
from . import slice_names
from .kubelet_names import DIRECTORY_PREFIXES, Driver, KubeletTree, QosClass, child_cgroup, qos_classes

PODS = "kubepods"
_ID = "[0-9a-f]{64}"
_SCOPE = re.compile(r"(.+-)(%s)\.scope" % _ID)
"""opencontainers/cgroups systemd/common.go getUnitName: any prefix, a dash, the id."""
_DIRECTORY = re.compile("(%s)(%s)" % ("|".join(map(re.escape, DIRECTORY_PREFIXES)), _ID))
"""The runtime alone names a plain directory; a directory with a prefix of no runtime is not a container's."""
_DECISIVE = ("memory", "cpu", "cpuacct", "", "name=systemd")
"""In this order: on cgroup v1 kubelet requires memory and cpu (pkg/kubelet/cm/container_manager_linux.go
getContainer), and memory can be off (cgroup_disable=memory). "" is the unified hierarchy, the only one on v2."""


@dataclass(frozen=True)
class KubeletCgroup:
    """A cgroup in kubelet's tree.

    ``above``: the path above kubelet's root, if the node is a container that sees its host's cgroups. With the
    cgroupfs driver that path looks like a nested root and is part of ``tree.root``.
    ``qos`` is GUARANTEED also at the root. ``pod_uid`` and ``container_id`` are empty for a cgroup outside of them.
    ``prefix`` is the runtime's, with its dash: ``cri-containerd-``, ``crio-``, ``docker-``, or empty.
    ``below``: the path in the container, or in the pod, class or root if the cgroup is not in a container.
    """

    tree: KubeletTree
    above: str
    qos: QosClass
    pod_uid: str = ""
    prefix: str = ""
    container_id: str = ""
    below: str = ""

    @property
    def pods(self) -> str:
        """The cgroup of all pods, from the top of the hierarchy."""
        return _join(self.above, self.tree.pods())


def decisive_path(text: str) -> str:
    """The path in a /proc/PID/cgroup text of the cgroup that accounts for a process; empty without one."""
    by_controller = paths(text)
    return next((by_controller[name] for name in _DECISIVE if name in by_controller), "")


def paths(text: str) -> dict[str, str]:
    """{controller: path} of a /proc/PID/cgroup text; "" is the unified hierarchy (cgroups(7))."""
    by_controller: dict[str, str] = {}
    for line in text.splitlines():
        controllers, colon, path = line.partition(":")[2].partition(":")
        if colon:
            by_controller.update(dict.fromkeys(controllers.split(","), path))
    return by_controller


def driver_of(path: str) -> Driver | None:
    """The driver that made a container's cgroup; None if the path is not that of a container."""
    cgroup = classify(path)
    return cgroup.tree.driver if cgroup is not None and cgroup.container_id else None


def classify(path: str) -> KubeletCgroup | None:
    """The cgroup of a path from the top of a hierarchy; None if the path is not in a tree of kubelet.

    A container of this node may itself be a node, so that trees are nested. Then the tree that explains most of the
    path is used, and the outer one of equals.
    """
    parts = tuple(path.strip("/").split("/"))
    candidates = [_in_tree(tree, above, "/".join(parts[count:])) for tree, above, count in _trees(parts)]
    return max(candidates, key=_rank) if candidates else None


def classify_in_tree(cgroup: str, tree: KubeletTree) -> KubeletCgroup | None:
    """The cgroup of a path in a known tree; None if it is outside."""
    pods = tree.pods()
    inside = f"{cgroup}/".startswith(f"{pods}/")
    return _in_tree(tree, "", cgroup[len(pods) + 1 :]) if inside else None


def pod_uid(parent: str, name: str) -> str:
    """The UID of the pod whose cgroup has this name in the class cgroup ``parent``; empty for other cgroups.

    kubernetes pkg/kubelet/cm/pod_container_manager_linux.go IsPodCgroup: everything after ``pod`` is the UID.
    """
    suffix = slice_names.SUFFIX if parent.endswith(slice_names.SUFFIX) else ""
    start = child_cgroup(parent, "pod")[len(parent) + 1 :]
    start = start[: len(start) - len(suffix)]
    if not (name.startswith(start) and name.endswith(suffix)):
        return ""
    escaped = name[len(start) : len(name) - len(suffix)]
    uid = escaped.replace("_", "-") if suffix else escaped
    generated = "_" not in uid and child_cgroup(parent, "pod" + uid) == f"{parent}/{name}"
    return uid if generated and not (suffix and slice_names.name_problem(name)) else ""


def _trees(parts: tuple[str, ...]) -> Iterator[tuple[KubeletTree, str, int]]:
    """(tree, path above it, number of parts up to it) of each tree in a path, the outer one first."""
    for count, name in enumerate(parts, 1):
        if name == PODS:
            tree_and_above = _plain_tree(parts[: count - 1])
        elif f"-{name}".endswith(f"-{PODS}{slice_names.SUFFIX}"):
            tree_and_above = _slice_tree(parts[:count])
        else:
            continue
        if tree_and_above is not None:
            yield (*tree_and_above, count)


def _plain_tree(parents: tuple[str, ...]) -> tuple[KubeletTree, str] | None:
    """Leading .. parts belong to another cgroup namespace (cgroup_namespaces(7))."""
    root = parents
    while root[:1] == ("..",):
        root = root[1:]
    tree = KubeletTree(Driver.CGROUPFS, "/" + "/".join(root))
    above = "/".join(parents[: len(parents) - len(root)])
    return (tree, above) if _generates(tree, "/".join((*root, PODS))) else None


def _slice_tree(parts: tuple[str, ...]) -> tuple[KubeletTree, str] | None:
    """kubernetes pkg/kubelet/cm/cgroup_manager_linux.go ParseSystemdToCgroupName: _ means a dash of a name."""
    names = parts[-1][: -len(slice_names.SUFFIX)].split("-")
    tree = KubeletTree(Driver.SYSTEMD, "/" + "/".join(names[:-1]).replace("_", "-"))
    below = parts[-len(names) :]
    return (tree, "/".join(parts[: -len(names)])) if _generates(tree, "/".join(below)) else None


def _generates(tree: KubeletTree, pods: str) -> bool:
    try:
        return tree.pods() == pods
    except ColocationError:
        return False


def _in_tree(tree: KubeletTree, above: str, below: str) -> KubeletCgroup:
    class_cgroup, qos, below = _class(tree.pods(), below)
    cgroup = KubeletCgroup(tree, above, qos, below=below)
    name, _slash, inner = below.partition("/")
    uid = pod_uid(class_cgroup, name)
    if not uid:
        return cgroup
    leaf, _slash, innermost = inner.partition("/")
    match = (_SCOPE if tree.driver is Driver.SYSTEMD else _DIRECTORY).fullmatch(leaf)
    if match is None:
        return replace(cgroup, pod_uid=uid, below=inner)
    return replace(cgroup, pod_uid=uid, prefix=match[1], container_id=match[2], below=innermost)


def _class(pods: str, below: str) -> tuple[str, QosClass, str]:
    """(cgroup of the class, class, path in it); the Guaranteed class has no cgroup, its pods are in the root."""
    name, _slash, inner = below.partition("/")
    for class_cgroup, qos in zip(qos_classes(pods), (QosClass.BURSTABLE, QosClass.BESTEFFORT)):
        if class_cgroup == f"{pods}/{name}":
            return class_cgroup, qos, inner
    return pods, QosClass.GUARANTEED, below


def _rank(cgroup: KubeletCgroup) -> int:
    """How much of a path is explained: 2 with a container, 1 with a pod or as a whole, 0 for the tree only."""
    if cgroup.container_id:
        return 2
    return 1 if cgroup.pod_uid or not cgroup.below else 0


def _join(above: str, cgroup: str) -> str:
    return f"{above}/{cgroup}" if above else cgroup
