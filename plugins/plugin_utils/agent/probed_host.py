# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The properties of a host that the agent's pools depend on, from node_facts and agent_host_info."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver
from ...module_utils.snapshot.process_evidence import command_line_option
from ..facts.node_state import CgroupMode
from ..facts.other_writers import QOS_AGENTS
from ..kube.identity import HostIdentity, describe_host, parse_identity
from ..profile.validators import ProfileError
from ..settings.node_support import parse_node

VOLCANO_AGENT = "volcano-agent"
HIDDEN_DRIVER_FINDING = "driver-hidden-from-agents"


@dataclass(frozen=True)
class AgentHost:
    """``mode`` and ``driver`` may be unknown. ``trees``: paths of kubelet's cgroups of pods on the node.

    ``features`` of the kernel are True, False or None for unknown; ``probed`` has the file that shows each of them.
    """

    name: str
    identity: HostIdentity
    mode: CgroupMode
    mode_reason: str
    driver: Driver | None
    cgroup_root: str
    mountpoints: Mapping[str, str]
    trees: tuple[str, ...]
    kubelet_root_dir: str
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
    """Why an agent without an explicit driver would not detect that of kubelet; empty if it would."""


def parse_host(
    name: str, facts: Mapping[str, Any] | None, probe: Mapping[str, Any] | None, cni_config: str
) -> AgentHost:
    """The host, from the results of node_facts and agent_host_info; ProfileError if one of them is missing."""
    if facts is None or probe is None:
        missing = "node_facts" if facts is None else "agent_host_info"
        raise ProfileError(name, f"{missing} has no result for this host in this run, so its pool is unknown")
    node = parse_node(facts)
    return AgentHost(
        name=name,
        identity=_identity(name, facts, probe),
        mode=node.mode,
        mode_reason=node.reason,
        driver=node.kubelet.driver,
        cgroup_root=node.kubelet.cgroup_root,
        mountpoints=facts["cgroup"]["mountpoints"],
        trees=node.trees,
        kubelet_root_dir=node.kubelet.root_dir or "/var/lib/kubelet",
        kubelet_memory_qos=node.kubelet.memory_qos,
        runtime=facts["runtime"]["name"],
        runtime_driver=facts["runtime"]["cgroup_driver"],
        features=node.features,
        probed=node.probed,
        agents=_other_agents(facts["writers"]["evidence"]),
        selinux=probe["selinux"],
        os_name=probe["os"]["name"],
        os_version=probe["os"]["version"],
        paths=probe["paths"],
        cni_config=cni_config,
        hidden_driver=_hidden_driver(facts["findings"]),
    )


def parse_host_identity(name: str, facts: Mapping[str, Any] | None, probe: Mapping[str, Any] | None) -> HostIdentity:
    """The host's identity, for operations without pools; ProfileError without a result of agent_host_info."""
    if probe is None:
        raise ProfileError(name, "agent_host_info has no result for this host in this run, so its Node is unknown")
    return _identity(name, facts or {}, probe)


def _identity(name: str, facts: Mapping[str, Any], probe: Mapping[str, Any]) -> HostIdentity:
    words = (facts.get("kubelet") or {}).get("command_line") or ()
    return parse_identity(name, describe_host(probe, command_line_option(words, "--hostname-override")))


def _hidden_driver(findings: Iterable[Mapping[str, Any]]) -> str:
    """The evidence of the finding of rules/cgroup_driver_mismatch.py driver_hidden_from_agents."""
    return next(
        ("; ".join(finding["evidence"]) for finding in findings if finding["code"] == HIDDEN_DRIVER_FINDING), ""
    )


def _other_agents(evidence: Mapping[str, str]) -> tuple[str, ...]:
    """Other QoS agents that run on the node, each with its evidence."""
    names = set(QOS_AGENTS.values()) - {VOLCANO_AGENT}
    return tuple(f"{name} ({what})" for name, what in evidence.items() if name in names)
