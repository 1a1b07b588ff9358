# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts, clusters and options as the agent's plans see them; facts are those of recorded nodes."""

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
    found: dict[str, Any] = json.loads((FIXTURES / name).read_text(encoding="utf-8"))
    return found


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def probe(name: str, **different: Any) -> dict[str, Any]:
    """What agent_host_info tells of a Debian node without SELinux."""
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
    """A host that is a recorded node under another name."""
    return replace(parse_host(name, facts(recorded), probe(name), CNI), **different)


def arguments(**given: Any) -> dict[str, Any]:
    """What the module gets when these options are given."""
    checked = ArgumentSpecValidator(AGENT_DEPLOY).validate({"nodes": ["n1"], **given})
    assert not checked.error_messages, checked.error_messages
    found: dict[str, Any] = checked.validated_parameters
    return found


GROUPS = {"all": ["n1", "n2", "n3"], "batch": ["n2", "n3"]}


def options(groups: Mapping[str, Sequence[str]] | None = None, **given: Any) -> DeployOptions:
    return parse_deploy_options(arguments(**given), groups or GROUPS)


def pools(hosts: Sequence[AgentHost], chosen: DeployOptions) -> tuple[Pool, ...]:
    return make_pools(hosts, chosen.pools, chosen.features, chosen.release)


def node(name: str, labels: Mapping[str, str] | None = None, **different: Any) -> LiveNode:
    known = LiveNode(ClusterNode(name, f"machine-{name}", f"boot-{name}", (1, 30)), labels or {}, {}, (), {}, "7")
    return replace(known, **different)


def seen(*nodes: LiveNode, **different: Any) -> AgentState:
    """A cluster that has nothing of ours."""
    return replace(AgentState(nodes, {}, ()), **different)


def config_map(text: str, version: str = "3", **data: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "volcano-agent-configuration", "namespace": "volcano-system", "resourceVersion": version},
        "data": {"colocation-config": text, **data},
    }


def served(wanted: Mapping[str, Any]) -> dict[str, Any]:
    """An object as the server gives it back: with fields and defaults of its own."""
    found: dict[str, Any] = json.loads(json.dumps(with_last_applied(wanted, LAST_APPLIED)))
    found["metadata"].update(uid="5d0e", resourceVersion="12", generation=1, managedFields=[{"manager": "x"}])
    if found["kind"] == "DaemonSet":
        found["metadata"]["annotations"]["deprecated.daemonset.template.generation"] = "1"
        spec = found["spec"]["template"]["spec"]
        spec.update(restartPolicy="Always", schedulerName="default-scheduler", terminationGracePeriodSeconds=30)
        for each in spec["containers"] + spec["initContainers"]:
            each.update(terminationMessagePath="/dev/termination-log", terminationMessagePolicy="File")
        found["status"] = {"desiredNumberScheduled": 1, "numberReady": 1}
    return found
