# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who decides kubelet's cgroup driver: its own configuration, or the CRI that it asks. KEP-4033."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..kubelet_fields import CGROUP_DRIVER, FEATURE_GATES
from .kubelet_flags import flag_value
from .kubelet_layers import DEFAULT_SOURCE
from .kubelet_model import Flag, Setting

GATE = "KubeletCgroupDriverFromCRI"
ALPHA, BETA, LOCKED = (1, 28), (1, 31), (1, 34)
"""pkg/features/kube_features.go: off by default, on by default, on for good."""
EFFECTIVE_CONFIGZ = (1, 35)
"""initConfigz runs after the CRI was asked (cmd/kubelet/app/server.go); earlier, /configz has the configured one."""
CRI_SOURCE = "the CRI's RuntimeConfig"
CONFIGZ_SOURCE = "kubelet's /configz"

InForce = tuple[str | None, str | None, str | None]
"""Word, source, authority (``cri``, ``config``, ``flag``, ``default``)."""


def asks_cri(version: tuple[int, int] | None, gates: Any) -> bool:
    """Whether this kubelet asks the CRI for the driver when it starts."""
    if version is None or version < ALPHA:
        return False
    if version >= LOCKED:
        return True
    chosen = gates.get(GATE) if isinstance(gates, Mapping) else None
    return version >= BETA if chosen is None else str(chosen).lower() == "true"


def configured(settings: Mapping[str, Setting], running: tuple[Flag, ...]) -> InForce:
    """The driver by kubelet's own configuration."""
    setting = settings.get(CGROUP_DRIVER.key)
    if setting is None:
        return None, None, None
    if flag_value(CGROUP_DRIVER, running) is not None:
        authority = "flag"
    else:
        authority = "default" if setting.source == DEFAULT_SOURCE else "config"
    return str(setting.value), setting.source, authority


def running_driver(at_restart: InForce, version: tuple[int, int] | None, configz: Mapping[str, Any] | None) -> InForce:
    """What kubelet runs with by its own word, where that is not what it would start with now."""
    told = (configz or {}).get(CGROUP_DRIVER.key)
    if told in (None, "", at_restart[0]):
        return at_restart
    effective = version is not None and version >= EFFECTIVE_CONFIGZ
    if effective or at_restart[2] in ("config", "flag", "default"):
        return str(told), CONFIGZ_SOURCE, at_restart[2]
    return at_restart


def driver_at_restart(
    settings: Mapping[str, Setting],
    running: tuple[Flag, ...],
    version: tuple[int, int] | None,
    runtime_config: Mapping[str, Any] | None,
) -> InForce:
    """The driver kubelet would start with. Where it asks the CRI and we have no answer, who decides is left open."""
    own = configured(settings, running)
    gates = settings[FEATURE_GATES.key].value if FEATURE_GATES.key in settings else None
    if not asks_cri(version, gates):
        return own
    answer = runtime_config or {}
    if answer.get("cgroup_driver"):
        return answer["cgroup_driver"], CRI_SOURCE, "cri"
    if answer.get("error") == "unimplemented":
        return own
    return own[0], own[1], None
