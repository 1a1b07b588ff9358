# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cgroup paths of container processes, and which driver made each; tests of facts and of the health gate use them.

Sources: kubernetes pkg/kubelet/cm/cgroup_manager_linux.go, containerd internal/cri/server/helpers.go getCgroupsPath,
cri-o internal/config/cgmgr, moby daemon/oci_linux.go WithCgroups, opencontainers/cgroups systemd/common.go getUnitName.
"""

from __future__ import annotations

ID = "0123456789abcdef" * 4
INNER = "fedcba9876543210" * 4
POD = "kubepods-besteffort-podf79da2e8b5aaca46b8ba23dbc07e21bd.slice"
IN_POD = "/kubepods.slice/kubepods-pod1234_5678.slice"
KIND = "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-podab.slice"

SYSTEMD = {
    "containerd": f"/kubepods.slice/kubepods-besteffort.slice/{POD}/cri-containerd-{ID}.scope",
    "CRI-O": f"{IN_POD}/crio-{ID}.scope",
    "CRI-O with crun": f"{IN_POD}/crio-{ID}.scope/container",
    "CRI-O's monitor": f"{IN_POD}/crio-conmon-{ID}.scope",
    "cri-dockerd": f"{IN_POD}/docker-{ID}.scope",
    "any prefix of a scope": f"{IN_POD}/Runtime_2-{ID}.scope",
    "below a root": f"{KIND}/cri-containerd-{ID}.scope/init.scope",
    "a node in a container that sees its host's cgroups": f"/docker/{INNER}{KIND}/cri-containerd-{ID}.scope",
    "seen from another cgroup namespace": f"/../..{IN_POD}/crio-{ID}.scope",
    "a container that is itself a node": f"{IN_POD}/crio-{ID}.scope/kubepods/burstable/pod12/{INNER}",
}
CGROUPFS = {
    "containerd": f"/kubepods/besteffort/podf79da2e8-b5aa-ca46/{ID}",
    "containerd, guaranteed": f"/kubepods/pod1234/{ID}",
    "CRI-O": f"/kubepods/burstable/pod1234/crio-{ID}",
    "CRI-O's monitor": f"/kubepods/burstable/pod1234/crio-conmon-{ID}",
    "a cgroup in a container": f"/kubepods/pod1234/{ID}/container",
    "below a root": f"/custom/kubepods/pod1234/{ID}",
    "below a root of the same name": f"/kubepods/kubepods/burstable/pod1234/{ID}",
    "seen from another cgroup namespace": f"/../../kubepods/pod1234/{ID}",
    "a container that is itself a node": f"/kubepods/pod1234/{ID}{KIND}/cri-containerd-{INNER}.scope",
}
MISPLACED = {
    "drivers differ": f"/system.slice/{POD}:cri-containerd:{ID}",
    "drivers differ, in a service": f"/system.slice/containerd.service/{POD}:cri-containerd:{ID}",
    "drivers differ, at the top": f"/{POD}:cri-containerd:{ID}",
    "a prefix that dockerd puts before scopes only": f"/kubepods/burstable/pod1234/docker-{ID}",
    "a directory between kubepods and the pod": f"/kubepods/other/pod1234/{ID}",
    "a directory in a slice": f"{IN_POD}/{ID}",
    "a scope in a directory": f"/kubepods/pod1234/cri-containerd-{ID}.scope",
    "no pod": f"/kubepods.slice/cri-containerd-{ID}.scope",
    "a pod of another class": f"/kubepods.slice/kubepods-burstable.slice/{POD}/cri-containerd-{ID}.scope",
    "a slice in a wrong place": f"/kubelet-kubepods.slice/kubelet-kubepods-podab.slice/cri-containerd-{ID}.scope",
    "an underscore in a UID": f"/kubepods/pod12_34/{ID}",
    "a short id": "/kubepods/pod1234/0123456789abcdef",
}
"""In kubelet's tree by the name, but not made by either driver."""
FOREIGN = {
    "dockerd alone": f"/docker/{ID}",
    "dockerd alone, systemd": f"/system.slice/docker-{ID}.scope",
    "a service": "/system.slice/containerd.service",
    "the top": "/",
}

DECISIVE = {
    "v2": ("0::/kubepods/a\n", "/kubepods/a"),
    "v1": ("12:memory:/m\n3:cpu,cpuacct:/c\n1:name=systemd:/s\n0::/u\n", "/m"),
    "v1, cpu before memory": ("12:cpu,cpuacct:/c\n3:memory:/m\n1:name=systemd:/s\n", "/m"),
    "v1 without memory": ("4:pids:/p\n3:cpu,cpuacct:/c\n1:name=systemd:/s\n", "/c"),
    "hybrid without memory": ("3:cpu,cpuacct:/c\n1:name=systemd:/s\n0::/u\n", "/c"),
    "v2 beside systemd's own": ("1:name=systemd:/s\n0::/u:v\n", "/u:v"),
    "only systemd's": ("1:name=systemd:/s\n", "/s"),
    "neither": ("4:pids:/p\n", ""),
    "no lines": ("half a line\n:\n\n", ""),
}
"""/proc/PID/cgroup and the path in it that counts."""
