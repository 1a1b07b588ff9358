# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts of kubelet: which value is in force, and which source says so. Flags beat the file, the file the default."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils.snapshot.processes import option
from ..edit.read import read_yaml
from ..kubelet_fields import CGROUP_DRIVER, CPU_MANAGER_POLICY, KubeletField
from ..quantity import parse_cpu_list
from .config import read_config
from .model import Checkpoint, Claim, ConfigFile, Driver, KubeletFacts


def claims_of(setting: KubeletField, argv: Sequence[str], config: ConfigFile) -> list[Claim]:
    """What each source says of a field, the strongest first; the default only where nothing else speaks."""
    claims = []
    flag = option(argv, setting.flag)
    if flag is not None:
        claims.append(Claim(setting.key, flag, f"kubelet's command line, {setting.flag}"))
    if setting.key in config.values:
        claims.append(Claim(setting.key, str(config.values[setting.key]), config.path))
    if not claims and setting.default is not None and config.problem is None:
        claims.append(Claim(setting.key, setting.default, "kubelet's default"))
    return claims


def as_driver(value: str | None) -> Driver | None:
    """kubelet takes anything but exactly ``systemd`` for cgroupfs (container_manager_linux.go); we call it unknown."""
    return Driver(value) if value in ("systemd", "cgroupfs") else None


def _version(text: str | None) -> str | None:
    found = re.search(r"v?(\d+\.\d+\.\d+\S*)", text or "")
    return found[1] if found else None


def interpret_checkpoint(path: str, captured: Mapping[str, Any]) -> Checkpoint:
    """cpu_manager_state, JSON of pkg/kubelet/cm/cpumanager/state: unreadable content has no policy."""
    if "text" not in captured:
        return Checkpoint(path, captured["kind"] != "missing")
    try:
        state = json.loads(captured["text"])
        lists = [state.get("defaultCpuSet", "")]
        lists += [cpus for containers in state.get("entries", {}).values() for cpus in containers.values()]
        cpus = frozenset().union(*map(parse_cpu_list, lists))
        return Checkpoint(path, True, str(state["policyName"]), cpus)
    except (ValueError, KeyError, AttributeError, RecursionError):
        return Checkpoint(path, True)


def interpret_kubelet(
    evidence: Mapping[str, Any], units: Mapping[str, Mapping[str, str]]
) -> tuple[KubeletFacts, list[Claim]]:
    """KubeletFacts of a snapshot's ``kubelet`` section, and every claim on its driver and CPU manager policy."""
    process = evidence["processes"][0] if evidence["processes"] else None
    argv = process["argv"] if process else []
    files = evidence["files"]
    config = read_config(evidence["config_path"], files[evidence["config_path"]], process, read_yaml)
    drivers = claims_of(CGROUP_DRIVER, argv, config)
    policies = claims_of(CPU_MANAGER_POLICY, argv, config)
    unit = units.get("kubelet.service", {})
    facts = KubeletFacts(
        installed=evidence["program"] is not None,
        running=process is not None,
        unit_state=unit.get("ActiveState"),
        version=_version(evidence["version"]),
        command_line=tuple(argv),
        config=config,
        cgroup_driver=as_driver(drivers[0].value) if drivers else None,
        cgroup_driver_source=drivers[0].source if drivers else None,
        cpu_manager_policy=policies[0].value if policies else None,
        cpu_manager_policy_source=policies[0].source if policies else None,
        checkpoint=interpret_checkpoint(evidence["checkpoint_path"], files[evidence["checkpoint_path"]]),
        healthy=None if process is None else evidence["healthz"] == "ok",
    )
    return facts, drivers + policies
