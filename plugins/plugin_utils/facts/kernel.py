# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts of the kernel: its command line where it concerns cgroups, its features by their files, swap."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from .feature_probes import AT_THE_TOP, IN_CGROUPS, V1_NAMES
from .model import CgroupFacts, CgroupMode, KernelFacts, Parameters

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
"""Of the command line only these are told: others may carry passwords."""
PRESSURE = "/proc/pressure/cpu"
RESCTRL = "/sys/fs/resctrl"


def parameters(command_line: str | None) -> Parameters:
    """The values of each parameter that concerns us, in order; a bare word has the empty text as its value."""
    try:
        words = shlex.split(command_line or "")
    except ValueError:
        words = (command_line or "").split()
    found: dict[str, tuple[str, ...]] = {}
    for word in words:
        name, _equals, value = word.partition("=")
        if name in PARAMETERS:
            found[name] = (*found.get(name, ()), value)
    return found


def _place(cgroup: CgroupFacts, name: str) -> str | None:
    return cgroup.mountpoints.get(name) or cgroup.mountpoints.get(V1_NAMES.get(name, name))


def _by_cgroup_files(cgroup: CgroupFacts, evidence: Mapping[str, Any]) -> Iterator[tuple[str, bool | None, str]]:
    probes, tops = evidence.get("probes", {}), evidence.get("tops", {})
    usual = 0 if cgroup.mode is CgroupMode.V2 else -1
    for feature, (controller, enabled), shown in IN_CGROUPS:
        probe = probes.get(_place(cgroup, controller)) or {}
        files = set(probe.get("files", ()))
        name = next((each for each in shown if each in files), shown[usual])
        if files & set(enabled):
            yield feature, name in files, f"{probe.get('cgroup')}/{name}"
        else:
            yield feature, None, f"{name}, and no cgroup to see it in"
    for feature, controller, shown in AT_THE_TOP:
        place = _place(cgroup, controller)
        files = set(tops.get(place, {}).get("files", ()))
        name = next((each for each in shown if each in files), shown[usual])
        yield feature, name in files if files else None, f"{place or '?'}/{name}"


def _by_kernel_files(snapshot: Mapping[str, Any]) -> Iterator[tuple[str, bool | None, str]]:
    evidence = snapshot.get("kernel")
    if not isinstance(evidence, Mapping):
        return
    resctrl = evidence.get("resctrl", {})
    yield "psi", evidence["pressure"] is not None if snapshot["system"]["kernel_release"] else None, PRESSURE
    yield "resctrl", bool(resctrl.get("files")) or resctrl.get("known"), f"{RESCTRL}, /proc/filesystems"
    yield "resctrl_mounted", bool(resctrl.get("files")) if "files" in resctrl else None, RESCTRL


def swaps(proc_swaps: str | None) -> tuple[str, ...] | None:
    """The files and devices swapped to, proc(5); None when that was not recorded."""
    if proc_swaps is None:
        return None
    return tuple(line.split()[0] for line in proc_swaps.splitlines()[1:] if line.split())


def interpret_kernel(snapshot: Mapping[str, Any], cgroup: CgroupFacts) -> KernelFacts:
    """KernelFacts of a whole snapshot: evidence of features is spread over its sections."""
    probes = [*_by_cgroup_files(cgroup, snapshot["cgroups"]), *_by_kernel_files(snapshot)]
    sysctls = (snapshot.get("kernel") or {}).get("sysctls", {})
    return KernelFacts(
        parameters=parameters(snapshot["system"].get("kernel_command_line")),
        features={name: value for name, value, _path in probes},
        probed={name: path for name, _value, path in probes},
        sysctls={path: text for path, text in sysctls.items() if text is not None},
        swaps=swaps(snapshot["system"].get("swaps")),
    )
