# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cgroup in kubelet's tree is, by its path: the inverse of kubelet_names.py.

What kubelet_names.py does not generate for some driver, root, class and pod is not recognized, whatever it looks like.
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
"""A plain folder is named by the runtime alone; a prefix that no runtime has is not a container's."""
_DECISIVE = ("memory", "cpu", "cpuacct", "", "name=systemd")
"""In this order: on cgroup v1 kubelet insists on memory and cpu (pkg/kubelet/cm/container_manager_linux.go
getContainer), and memory can be off (cgroup_disable=memory). "" is the unified hierarchy, all there is on v2."""


@dataclass(frozen=True)
class KubeletCgroup:
    """A cgroup in kubelet's tree.

    ``above``: what lies above kubelet's root, where the node is a container that sees its host's cgroups. Under the
    cgroupfs driver it looks like a nested root, and is in ``tree.root``.
    ``qos`` is GUARANTEED at the root too. ``pod_uid`` and ``container_id`` are empty for a cgroup outside them.
    ``prefix`` is the runtime's, with its dash: ``cri-containerd-``, ``crio-``, ``docker-``, or none.
    ``below``: the path in the container, or in the pod, class or root when it is not a container's.
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
    """The path in a /proc/PID/cgroup text that says where a process is accounted for; empty when there is none."""
    found = paths(text)
    return next((found[name] for name in _DECISIVE if name in found), "")


def paths(text: str) -> dict[str, str]:
    """{controller: path} of a /proc/PID/cgroup text; "" is the unified hierarchy (cgroups(7))."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        controllers, colon, path = line.partition(":")[2].partition(":")
        if colon:
            found.update(dict.fromkeys(controllers.split(","), path))
    return found


def driver_of(path: str) -> Driver | None:
    """The driver that a container's cgroup was made by; None when neither names a container so."""
    found = classify(path)
    return found.tree.driver if found is not None and found.container_id else None


def classify(path: str) -> KubeletCgroup | None:
    """What a path from the top of a hierarchy is; None when it is in no tree of kubelet's.

    Of trees in each other the one that explains most of the path counts, and of equals the outer one: a container of
    this node may be a node itself.
    """
    parts = tuple(path.strip("/").split("/"))
    found = [_in_tree(tree, above, "/".join(parts[count:])) for tree, above, count in _trees(parts)]
    return max(found, key=_rank) if found else None


def classify_in_tree(cgroup: str, tree: KubeletTree) -> KubeletCgroup | None:
    """What a cgroup is in a known tree; None when it is outside."""
    pods = tree.pods()
    inside = f"{cgroup}/".startswith(f"{pods}/")
    return _in_tree(tree, "", cgroup[len(pods) + 1 :]) if inside else None


def pod_uid(parent: str, name: str) -> str:
    """The UID of the pod whose cgroup has this name in a class's; empty when it is not a pod's.

    kubernetes pkg/kubelet/cm/pod_container_manager_linux.go IsPodCgroup: whatever follows ``pod`` is the UID.
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
    """(tree, what is above it, how many parts lead to it) of each tree that a path passes, the outer one first."""
    for count, name in enumerate(parts, 1):
        if name == PODS:
            found = _plain_tree(parts[: count - 1])
        elif f"-{name}".endswith(f"-{PODS}{slice_names.SUFFIX}"):
            found = _slice_tree(parts[:count])
        else:
            continue
        if found is not None:
            yield (*found, count)


def _plain_tree(parents: tuple[str, ...]) -> tuple[KubeletTree, str] | None:
    """Leading .. parts are another cgroup namespace's (cgroup_namespaces(7))."""
    root = parents
    while root[:1] == ("..",):
        root = root[1:]
    tree = KubeletTree(Driver.CGROUPFS, "/" + "/".join(root))
    above = "/".join(parents[: len(parents) - len(root)])
    return (tree, above) if _generates(tree, "/".join((*root, PODS))) else None


def _slice_tree(parts: tuple[str, ...]) -> tuple[KubeletTree, str] | None:
    """kubernetes pkg/kubelet/cm/cgroup_manager_linux.go ParseSystemdToCgroupName: _ stands for the dash in a name."""
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
    own, qos, below = _class(tree.pods(), below)
    found = KubeletCgroup(tree, above, qos, below=below)
    name, _slash, inner = below.partition("/")
    uid = pod_uid(own, name)
    if not uid:
        return found
    leaf, _slash, innermost = inner.partition("/")
    match = (_SCOPE if tree.driver is Driver.SYSTEMD else _DIRECTORY).fullmatch(leaf)
    if match is None:
        return replace(found, pod_uid=uid, below=inner)
    return replace(found, pod_uid=uid, prefix=match[1], container_id=match[2], below=innermost)


def _class(pods: str, below: str) -> tuple[str, QosClass, str]:
    """(cgroup of the class, class, path in it); Guaranteed pods have no cgroup of their class."""
    name, _slash, inner = below.partition("/")
    for own, qos in zip(qos_classes(pods), (QosClass.BURSTABLE, QosClass.BESTEFFORT)):
        if own == f"{pods}/{name}":
            return own, qos, inner
    return pods, QosClass.GUARANTEED, below


def _rank(found: KubeletCgroup) -> int:
    """How much of a path is explained: up to a container, all up to a pod or class, or only the tree."""
    if found.container_id:
        return 2
    return 1 if found.pod_uid or not found.below else 0


def _join(above: str, cgroup: str) -> str:
    return f"{above}/{cgroup}" if above else cgroup
