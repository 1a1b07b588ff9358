# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A host as the agent's pools see it: what facts and the probe say of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver
from ...module_utils.snapshot.process_evidence import command_line_option
from ..facts.node_state import CgroupMode
from ..facts.other_writers import QOS_AGENTS
from ..kube.identity import HostIdentity, describe_host, read_identity
from ..profile.validators import ProfileError
from ..qos.node import read

OURS = "volcano-agent"
HIDDEN = "driver-hidden-from-agents"


@dataclass(frozen=True)
class AgentHost:
    """``mode`` and ``driver`` may be unknown. ``trees``: where kubelet's cgroups of pods lie, as paths on the node.

    ``features`` of the kernel are True, False or None for what cannot be told; ``probed`` names the file that tells.
    """

    name: str
    identity: HostIdentity
    mode: CgroupMode
    mode_reason: str
    driver: Driver | None
    cgroup_root: str
    mountpoints: Mapping[str, str]
    trees: tuple[str, ...]
    kubelet_folder: str
    kubelet_memory_qos: bool | None
    runtime: str | None
    runtime_driver: str | None
    features: Mapping[str, bool | None] = field(default_factory=dict)
    probed: Mapping[str, str] = field(default_factory=dict)
    agents: tuple[str, ...] = ()
    selinux: str = "off"
    os_name: str = ""
    os_version: str = ""
    paths: Mapping[str, str] = field(default_factory=dict)
    cni_config: str = ""
    hidden_driver: str = ""
    """Why an agent that is not told would miss kubelet's driver."""


def read_host(
    name: str, facts: Mapping[str, Any] | None, probe: Mapping[str, Any] | None, cni_config: str
) -> AgentHost:
    """The host of what node_facts and agent_host_info told of it; ProfileError where one of them did not run."""
    if facts is None or probe is None:
        missing = "node_facts" if facts is None else "agent_host_info"
        raise ProfileError(name, f"{missing} has no result for this host in this run, so its pool is unknown")
    node = read(facts)
    return AgentHost(
        name=name,
        identity=_identity(name, facts, probe),
        mode=node.mode,
        mode_reason=node.reason,
        driver=node.kubelet.driver,
        cgroup_root=node.kubelet.cgroup_root,
        mountpoints=facts["cgroup"]["mountpoints"],
        trees=node.trees,
        kubelet_folder=node.kubelet.root_dir or "/var/lib/kubelet",
        kubelet_memory_qos=node.kubelet.memory_qos,
        runtime=facts["runtime"]["name"],
        runtime_driver=facts["runtime"]["cgroup_driver"],
        features=node.features,
        probed=node.probed,
        agents=_others(facts["writers"]["evidence"]),
        selinux=probe["selinux"],
        os_name=probe["os"]["name"],
        os_version=probe["os"]["version"],
        paths=probe["paths"],
        cni_config=cni_config,
        hidden_driver=_hidden(facts["findings"]),
    )


def known_host(name: str, facts: Mapping[str, Any] | None, probe: Mapping[str, Any] | None) -> HostIdentity:
    """Only who it is, for what needs no pool; ProfileError where it was not looked at."""
    if probe is None:
        raise ProfileError(name, "agent_host_info has no result for this host in this run, so its Node is unknown")
    return _identity(name, facts or {}, probe)


def _identity(name: str, facts: Mapping[str, Any], probe: Mapping[str, Any]) -> HostIdentity:
    words = (facts.get("kubelet") or {}).get("command_line") or ()
    return read_identity(name, describe_host(probe, command_line_option(words, "--hostname-override")))


def _hidden(found: Iterable[Mapping[str, Any]]) -> str:
    """The evidence of findings/rules/kubelet.py driver_hidden_from_agents."""
    return next(("; ".join(each["evidence"]) for each in found if each["code"] == HIDDEN), "")


def _others(seen: Mapping[str, str]) -> tuple[str, ...]:
    """Other agents for QoS that run on the node, each with what was seen of it."""
    names = set(QOS_AGENTS.values()) - {OURS}
    return tuple(f"{name} ({what})" for name, what in seen.items() if name in names)
