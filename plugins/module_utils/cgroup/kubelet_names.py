# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names that kubelet and the runtimes give to cgroups: the root of all pods, QoS classes, pods and containers.

All are paths below the top of a hierarchy, without a leading slash. Source, unless another is named:
kubernetes pkg/kubelet/cm/cgroup_manager_linux.go NewCgroupName, ToSystemd, ToCgroupfs.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ..errors import ColocationError
from . import slice_names


class Driver(str, Enum):
    """The cgroup driver: kubelet's ``cgroupDriver``, containerd's ``SystemdCgroup``."""

    SYSTEMD = "systemd"
    CGROUPFS = "cgroupfs"


class QosClass(str, Enum):
    """A pod's QoS class, as in ``status.qosClass`` but in lower case."""

    GUARANTEED = "guaranteed"
    BURSTABLE = "burstable"
    BESTEFFORT = "besteffort"


_SCOPES = {"containerd": "cri-containerd-", "cri-o": "crio-", "docker": "docker-"}
_DIRECTORY_PREFIXES = {"containerd": "", "cri-o": "crio-", "docker": ""}
DIRECTORY_PREFIXES = (*sorted(set(_DIRECTORY_PREFIXES.values())), "crio-conmon-")
"""Prefixes of a container's id in a plain directory; the last one is of CRI-O's monitor of a container, with
``monitor_cgroup = "pod"`` (cri-o internal/config/cgmgr/cgroupfs_linux.go MoveConmonToCgroup)."""


@dataclass(frozen=True)
class KubeletTree:
    """kubelet's cgroups with a driver; ``root`` is kubelet's ``cgroupRoot``, a path with both drivers."""

    driver: Driver
    root: str = "/"

    def pods(self) -> str:
        """The cgroup of all pods."""
        return cgroup_path(("" if self.root == "/" else self.root) + "/kubepods", self.driver)

    def qos(self, qos: QosClass) -> str:
        """The cgroup of a class; the Guaranteed class has no separate one (qos_container_manager_linux.go)."""
        return self.pods() if qos is QosClass.GUARANTEED else child_cgroup(self.pods(), qos.value)

    def pod(self, qos: QosClass, uid: str) -> str:
        """The cgroup of a pod. A static pod's UID is a hash without dashes (pkg/kubelet/config/common.go)."""
        if not uid or not {"/", "_", "\0"}.isdisjoint(uid):
            raise ColocationError(
                f"{uid!r} is not the UID of a pod: kubelet cannot make a cgroup with this name",
                "Use the value of metadata.uid; for a static pod, its annotation kubernetes.io/config.hash.",
            )
        path = child_cgroup(self.qos(qos), "pod" + uid)
        if self.driver is Driver.SYSTEMD:
            slice_names.expand(path.rpartition("/")[2])
        return path


def cgroup_path(root: str, driver: Driver) -> str:
    """The cgroup of a path as in cgroupRoot: ``/a/b`` is ``a/b`` or ``a.slice/a-b.slice``; the top is empty."""
    path = root[1:] if root.startswith("/") else root
    if not path:
        return ""
    parts = path.split("/")
    if {".", ".."} & set(parts):
        raise ColocationError(f"{root!r} is not the path of a cgroup", "Write it without . and .. parts.")
    path_without_empty_parts = "/".join(filter(None, parts))
    if driver is Driver.CGROUPFS:
        return path_without_empty_parts
    if "" in parts:
        raise ColocationError(
            f"{root!r} has an empty part, for which the systemd driver would make a slice without a name",
            f"Write /{path_without_empty_parts}.",
        )
    return slice_names.expand(slice_stem(path) + slice_names.SUFFIX)


def slice_stem(path: str) -> str:
    """The systemd driver's name of a path, without its suffix: ``a/b-c`` is ``a-b_c``."""
    return path.replace("-", "_").replace("/", "-")


def child_cgroup(parent: str, component: str) -> str:
    """The cgroup that kubelet makes in another one of its cgroups: a slice in a slice, else a plain directory."""
    name = parent.rpartition("/")[2]
    if not name.endswith(slice_names.SUFFIX):
        return f"{parent}/{component}"
    return f"{parent}/{name[: -len(slice_names.SUFFIX)]}-{slice_stem(component)}{slice_names.SUFFIX}"


def qos_classes(pods: str) -> tuple[str, str]:
    """The cgroups of the burstable and the besteffort class, which are in the cgroup of all pods."""
    return child_cgroup(pods, QosClass.BURSTABLE.value), child_cgroup(pods, QosClass.BESTEFFORT.value)


def container_cgroup(pod: str, runtime: str, identity: str) -> str:
    """The cgroup of a container in its pod's; ``runtime`` is containerd, cri-o or docker.

    The name of the pod's cgroup alone decides the form: containerd internal/cri/server/helpers.go getCgroupsPath, cri-o
    internal/config/cgmgr, moby daemon/oci_linux.go WithCgroups, to which cri-dockerd passes the pod's cgroup. With crun
    and systemd on v2 the processes are one level lower, in ``container`` (crun.1 run.oci.systemd.subgroup), and limits
    apply to both.
    """
    if runtime not in _SCOPES:
        raise ColocationError(f"the runtime {runtime!r} is not known", f"Use one of {', '.join(sorted(_SCOPES))}.")
    if not identity or identity in (".", "..") or not {"/", "\0"}.isdisjoint(identity):
        raise ColocationError(f"{identity!r} is not the id of a container", "Use the id that crictl ps shows.")
    if pod.endswith(slice_names.SUFFIX):
        # The runtime gets only the name of the slice and derives its path from it.
        return f"{slice_names.expand(pod.rpartition('/')[2])}/{_SCOPES[runtime]}{identity}.scope"
    return f"{pod}/{_DIRECTORY_PREFIXES[runtime]}{identity}"


def reserved_paths(name: str) -> list[str]:
    """The paths that a *ReservedCgroup value can mean: the path itself (cgroupfs) or the slice of that name (systemd).

    Source: kubernetes pkg/kubelet/cm/cgroup_manager_linux.go ParseSystemdToCgroupName, ToSystemd.
    """
    base = name.rpartition("/")[2]
    unit = base if base.endswith(slice_names.SUFFIX) else base + slice_names.SUFFIX
    paths = [name.strip("/"), "" if slice_names.name_problem(unit) else slice_names.expand(unit)]
    return [path for path in paths if path and ".." not in path.split("/")]


def slice_of(cgroup: str, driver: Driver) -> str:
    """The slice that a *ReservedCgroup means under a driver; empty if it is not a systemd slice.

    systemd: the last part with or without .slice; cgroupfs: the path as it is written, which must be the path of a
    slice (pkg/kubelet/cm/cgroup_manager_linux.go CgroupName).
    """
    paths = reserved_paths(cgroup)
    if len(paths) < 2:
        return ""
    expanded = paths[-1]
    if driver is Driver.CGROUPFS and expanded != cgroup.strip("/"):
        return ""
    return expanded.rpartition("/")[2]


def unit_of(cgroup: str) -> str | None:
    """The unit of the node's systemd that has this cgroup; None for every other cgroup.

    The name of a slice determines its path; scopes and services are directly in a slice (src/core/cgroup.c
    unit_default_cgroup_path). Cgroups below them have another manager: a user's, or one in a container.
    """
    path = cgroup.strip("/")
    if not path:
        return slice_names.ROOT
    parent, _slash, last = path.rpartition("/")
    name = last[1:] if last.startswith("_") else last
    if name.endswith(slice_names.SUFFIX):
        return name if not slice_names.name_problem(name) and slice_names.path(name) == path else None
    if not name.endswith((".scope", ".service")):
        return None
    return name if not parent or (unit_of(parent) or "").endswith(slice_names.SUFFIX) else None
