# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How kubelet and the runtimes name cgroups: the root of all pods, QoS classes, pods and containers.

All are paths below the top of a hierarchy, without a leading slash. Source, where none is given:
kubernetes pkg/kubelet/cm/cgroup_manager_linux.go NewCgroupName, ToSystemd, ToCgroupfs.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ..errors import ColocationError
from . import slice_names


class Driver(str, Enum):
    """Who creates cgroups: kubelet's ``cgroupDriver``, containerd's ``SystemdCgroup``."""

    SYSTEMD = "systemd"
    CGROUPFS = "cgroupfs"


class QosClass(str, Enum):
    """A pod's class, as in its ``status.qosClass`` but in lower case."""

    GUARANTEED = "guaranteed"
    BURSTABLE = "burstable"
    BESTEFFORT = "besteffort"


_SCOPES = {"containerd": "cri-containerd-", "cri-o": "crio-", "docker": "docker-"}
_DIRECTORY_PREFIXES = {"containerd": "", "cri-o": "crio-", "docker": ""}
DIRECTORY_PREFIXES = (*sorted(set(_DIRECTORY_PREFIXES.values())), "crio-conmon-")
"""Before a container's id in a plain folder; the last one is of CRI-O's monitor of a container, with
``monitor_cgroup = "pod"`` (cri-o internal/config/cgmgr/cgroupfs_linux.go MoveConmonToCgroup)."""


@dataclass(frozen=True)
class KubeletTree:
    """Kubelet's cgroups under a driver; ``root`` is its ``cgroupRoot``, a path under both drivers."""

    driver: Driver
    root: str = "/"

    def pods(self) -> str:
        """The cgroup that all pods are in."""
        return cgroup_path(("" if self.root == "/" else self.root) + "/kubepods", self.driver)

    def qos(self, qos: QosClass) -> str:
        """The cgroup of a class; Guaranteed pods have none of their own (qos_container_manager_linux.go)."""
        return self.pods() if qos is QosClass.GUARANTEED else child_cgroup(self.pods(), qos.value)

    def pod(self, qos: QosClass, uid: str) -> str:
        """The cgroup of a pod. A static pod's UID is a hash without dashes (pkg/kubelet/config/common.go)."""
        if not uid or not {"/", "_", "\0"}.isdisjoint(uid):
            raise ColocationError(
                f"{uid!r} is no pod's UID, for kubelet makes no cgroup of it",
                "Take the value of metadata.uid; a static pod's is its annotation kubernetes.io/config.hash.",
            )
        path = child_cgroup(self.qos(qos), "pod" + uid)
        if self.driver is Driver.SYSTEMD:
            slice_names.expand(path.rpartition("/")[2])
        return path


def cgroup_path(root: str, driver: Driver) -> str:
    """Where a path of cgroupRoot's kind is: ``/a/b`` is ``a/b`` or ``a.slice/a-b.slice``; the top is empty."""
    path = root[1:] if root.startswith("/") else root
    if not path:
        return ""
    parts = path.split("/")
    if {".", ".."} & set(parts):
        raise ColocationError(f"{root!r} is no path of a cgroup", "Write it without . and .. parts.")
    named = "/".join(filter(None, parts))
    if driver is Driver.CGROUPFS:
        return named
    if "" in parts:
        raise ColocationError(
            f"{root!r} has an empty part, of which the systemd driver makes a slice without a name", f"Write /{named}."
        )
    return slice_names.expand(slice_stem(path) + slice_names.SUFFIX)


def slice_stem(path: str) -> str:
    """The systemd driver's name of a path, without its ending: ``a/b-c`` is ``a-b_c``."""
    return path.replace("-", "_").replace("/", "-")


def child_cgroup(parent: str, component: str) -> str:
    """The cgroup that kubelet makes in another one of its own: a slice in a slice, a plain folder in a plain one."""
    name = parent.rpartition("/")[2]
    if not name.endswith(slice_names.SUFFIX):
        return f"{parent}/{component}"
    return f"{parent}/{name[: -len(slice_names.SUFFIX)]}-{slice_stem(component)}{slice_names.SUFFIX}"


def qos_classes(pods: str) -> tuple[str, str]:
    """In the cgroup of all pods: those of the burstable and the besteffort class, which have one of their own."""
    return child_cgroup(pods, QosClass.BURSTABLE.value), child_cgroup(pods, QosClass.BESTEFFORT.value)


def container_cgroup(pod: str, runtime: str, identity: str) -> str:
    """The cgroup of a container in its pod's; ``runtime`` is containerd, cri-o or docker.

    The pod's name alone decides the form: containerd internal/cri/server/helpers.go getCgroupsPath, cri-o
    internal/config/cgmgr, moby daemon/oci_linux.go WithCgroups, to which cri-dockerd gives the pod's cgroup. Under crun
    with systemd on v2 the processes are one level lower, in ``container`` (crun.1 run.oci.systemd.subgroup), and limits
    count for both.
    """
    if runtime not in _SCOPES:
        raise ColocationError(f"the runtime {runtime!r} is not known", f"Known are {', '.join(sorted(_SCOPES))}.")
    if not identity or identity in (".", "..") or not {"/", "\0"}.isdisjoint(identity):
        raise ColocationError(f"{identity!r} is no container's id", "Take it from the runtime, as crictl ps shows it.")
    if pod.endswith(slice_names.SUFFIX):
        # The runtime gets the name of the slice only, from which the place of the slice follows.
        return f"{slice_names.expand(pod.rpartition('/')[2])}/{_SCOPES[runtime]}{identity}.scope"
    return f"{pod}/{_DIRECTORY_PREFIXES[runtime]}{identity}"


def unit_of(cgroup: str) -> str | None:
    """The unit of the node's systemd whose cgroup this is; None for every other cgroup.

    systemd keeps slices where their names say, and scopes and services directly in a slice (src/core/cgroup.c
    unit_default_cgroup_path). Below them is another manager: a user's, or one in a container.
    """
    path = cgroup.strip("/")
    if not path:
        return slice_names.ROOT
    parent, _slash, folder = path.rpartition("/")
    name = folder[1:] if folder.startswith("_") else folder
    if name.endswith(slice_names.SUFFIX):
        return name if not slice_names.name_problem(name) and slice_names.path(name) == path else None
    if not name.endswith((".scope", ".service")):
        return None
    return name if not parent or (unit_of(parent) or "").endswith(slice_names.SUFFIX) else None
