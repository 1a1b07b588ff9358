# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts of the machine: CPUs, kernel and its features, swap, systemd, and the cgroup mode after the next boot.

Features are detected by files, because distributions backport them. Sources: Linux
Documentation/admin-guide/cgroup-v2.rst; openEuler kernel/sched/core.c and mm/memcontrol.c (qos_level); Koordinator
pkg/koordlet/util/system/cgroup_resource.go (bvt_warp_ns). Next boot: systemd NEWS and src/shared/mount-setup.c,
man kernel-command-line.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...module_utils.quantity import parse_cpu_list
from ...module_utils.snapshot.boot_evidence import ENTRIES, GRUB, KERNEL_INSTALL
from .node_state import CgroupFacts, CgroupMode, CpuFacts, KernelFacts, Parameters, SystemdFacts


def _is_smt_on(evidence: Mapping[str, Any]) -> bool | None:
    """Whether SMT is on, from the kernel (4.19 and newer), else from a core with two threads."""
    if evidence.get("smt_active") in ("0", "1"):
        return bool(evidence["smt_active"] == "1")
    siblings = evidence.get("siblings")
    return any("," in core or "-" in core for core in siblings) if siblings else None


def parse_online_cpus(evidence: Mapping[str, Any]) -> frozenset[int]:
    """The online CPUs; empty if the kernel's list was not recorded or is not valid."""
    try:
        return parse_cpu_list(evidence["online"] or "")
    except ValueError:
        return frozenset()


def count_sockets(evidence: Mapping[str, Any]) -> int | None:
    """The number of sockets; None if the kernel does not report them, or a socket has no number (-1)."""
    numbers = [str(number) for number in evidence.get("sockets", ())]
    return len(numbers) if numbers and all(number.isdigit() for number in numbers) else None


def interpret_cpus(evidence: Mapping[str, Any]) -> CpuFacts:
    """CpuFacts of a snapshot's ``cpus`` section; NodeFacts has the online CPUs."""
    return CpuFacts(
        offline=evidence.get("offline"),
        present=evidence.get("present"),
        isolated=evidence.get("isolated"),
        smt=_is_smt_on(evidence),
        siblings=tuple(evidence.get("siblings", ())),
        numa=dict(evidence.get("numa", {})),
    )


CPU = ("cpu", ("cpu.shares", "cpu.weight"))
MEMORY = ("memory", ("memory.limit_in_bytes", "memory.max"))
IO = ("io", ("blkio.throttle.read_bps_device", "io.max"))
CPUSET = ("cpuset", ("cpuset.cpus",))
"""A controller, and the files that show that it is enabled in the probed cgroup. If not, its features are unknown."""

IN_CGROUPS = (
    ("cpu_idle", CPU, ("cpu.idle",)),
    ("cpu_burst", CPU, ("cpu.max.burst", "cpu.cfs_burst_us")),
    ("cpu_qos_level", CPU, ("cpu.qos_level",)),
    ("cpu_bvt", CPU, ("cpu.bvt_warp_ns",)),
    ("memory_min", MEMORY, ("memory.min",)),
    ("memory_low", MEMORY, ("memory.low",)),
    ("memory_high", MEMORY, ("memory.high",)),
    ("memory_oom_group", MEMORY, ("memory.oom.group",)),
    ("memory_qos_level", MEMORY, ("memory.qos_level",)),
    ("io_weight", IO, ("io.weight", "io.bfq.weight", "blkio.weight", "blkio.bfq.weight")),
    ("cpuset_partition", CPUSET, ("cpuset.cpus.partition",)),
)
AT_THE_TOP = (("io_cost", "io", ("io.cost.qos", "blkio.cost.qos")),)
V1_NAMES = {"io": "blkio"}


PARAMETERS = frozenset(
    {
        "systemd.unified_cgroup_hierarchy",
        "systemd.legacy_systemd_cgroup_controller",
        "SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE",
        "cgroup_no_v1",
        "cgroup_disable",
        "cgroup_enable",
        "cgroup.memory",
        "cgroup_favordynmods",
        "cgroup1_writeback",
        "swapaccount",
        "psi",
        "psi_v1",
        "rt_group_sched",
        "isolcpus",
        "nohz_full",
        "rcu_nocbs",
        "maxcpus",
        "nosmt",
        "rdt",
        "mpam",
        "numa",
    }
)
"""Only these parameters of the command line are reported: others may contain passwords."""
PRESSURE = "/proc/pressure/cpu"
RESCTRL = "/sys/fs/resctrl"


def parse_parameters(command_line: str | None) -> Parameters:
    """The values of each reported parameter, in order; a parameter without value has the empty text."""
    try:
        words = shlex.split(command_line or "")
    except ValueError:
        words = (command_line or "").split()
    parameters: dict[str, tuple[str, ...]] = {}
    for word in words:
        name, _equals, value = word.partition("=")
        if name in PARAMETERS:
            parameters[name] = (*parameters.get(name, ()), value)
    return parameters


def _find_mountpoint(cgroup: CgroupFacts, name: str) -> str | None:
    return cgroup.mountpoints.get(name) or cgroup.mountpoints.get(V1_NAMES.get(name, name))


def _by_cgroup_files(cgroup: CgroupFacts, evidence: Mapping[str, Any]) -> Iterator[tuple[str, bool | None, str]]:
    probes, tops = evidence.get("probes", {}), evidence.get("tops", {})
    default = 0 if cgroup.mode is CgroupMode.V2 else -1
    for feature, (controller, enabled), file_names in IN_CGROUPS:
        probe = probes.get(_find_mountpoint(cgroup, controller)) or {}
        files = set(probe.get("files", ()))
        name = next((candidate for candidate in file_names if candidate in files), file_names[default])
        if files & set(enabled):
            yield feature, name in files, f"{probe.get('cgroup')}/{name}"
        else:
            yield feature, None, f"{name}, no cgroup to read it in"
    for feature, controller, file_names in AT_THE_TOP:
        mountpoint = _find_mountpoint(cgroup, controller)
        files = set(tops.get(mountpoint, {}).get("files", ()))
        name = next((candidate for candidate in file_names if candidate in files), file_names[default])
        yield feature, name in files if files else None, f"{mountpoint or '?'}/{name}"


def _by_kernel_files(snapshot: Mapping[str, Any]) -> Iterator[tuple[str, bool | None, str]]:
    evidence = snapshot.get("kernel")
    if not isinstance(evidence, Mapping):
        return
    resctrl = evidence.get("resctrl", {})
    yield "psi", evidence["pressure"] is not None if snapshot["system"]["kernel_release"] else None, PRESSURE
    yield "resctrl", bool(resctrl.get("files")) or resctrl.get("known"), f"{RESCTRL}, /proc/filesystems"
    yield "resctrl_mounted", bool(resctrl.get("files")) if "files" in resctrl else None, RESCTRL


def parse_swaps(proc_swaps: str | None) -> tuple[str, ...] | None:
    """The swap files and devices, proc(5); None if they were not recorded."""
    if proc_swaps is None:
        return None
    return tuple(line.split()[0] for line in proc_swaps.splitlines()[1:] if line.split())


def interpret_kernel(snapshot: Mapping[str, Any], cgroup: CgroupFacts) -> KernelFacts:
    """KernelFacts of a whole snapshot: several sections have evidence of features."""
    probes = [*_by_cgroup_files(cgroup, snapshot["cgroups"]), *_by_kernel_files(snapshot)]
    sysctls = (snapshot.get("kernel") or {}).get("sysctls", {})
    return KernelFacts(
        parameters=parse_parameters(snapshot["system"].get("kernel_command_line")),
        features={name: value for name, value, _path in probes},
        probed={name: path for name, _value, path in probes},
        sysctls={path: text for path, text in sysctls.items() if text is not None},
        swaps=parse_swaps(snapshot["system"].get("swaps")),
    )


_STRONGEST_FIRST = (ENTRIES + "/", KERNEL_INSTALL, GRUB)
"""Entries are booted; kernel-install writes entries from its file; grub's defaults need grub-mkconfig."""


def interpret_boot(evidence: Mapping[str, Sequence[str]] | None) -> dict[str, Parameters] | None:
    """The parameters by file; None if the files were not recorded."""
    if evidence is None:
        return None
    return {path: parse_parameters(" ".join(words)) for path, words in evidence.items()}


def next_command_line(boot: Mapping[str, Parameters] | None) -> Parameters | None:
    """The command line with which an image boots; None if no file has one, or entries differ."""
    for beginning in _STRONGEST_FIRST:
        lines = [parameters for path, parameters in (boot or {}).items() if path.startswith(beginning)]
        if lines:
            return lines[0] if all(line == lines[0] for line in lines) else None
    return None


UNIFIED = "systemd.unified_cgroup_hierarchy"
LEGACY = "systemd.legacy_systemd_cgroup_controller"
LEGACY_FORCE = "SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE"
LAST_WITHOUT_FORCE = 255
FIRST_WITHOUT_V1 = 258


def major_version(version: str | None) -> int | None:
    """257 of ``257.13-1~deb13u1`` and of ``v257``."""
    match = re.match(r"v?(\d+)", version or "")
    return int(match[1]) if match else None


def parse_switch(values: tuple[str, ...] | None) -> bool | None:
    """A boolean parameter as systemd reads it: the last value counts, no value means yes; None if it is not set."""
    if not values:
        return None
    return values[-1].lower() in ("", "1", "y", "yes", "t", "true", "on")


def next_mode(version: int | None, parameters: Parameters) -> tuple[CgroupMode | None, str | None]:
    """The mode after a reboot with this command line; None if the distribution's build option decides it.

    Since 256 that option can only be v2 (systemd NEWS).
    """
    if version is None:
        return None, None
    if version >= FIRST_WITHOUT_V1:
        return CgroupMode.V2, f"systemd {version} has no cgroup v1 (removed in {FIRST_WITHOUT_V1})"
    wants_v2 = parse_switch(parameters.get(UNIFIED))
    if wants_v2 or (wants_v2 is None and "all" in parameters.get("cgroup_no_v1", ())):
        return CgroupMode.V2, "the kernel command line requests v2"
    if wants_v2 is None:
        return (
            (CgroupMode.V2, f"systemd {version} uses v2 by default") if version > LAST_WITHOUT_FORCE else (None, None)
        )
    if version > LAST_WITHOUT_FORCE and not parse_switch(parameters.get(LEGACY_FORCE)):
        effect = "does not boot" if version == 256 else "waits 30 s and starts with v2"
        return CgroupMode.V2, f"systemd {version} {effect} if v1 is requested without {LEGACY_FORCE}=1"
    legacy = parse_switch(parameters.get(LEGACY))
    return CgroupMode.V1 if legacy else CgroupMode.HYBRID, f"the kernel command line requests v1 ({UNIFIED}=0)"


def interpret_systemd(services: Mapping[str, Any], parameters: Parameters) -> SystemdFacts:
    """SystemdFacts of a snapshot's ``services`` section; ``parameters``: the command line of the next boot."""
    running, installed = services["version"], services.get("installed")
    mode, reason = next_mode(major_version(installed or running), parameters)
    return SystemdFacts(
        running=running,
        installed=installed,
        next_mode=mode,
        next_mode_reason=reason,
        units=services["units"],
    )
