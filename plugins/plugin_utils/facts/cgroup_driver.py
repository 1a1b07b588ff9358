# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""All rules for the cgroup drivers of kubelet and the container runtime, and for the source that decides them.

kubelet: a flag, its files, its default, in the order of kubelet_layers.py. A kubelet that asks the CRI takes the
runtime's driver instead (KEP-4033). The running kubelet may use another driver, which its /configz reports.
A runtime has a configured and a running driver. containerd has both for each handler; they count if all handlers agree.
CRI-O and docker have one setting: a flag, else their files; the CRI's RuntimeConfig reports the running driver.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ...module_utils.cgroup.kubelet_names import Driver
from ..profile.kubelet_fields import CGROUP_DRIVER, FEATURE_GATES
from ..releases.kubelet_features import asks_cri
from ..releases.versions import minor
from .kubelet_command_line import flag_value
from .kubelet_layers import CONFIGZ_SOURCE, DEFAULT_SOURCE
from .kubelet_state import KubeletFacts
from .node_state import Claim, DriverFacts, LayoutFacts
from .runtime_state import RuntimeFacts

CONFIGZ_EFFECTIVE_SINCE = (1, 35)
EMBEDDED_DROP_INS_SINCE = (1, 32)
"""A kubelet in k3s that reads drop-ins is not older (k3s#2116); its version is unknown."""
CRI_SOURCE = "the CRI's RuntimeConfig"
K3S_SOURCE = "k3s, which gives kubelet containerd's driver"


def as_driver(word: Any) -> Driver | None:
    """The driver; None if unknown. kubelet reads any other word as cgroupfs (container_manager_linux.go)."""
    return Driver(word) if word in CGROUP_DRIVER.choices else None


@dataclass(frozen=True)
class RuntimeConfig:
    """The response to the CRI's RuntimeConfig. ``supported``: whether the runtime knows the call; None: not asked."""

    word: str | None = None
    supported: bool | None = None

    @property
    def driver(self) -> Driver | None:
        return as_driver(self.word)


def runtime_config(cri: Mapping[str, Any]) -> RuntimeConfig:
    """RuntimeConfig of the ``cri`` section of a snapshot."""
    response = cri.get("runtime_config")
    if not isinstance(response, Mapping):
        return RuntimeConfig()
    if response.get("error"):
        return RuntimeConfig(supported=False if response["error"] == "unimplemented" else None)
    return RuntimeConfig(response.get("cgroup_driver") or None, supported=True)


def decide_driver(
    kubelet: KubeletFacts, runtime: RuntimeFacts, claims: Sequence[Claim], cri_config: RuntimeConfig
) -> DriverFacts:
    """The drivers of a node whose kubelet is a separate process; ``claims``: the runtime's, the strongest first."""
    at_restart = _decide_at_restart(kubelet, cri_config)
    now = _running_decision(kubelet, at_restart)
    configured, live = _runtime_drivers(runtime, claims, cri_config)
    return DriverFacts(
        kubelet=as_driver(now.word),
        source=now.source,
        authority=now.authority,
        in_configz=at_restart.word if at_restart.authority == "cri" and _configz_is_effective(kubelet) else None,
        runtime=configured,
        live=live,
        cri=cri_config.driver,
        cri_supported=cri_config.supported,
    )


class Decision(NamedTuple):
    """``authority``: cri, config, flag, default; None if it is unknown which one decides."""

    word: str | None
    source: str | None
    authority: str | None


def _configured_decision(kubelet: KubeletFacts) -> Decision:
    """The driver from kubelet's own files and flags."""
    setting = kubelet.settings.get(CGROUP_DRIVER.key)
    if setting is None:
        return Decision(None, None, None)
    if flag_value(CGROUP_DRIVER, kubelet.start.running) is not None:
        authority = "flag"
    else:
        authority = "default" if setting.source == DEFAULT_SOURCE else "config"
    return Decision(str(setting.value), setting.source, authority)


def _decide_at_restart(kubelet: KubeletFacts, cri_config: RuntimeConfig) -> Decision:
    """The driver at kubelet's next start. Without a response of a CRI that kubelet asks, the authority is unknown."""
    return _decide_of_release(kubelet, minor(kubelet.version), cri_config)


def _decide_of_release(kubelet: KubeletFacts, version: tuple[int, int] | None, cri_config: RuntimeConfig) -> Decision:
    configured = _configured_decision(kubelet)
    gates = kubelet.settings.get(FEATURE_GATES.key)
    if not asks_cri(version, gates.value if gates else None):
        return configured
    if cri_config.word:
        return Decision(cri_config.word, CRI_SOURCE, "cri")
    return configured if cri_config.supported is False else configured._replace(authority=None)


def _configz_is_effective(kubelet: KubeletFacts) -> bool:
    """Since 1.35 initConfigz runs after the CRI call (cmd/kubelet/app/server.go); before, /configz shows the files."""
    version = minor(kubelet.version)
    return version is not None and version >= CONFIGZ_EFFECTIVE_SINCE


def _running_decision(kubelet: KubeletFacts, at_restart: Decision) -> Decision:
    """The driver that the running kubelet reports, if it is not the one of its next start."""
    word = (kubelet.configz or {}).get(CGROUP_DRIVER.key)
    if word in (None, "", at_restart.word):
        return at_restart
    if _configz_is_effective(kubelet) or at_restart.authority in ("config", "flag", "default"):
        return Decision(str(word), CONFIGZ_SOURCE, at_restart.authority)
    return at_restart


def _runtime_drivers(
    runtime: RuntimeFacts, claims: Sequence[Claim], cri_config: RuntimeConfig
) -> tuple[Driver | None, Driver | None]:
    """(configured, running)."""
    if runtime.name in (None, "containerd"):
        configured = _common_driver([handler.configured for handler in runtime.handlers]) if runtime.installed else None
        return configured, _common_driver([handler.running for handler in runtime.handlers])
    # CRI-O does not start with a file that it cannot read.
    unreadable = runtime.crio is not None and any(layer.problem for layer in runtime.layers)
    return as_driver(claims[0].value) if claims and not unreadable else None, cri_config.driver


def _common_driver(drivers: Sequence[Driver | None]) -> Driver | None:
    """The driver that all handlers have; None if they differ or one is unknown."""
    return drivers[0] if len(set(drivers)) == 1 else None


def k3s_claims(driver: DriverFacts) -> list[Claim]:
    """The driver that k3s passes to its kubelet if no argument names another one.

    pkg/agent/containerd/config_linux.go: k3s decides once, renders it for containerd and passes it to kubelet.
    """
    return [Claim(CGROUP_DRIVER.key, driver.runtime.value, K3S_SOURCE)] if driver.runtime else []


def driver_inside_k3s(
    driver: DriverFacts, kubelet: KubeletFacts, layout_claims: Sequence[Claim], cri_config: RuntimeConfig
) -> DriverFacts:
    """The drivers of a node with a kubelet in k3s; ``layout_claims``: what k3s gives its kubelet, the strongest first.

    The version of this kubelet is unknown. A newer one than the first that reads drop-ins asks the CRI in the same
    cases: to switch that off prevents the start of 1.34 and later. Before, kubelet reads none, 1.31 asks the CRI and
    older ones do not: their driver is only known if both ways lead to the same.
    """
    unknown = replace(driver, kubelet=None, source=None, authority=None, in_configz=None)
    if kubelet.start.config_dir is not None:
        word, source, authority = _decide_of_release(kubelet, EMBEDDED_DROP_INS_SINCE, cri_config)
        known = authority is not None
        return replace(unknown, kubelet=as_driver(word), source=source, authority=authority) if known else unknown
    word = layout_claims[0].value if layout_claims else None
    if word is None or cri_config.word not in (None, word):
        return unknown
    return replace(unknown, kubelet=as_driver(word), source=layout_claims[0].source)


def cri_claims(
    cri_config: RuntimeConfig, runtime: RuntimeFacts, driver: DriverFacts, layout: LayoutFacts
) -> Iterator[Claim]:
    """The CRI's driver for kubelet, unless it is in a k3s that does not ask; CRI-O's running driver from the same."""
    if cri_config.word and (driver.authority == "cri" or not layout.kubelet_inside):
        yield Claim(CGROUP_DRIVER.key, cri_config.word, CRI_SOURCE)
    if cri_config.driver and runtime.crio:
        yield Claim("cgroup_manager", cri_config.driver.value, f"{CRI_SOURCE}, in effect now")


def predict_runtime_config(cri: Mapping[str, Any], driver: Driver | None) -> Mapping[str, Any]:
    """The ``cri`` section of a runtime with this driver; unchanged if its response has no driver now."""
    if driver is None or runtime_config(cri).word is None:
        return cri
    return {**cri, "runtime_config": {**cri["runtime_config"], "cgroup_driver": driver.value}}
