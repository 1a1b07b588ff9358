# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""NodeFacts as the plain document that users see: ``ansible_facts.colocation``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from ..findings.model import Finding, Verdict
from .model import RUNTIME_SETTINGS, Claim, NodeFacts, RuntimeFacts
from .published_kubelet import kubelet_section
from .published_machine import machine_sections
from .published_values import config_file, plain

SCHEMA = 1


def _side(claim: Claim) -> str:
    return "runtime" if claim.setting.startswith(RUNTIME_SETTINGS) else "kubelet"


def _runtime(runtime: RuntimeFacts) -> dict[str, Any]:
    return {
        "name": runtime.name,
        "installed": runtime.installed,
        "running": runtime.running,
        "version": runtime.version,
        "endpoint": runtime.endpoint,
        "config_files": [config_file(config) for config in runtime.layers or (runtime.config,)],
        "config_version": runtime.config_version,
        "cgroup_driver": runtime.running_cgroup_driver or runtime.cgroup_driver,
        "handlers": {
            handler.name: {
                "configured": handler.configured,
                "running": handler.running,
                "source": handler.source,
                "binary": handler.binary,
            }
            for handler in runtime.handlers
        },
        "default_handler": runtime.default_handler,
        "cri_cgroup_driver": runtime.cri_cgroup_driver,
        "runtime_config_supported": runtime.runtime_config_supported,
        "nri": asdict(runtime.nri),
    }


def published(
    facts: NodeFacts, found: Iterable[Finding], verdict: Verdict, profile: Mapping[str, Any]
) -> dict[str, Any]:
    """The facts document, schema 1; ``profile`` says what the node was judged against.

    Nothing in it is secret: file texts stay out, command lines are redacted.
    """
    claims = {side: [asdict(each) for each in facts.claims if _side(each) == side] for side in ("kubelet", "runtime")}
    document = {
        "schema": SCHEMA,
        "verdict": verdict,
        "profile": profile,
        "hostname": facts.hostname,
        "kubelet": {**kubelet_section(facts.kubelet), "claims": claims["kubelet"]},
        "runtime": {**_runtime(facts.runtime), "claims": claims["runtime"]},
        "layout": facts.layout.name,
        "layout_evidence": facts.layout.evidence,
        "other_runtimes": facts.other_runtimes,
        **machine_sections(facts),
        "pods": {**asdict(facts.pods)},
        "unfinished_transactions": facts.unfinished_transactions,
        "findings": [{**asdict(finding), "link": finding.link} for finding in found],
    }
    return plain(document)
