# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts, clusters and options as input for the agent's plans; facts are those of recorded nodes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.installed_agent import AgentState, LiveNode
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.module_options import (
    AGENT_DEPLOY,
    DeployOptions,
    parse_deploy_options,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.owned_objects import LAST_APPLIED
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.pools import Pool, make_pools
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.probed_host import AgentHost, parse_host
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.identity import ClusterNode
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.last_applied import with_last_applied

FIXTURES = Path(__file__).parents[2] / "unit" / "fixtures"
V2, V1, OPEN_EULER = (
    "facts/trixie-v2-static.json",
    "facts/bookworm-v1-aligned.json",
    "hosts/v1-openeuler-rubik.facts.json",
)
V2_CGROUPFS = "facts/trixie-v2-cgroupfs-aligned.json"
CNI = "/etc/cni/net.d/cni.conflist"


def facts(name: str) -> dict[str, Any]:
    """The facts document of a recorded node."""
    document: dict[str, Any] = json.loads((FIXTURES / name).read_text(encoding="utf-8"))
    return document


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def probe(name: str, **different: Any) -> dict[str, Any]:
    """Return the result of agent_host_info on a Debian node without SELinux."""
    return {
        "hostname": name,
        "machine_id_sha256": sha256(f"machine-{name}"),
        "boot_id": f"boot-{name}",
        "selinux": "off",
        "os": {"name": "Debian GNU/Linux", "version": "13 (trixie)"},
        "sysctls": [],
        "paths": {CNI: "missing"},
        **different,
    }


def host(name: str, recorded: str = V2, **different: Any) -> AgentHost:
    """Return a recorded node as a host under another name."""
    return replace(parse_host(name, facts(recorded), probe(name), CNI), **different)


def arguments(**explicit: Any) -> dict[str, Any]:
    """Return the module's arguments for these options."""
    checked = ArgumentSpecValidator(AGENT_DEPLOY).validate({"nodes": ["n1"], **explicit})
    assert not checked.error_messages, checked.error_messages
    validated: dict[str, Any] = checked.validated_parameters
    return validated


GROUPS = {"all": ["n1", "n2", "n3"], "batch": ["n2", "n3"]}


def options(groups: Mapping[str, Sequence[str]] | None = None, **explicit: Any) -> DeployOptions:
    return parse_deploy_options(arguments(**explicit), groups or GROUPS)


def pools(hosts: Sequence[AgentHost], chosen: DeployOptions) -> tuple[Pool, ...]:
    return make_pools(hosts, chosen.pools, chosen.features, chosen.release)


def node(name: str, labels: Mapping[str, str] | None = None, **different: Any) -> LiveNode:
    known = LiveNode(ClusterNode(name, f"machine-{name}", f"boot-{name}", (1, 30)), labels or {}, {}, (), {}, "7")
    return replace(known, **different)


def agent_state(*nodes: LiveNode, **different: Any) -> AgentState:
    """Return the state of a cluster without objects of the collection."""
    return replace(AgentState(nodes, {}, ()), **different)


def config_map(text: str, version: str = "3", **data: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "volcano-agent-configuration", "namespace": "volcano-system", "resourceVersion": version},
        "data": {"colocation-config": text, **data},
    }


def served(desired: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object as the server returns it: with the fields and defaults that the server adds."""
    stored: dict[str, Any] = json.loads(json.dumps(with_last_applied(desired, LAST_APPLIED)))
    stored["metadata"].update(uid="5d0e", resourceVersion="12", generation=1, managedFields=[{"manager": "x"}])
    if stored["kind"] == "DaemonSet":
        stored["metadata"]["annotations"]["deprecated.daemonset.template.generation"] = "1"
        spec = stored["spec"]["template"]["spec"]
        spec.update(restartPolicy="Always", schedulerName="default-scheduler", terminationGracePeriodSeconds=30)
        for container in spec["containers"] + spec["initContainers"]:
            container.update(terminationMessagePath="/dev/termination-log", terminationMessagePolicy="File")
        stored["status"] = {"desiredNumberScheduled": 1, "numberReady": 1}
    return stored
