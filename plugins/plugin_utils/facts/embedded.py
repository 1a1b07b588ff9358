# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A kubelet inside k3s: what it reads since 1.32, a folder of drop-ins, and the arguments k3s gives it (k3s#2116)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver
from ..edit.errors import ParseError
from ..edit.read import read_yaml
from ..kubelet_fields import CGROUP_DRIVER, CPU_MANAGER_POLICY, READ_ONLY_PORT
from .kubelet_dropins import read_dropins, unseen
from .kubelet_flags import flags
from .kubelet_healthz import healthz_url
from .kubelet_layers import claims_of, settings_in_force, shown
from .kubelet_model import Flag, Start
from .model import Claim, KubeletFacts

OWN_FLAGS = ((f"{READ_ONLY_PORT.flag}=0", "k3s itself"),)
"""k3s pkg/daemons/agent/agent_linux.go: what its kubelet gets as a flag although it is a field (k3s#12164)."""


def kubelet_arguments(evidence: Mapping[str, Any]) -> tuple[Flag, ...]:
    """Flags in ``kubelet-arg`` of the configuration files; a key with ``+`` adds to the earlier files' ones."""
    line: list[tuple[str, str]] = []
    for path, captured in evidence["settings"].items():
        for key, words in _arguments(captured):
            added = [(f"--{word.lstrip('-')}", f"{path}, kubelet-arg") for word in words]
            line = [*line, *added] if key.endswith("+") else added
    return flags(line)


def _arguments(captured: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    try:
        values = read_yaml(captured.get("text", ""))
    except ParseError:
        return
    for key in ("kubelet-arg", "kubelet-arg+"):
        if key in values:
            words = values[key] or []
            yield key, [str(each) for each in (words if isinstance(words, list) else [words])]


def as_embedded(
    kubelet: KubeletFacts, said: Sequence[Claim], snapshot: Mapping[str, Any]
) -> tuple[KubeletFacts, list[Claim]]:
    """Facts of a kubelet that is no process of its own, and the claims on it: of its drop-ins if it reads any."""
    folder = snapshot["kubelet"].get("embedded_dir") or {}
    if not folder.get("folder"):
        return _unknown(kubelet, said), []
    supervisors = snapshot["distribution"]["supervisors"]
    process = supervisors[0] if supervisors else None
    dropins = read_dropins(folder, snapshot["kubelet"]["files"], process)
    running = (*flags(OWN_FLAGS), *kubelet_arguments(snapshot["distribution"]))
    where, exists = folder["folder"], folder["exists"]
    start = Start(running=running, config_dir=where, config_dir_exists=exists, unseen=unseen(folder))
    nothing = replace(kubelet.config, kind="missing", values={}, problem=None)
    settings = settings_in_force(nothing, dropins, running, None)
    asked = healthz_url(nothing, dropins, running, None)
    driver, policy = settings[CGROUP_DRIVER.key], settings[CPU_MANAGER_POLICY.key]
    facts = replace(
        kubelet,
        installed=True,
        running=process is not None,
        healthy=snapshot["kubelet"]["healthz"] == "ok" if process and asked else None,
        healthz_url=asked,
        config=nothing,
        cgroup_driver=Driver(driver.value) if driver.value in ("systemd", "cgroupfs") else None,
        cgroup_driver_source=driver.source,
        cpu_manager_policy=shown(policy.value),
        cpu_manager_policy_source=policy.source,
        settings=settings,
        dropins=dropins,
        start=start,
    )
    fields = (CGROUP_DRIVER, CPU_MANAGER_POLICY)
    return facts, [claim for field in fields for claim in claims_of(field, nothing, dropins, running)]


def _unknown(kubelet: KubeletFacts, said: Sequence[Claim]) -> KubeletFacts:
    """Neither its file nor its defaults are known to be in force."""
    driver = said[0] if said else None
    return replace(
        kubelet,
        cgroup_driver=Driver(driver.value) if driver and driver.value in ("systemd", "cgroupfs") else None,
        cgroup_driver_source=driver.source if driver else None,
        cgroup_driver_authority=None,
        cpu_manager_policy=None,
        cpu_manager_policy_source=None,
    )
