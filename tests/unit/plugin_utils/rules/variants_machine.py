# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Variants of the aligned node that fire the rules about cgroups, CPUs, the kernel, systemd and other writers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.rule_types import Verdict
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    KUBELET_FILE,
    Snapshot,
    kubelet_adds,
    put,
)

ROOT = "/sys/fs/cgroup"
BEST_EFFORT = f"{ROOT}/kubepods.slice/kubepods-besteffort.slice"
V2_LINE = f"31 23 0:26 / {ROOT} rw,nosuid - cgroup2 cgroup2 rw,nsdelegate"
V1_LINES = [
    f"24 22 0:21 / {ROOT} ro,nosuid - tmpfs tmpfs ro,mode=755",
    f"31 24 0:28 / {ROOT}/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct",
    f"32 24 0:29 / {ROOT}/memory rw - cgroup cgroup rw,memory",
    f"33 24 0:30 / {ROOT}/cpuset rw - cgroup cgroup rw,cpuset",
    f"34 24 0:31 / {ROOT}/pids rw - cgroup cgroup rw,pids",
    f"35 24 0:32 / {ROOT}/blkio rw - cgroup cgroup rw,blkio",
]
UNIFIED_LINE = f"25 24 0:22 / {ROOT}/unified rw - cgroup2 cgroup2 rw,nsdelegate"
THREAD = {
    "pid": 402,
    "tid": 409,
    "comm": "multipathd",
    "policy": "RR",
    "priority": 99,
    "cgroup": "/system.slice/multipathd.service",
}
SWAPS = (
    "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n/dev/dm-1                               partition\t976892\t0\t-2"
)
SINGLE = "singleProcessOOMKill: false\n"
RESERVED = "enforceNodeAllocatable: [pods, system-reserved]\nsystemReservedCgroup: /system\n"


def v1(snapshot: Snapshot, *more: str) -> Snapshot:
    """A copy whose cgroups are mounted as v1."""
    variant = put(snapshot, [*V1_LINES, *more], "cgroups", "mountinfo")
    return put(variant, {ROOT: "1021994"}, "cgroups", "filesystem_types")


def hybrid(snapshot: Snapshot, controllers: str = "") -> Snapshot:
    """A copy with systemd's hybrid mounts, and these controllers on the cgroup2 side."""
    return put(v1(snapshot, UNIFIED_LINE), controllers, "cgroups", "files", f"{ROOT}/unified/cgroup.controllers")


def without_v1(snapshot: Snapshot, controller: str) -> Snapshot:
    """A copy in which a controller is not mounted as v1."""
    lines = [line for line in snapshot["cgroups"]["mountinfo"] if not line.endswith(f"rw,{controller}")]
    return put(snapshot, lines, "cgroups", "mountinfo")


def command_line(snapshot: Snapshot, text: str) -> Snapshot:
    return put(snapshot, text, "system", "kernel_command_line")


def systemd(snapshot: Snapshot, running: str, installed: str | None = None) -> Snapshot:
    return put(put(snapshot, running, "services", "version"), installed, "services", "installed")


def v1_252(snapshot: Snapshot) -> Snapshot:
    """A copy with v1, which the next boot uses again."""
    return command_line(systemd(v1(snapshot), "252.39-1~deb12u1"), "systemd.unified_cgroup_hierarchy=0")


def cpu_files(snapshot: Snapshot, *names: str) -> Snapshot:
    """A copy of a v1 node with these files in a cgroup of the cpu hierarchy."""
    point = f"{ROOT}/cpu,cpuacct"
    return put(snapshot, {point: {"cgroup": f"{point}/kubepods", "files": list(names)}}, "cgroups", "probes")


def unit(snapshot: Snapshot, name: str, **properties: str) -> Snapshot:
    """A copy with properties of a unit that systemd has loaded."""
    units = snapshot["services"]["units"]
    known = {"Id": name, "LoadState": "loaded", **units.get(name, {}), **properties}
    return put(snapshot, {**units, name: known}, "services", "units")


def commands(snapshot: Snapshot, **counts: int) -> Snapshot:
    by_name = {name.replace("_", "-"): count for name, count in counts.items()}
    return put(snapshot, {"commands": by_name, "folders": {}}, "writers")


def plugin_directory(snapshot: Snapshot, path: str, *names: str) -> Snapshot:
    return put(snapshot, {"commands": {}, "folders": {path: list(names)}}, "writers")


def enabled(snapshot: Snapshot, controllers: str, cgroup: str = ROOT) -> Snapshot:
    return put(snapshot, controllers, "cgroups", "files", f"{cgroup}/cgroup.subtree_control")


def realtime(snapshot: Snapshot, group_scheduling: str | None = "y") -> Snapshot:
    """A copy on which a real-time thread prevents that the cpu controller is enabled."""
    threads: dict[str, Any] = {"threads": [THREAD], "seen": 310, "group_scheduling": group_scheduling}
    return put(enabled(snapshot, "cpuset io memory pids"), threads, "cgroups", "realtime")


def numa(snapshot: Snapshot, count: int) -> Snapshot:
    return put(snapshot, {str(node): str(node) for node in range(count)}, "cpus", "numa")


def reserved(snapshot: Snapshot, *places: str) -> Snapshot:
    """A copy whose kubelet enforces a reservation on a slice that exists in these hierarchies."""
    return put(kubelet_adds(snapshot, RESERVED), {"system": [], "system.slice": list(places)}, "cgroups", "reserved")


def oomd(snapshot: Snapshot, slice_name: str = "kubepods.slice", **properties: str) -> Snapshot:
    """A copy where systemd-oomd runs, and a slice has these properties; ManagedOOMMemoryPressure=kill without any."""
    variant = unit(snapshot, "systemd-oomd.service", ActiveState="active")
    return unit(variant, slice_name, **(properties or {"ManagedOOMMemoryPressure": "kill"}))


def tuned(snapshot: Snapshot, affinity: str = "", process: str = "tuned", **isolated: str) -> Snapshot:
    """A copy where TuneD runs with the profile cpu-partitioning; ``isolated``: isolated_cores of profiles."""
    files = {f"/etc/tuned/{name.replace('_', '-')}-variables.conf": value for name, value in isolated.items()}
    evidence = {"profiles": ["cpu-partitioning"], "cpu_affinity": affinity, "isolated_cores": files}
    writers = {"commands": {process: 1} if process else {}, "folders": {}, "tuned": evidence}
    return put(snapshot, writers, "writers")


def by_socket(node: Snapshot, sockets: int, numa_nodes: int) -> Snapshot:
    """A copy with this many NUMA nodes and sockets, whose CPU manager aligns by socket."""
    # A version that has the option.
    node = put(node, "Kubernetes v1.30.14", "kubelet", "version")
    machine = put(numa(node, numa_nodes), [str(number) for number in range(sockets)], "cpus", "sockets")
    return kubelet_adds(
        machine,
        'featureGates: {CPUManagerPolicyAlphaOptions: true}\ncpuManagerPolicyOptions: {align-by-socket: "true"}\n',
    )


def mounted(snapshot: Snapshot, **changes: Any) -> Snapshot:
    """A copy with evidence of its file systems: all are one writable ext4 except these, by what they contain."""
    places = {
        "usr": ("/", "/usr", "/usr/local/lib/volcano-colocation"),
        "etc": ("/etc", "/etc/systemd/system"),
        "var": ("/var", "/var/lib/volcano-colocation"),
    }
    plain = {"mount": "/", "type": "ext4", "read_only": False, "volatile": False}
    file_systems = {
        path: {"leads_to": path, **plain, **changes.get(name, {})} for name, paths in places.items() for path in paths
    }
    return put(snapshot, file_systems, "system", "filesystems")


READ_ONLY = {"type": "squashfs", "read_only": True}
IN_MEMORY = {"mount": "/etc", "type": "tmpfs", "volatile": True}
LINKED = {"leads_to": "/var/usrlocal/lib/volcano-colocation", "mount": "/var", "read_only": False}


def only_usr(snapshot: Snapshot) -> Snapshot:
    """A copy whose /usr is read-only except /usr/local, a link to /var."""
    variant = mounted(snapshot, usr=READ_ONLY)
    place = variant["system"]["filesystems"]["/usr/local/lib/volcano-colocation"]
    return put(variant, {**place, **LINKED}, "system", "filesystems", "/usr/local/lib/volcano-colocation")


VARIANTS: dict[str, tuple[Verdict, Callable[[Snapshot], Snapshot]]] = {
    "immutable-system": (Verdict.UNSUPPORTED, lambda node: mounted(node, usr=READ_ONLY)),
    "writes-are-lost": (Verdict.UNSUPPORTED, lambda node: mounted(node, etc=IN_MEMORY)),
    "usr-read-only": (Verdict.ALIGNED, only_usr),
    "cgroup-controllers-split": (Verdict.MISALIGNED, lambda node: without_v1(hybrid(node, "misc memory"), "memory")),
    "cgroup-controllers-missing": (
        Verdict.MISALIGNED,
        lambda node: put(node, "cpuset cpu io pids", "cgroups", "files", f"{ROOT}/cgroup.controllers"),
    ),
    "realtime-blocks-cpu": (Verdict.MISALIGNED, realtime),
    "cgroup-controllers-not-enabled": (Verdict.MISALIGNED, lambda node: enabled(node, "cpu memory pids")),
    "idle-qos-class": (Verdict.LATENT, lambda node: put(node, "1", "cgroups", "files", f"{BEST_EFFORT}/cpu.idle")),
    "cgroups-read-only": (
        Verdict.UNSUPPORTED,
        lambda node: put(node, [V2_LINE.replace("rw,nosuid", "ro,nosuid")], "cgroups", "mountinfo"),
    ),
    "cgroup-root-nested": (
        Verdict.ALIGNED,
        lambda node: put(node, {ROOT: {"files": ["cgroup.type"], "folders": []}}, "cgroups", "tops"),
    ),
    "reboot-changes-cgroup-mode": (
        Verdict.LATENT,
        lambda node: command_line(systemd(v1(node), "255", "258"), "quiet systemd.unified_cgroup_hierarchy=0"),
    ),
    "cgroup-v1-request-ignored": (
        Verdict.ALIGNED,
        lambda node: command_line(node, "systemd.unified_cgroup_hierarchy=0"),
    ),
    "too-many-numa-nodes": (
        Verdict.LATENT,
        lambda node: kubelet_adds(numa(node, 9), "topologyManagerPolicy: restricted\n"),
    ),
    "sockets-without-numa-nodes": (Verdict.LATENT, lambda node: by_socket(node, 2, 1)),
    "swap-on": (Verdict.LATENT, lambda node: put(without_fail_swap_on(node), SWAPS, "system", "swaps")),
    "runtime-restart-kills-pods": (
        Verdict.LATENT,
        lambda node: unit(node, "containerd.service", KillMode="control-group"),
    ),
    "reserved-cgroup-missing": (Verdict.LATENT, reserved),
    "version-too-old": (Verdict.UNSUPPORTED, lambda node: systemd(node, "219")),
    "below-v2-minimum": (Verdict.ALIGNED, lambda node: put(node, "5.4.0-216-generic", "system", "kernel_release")),
    "single-process-oom-kill-on-v1": (Verdict.LATENT, lambda node: kubelet_adds(v1_252(node), SINGLE)),
    "rubik-kernel-features-missing": (
        Verdict.ALIGNED,
        lambda node: cpu_files(commands(v1_252(node), rubik=1), "cpu.shares"),
    ),
    "two-qos-agents": (Verdict.MISALIGNED, lambda node: commands(node, koordlet=1, vc_agent=1)),
    "rubik-needs-v1": (Verdict.MISALIGNED, lambda node: commands(node, rubik=1)),
    "oomd-kills-pods": (Verdict.ALIGNED, oomd),
    "oomd-kills-services": (Verdict.ALIGNED, lambda node: oomd(node, "system.slice")),
    "tuned-runs": (Verdict.ALIGNED, tuned),
    "tuned-places-processes": (Verdict.ALIGNED, lambda node: tuned(node, cpu_partitioning="1")),
    "kubepods-overridden": (
        Verdict.ALIGNED,
        lambda node: plugin_directory(node, "/etc/systemd/system.control", "kubepods.slice.d", "ssh.service.d"),
    ),
    "nri-backup-is-run": (
        Verdict.LATENT,
        lambda node: plugin_directory(node, "/opt/nri/plugins", "10-balloons", "10-balloons~"),
    ),
}


def without_fail_swap_on(snapshot: Snapshot) -> Snapshot:
    """A copy in which kubelet's file does not set failSwapOn."""
    text = snapshot["kubelet"]["files"][KUBELET_FILE]["text"]
    lines = [line for line in text.splitlines() if not line.startswith("failSwapOn")]
    return put(snapshot, "\n".join(lines) + "\n", "kubelet", "files", KUBELET_FILE, "text")
