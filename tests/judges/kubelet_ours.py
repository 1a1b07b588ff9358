# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The collection's verdict on a kubelet configuration: node_facts' values in effect and assess' findings."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.cgroup_driver import (
    decide_driver,
    runtime_config,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.interpreter import interpret
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.kubelet_settings import interpret_kubelet
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.node_state import NodeFacts
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.catalogue import FINDING_RULES
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.rule_types import Effect, Finding, Severity
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    KUBELET_FILE,
    captured,
    put,
)

from .kubelet_judge import Case, Machine

CONFIG_DIR = "/etc/kubernetes/kubelet.conf.d"
MACHINE = Machine(cpus=4, memory=4 << 30)


@dataclass(frozen=True)
class OurVerdict:
    """``refusals`` are the findings that say that kubelet does not start."""

    facts: NodeFacts
    refusals: tuple[Finding, ...]

    @property
    def values(self) -> Mapping[str, Any]:
        return {key: setting.value for key, setting in self.facts.kubelet.settings.items()}


@functools.cache
def _node(cgroup_v1: bool) -> tuple[dict[str, Any], NodeFacts]:
    """The snapshot of a real node and its facts, with the machine's CPUs."""
    snapshot = put(captured("bookworm-v1-aligned" if cgroup_v1 else ALIGNED), f"0-{MACHINE.cpus - 1}", "cpus", "online")
    return snapshot, interpret(snapshot)


def kubelet_section(case: Case, version: tuple[int, int], captured_section: Mapping[str, Any]) -> dict[str, Any]:
    """The kubelet section of a snapshot with this configuration and release, and no checkpoint yet."""
    config_dir = [f"--config-dir={CONFIG_DIR}"] if case.dropins else []
    main = [] if case.main is None else [f"--config={KUBELET_FILE}"]
    paths = {f"{CONFIG_DIR}/{name}": _file(text) for name, text in case.dropins}
    files = {**captured_section["files"], captured_section["checkpoint_path"]: {"kind": "missing"}, **paths}
    files[KUBELET_FILE] = {"kind": "missing"} if case.main is None else _file(case.main)
    return {
        **{key: value for key, value in captured_section.items() if key not in EXCLUDED_KEYS},
        "processes": [
            {**captured_section["processes"][0], "argv": ["/usr/bin/kubelet", *main, *config_dir, *case.flags]},
        ],
        "version": f"Kubernetes v{version[0]}.{version[1]}.0",
        "config_path": KUBELET_FILE,
        "files": files,
        "config_dir": {"folder": CONFIG_DIR if paths else None, "exists": bool(paths), "paths": sorted(paths)},
    }


EXCLUDED_KEYS = frozenset(("unit_files", "environment_files", "configz"))
"""Keys of the snapshot that describe a configuration other than the case's."""


def _file(text: str) -> dict[str, Any]:
    return {"kind": "regular", "text": text, "ctime": 0.0, "mtime": 0.0}


def our_verdict(case: Case, version: tuple[int, int]) -> OurVerdict:
    """The verdict of ``interpret`` and ``assess``; facts that do not depend on kubelet's files are read once."""
    snapshot, node = _node(case.cgroup_v1)
    section = kubelet_section(case, version, snapshot["kubelet"])
    kubelet, claims = interpret_kubelet(section, snapshot["services"]["units"])
    driver = decide_driver(kubelet, node.runtime, (), runtime_config(snapshot["runtime"]["cri"]))
    facts = replace(node, kubelet=kubelet, driver=driver, claims=tuple(claims))
    findings = [finding for rule in FINDING_RULES for finding in rule(facts)]
    return OurVerdict(facts, tuple(finding for finding in findings if refuses(finding)))


NODE_RULES = frozenset(("driver-mismatch", "kubelet-driver-unknown"))
"""Errors with which kubelet starts, although the node does not work then."""


def refuses(finding: Finding) -> bool:
    """Whether a finding says that kubelet does not start with its configuration."""
    if finding.severity is not Severity.ERROR or finding.code in NODE_RULES:
        return False
    return finding.effect in (Effect.LATENT, Effect.UNKNOWN)
