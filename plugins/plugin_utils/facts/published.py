# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""NodeFacts as the plain document that users see: ``ansible_facts.colocation``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from enum import Enum
from typing import Any

from ..findings.model import Finding, Verdict
from ..kubelet_fields import FIELDS
from ..quantity import format_cpu_list
from ..redact import redact_argv
from .model import RUNTIME_SETTINGS, ConfigFile, KubeletFacts, NodeFacts, RuntimeFacts

SCHEMA = 1


def plain(value: Any) -> Any:
    """Dataclasses, Enums, tuples and sets as builtins that JSON and YAML know."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, frozenset):
        return sorted(plain(each) for each in value)
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value


def _config(config: ConfigFile) -> dict[str, Any]:
    problem = config.problem
    return {
        "path": config.path,
        "kind": config.kind,
        "changed_after_start": config.changed_after_start,
        "problem": {"line": problem.line, "message": problem.message} if problem else None,
    }


def _kubelet(kubelet: KubeletFacts) -> dict[str, Any]:
    managed = {field.key: kubelet.config.values[field.key] for field in FIELDS if field.key in kubelet.config.values}
    checkpoint = kubelet.checkpoint
    return {
        "installed": kubelet.installed,
        "running": kubelet.running,
        "healthy": kubelet.healthy,
        "version": kubelet.version,
        "command_line": redact_argv(list(kubelet.command_line)),
        "config_files": [_config(kubelet.config)],
        "config": managed,
        "cgroup_driver": kubelet.cgroup_driver,
        "cgroup_driver_source": kubelet.cgroup_driver_source,
        "cpu_manager_policy": kubelet.cpu_manager_policy,
        "cpu_manager_policy_source": kubelet.cpu_manager_policy_source,
        "checkpoints": [
            {
                "path": checkpoint.path,
                "exists": checkpoint.exists,
                "policy": checkpoint.policy,
                "cpus": None if checkpoint.cpus is None else format_cpu_list(checkpoint.cpus),
            }
        ],
    }


def _runtime(runtime: RuntimeFacts) -> dict[str, Any]:
    return {
        "name": runtime.name,
        "installed": runtime.installed,
        "running": runtime.running,
        "version": runtime.version,
        "endpoint": runtime.endpoint,
        "config_files": [_config(config) for config in runtime.layers or (runtime.config,)],
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


def of_runtime(claim: Mapping[str, Any]) -> bool:
    """Whether a claim is about the runtime's side of the driver."""
    return str(claim["setting"]).startswith(RUNTIME_SETTINGS)


def published(facts: NodeFacts, found: Iterable[Finding], verdict: Verdict) -> dict[str, Any]:
    """The facts document, schema 1. Nothing in it is secret: file texts stay out, command lines are redacted."""
    claims = [asdict(claim) for claim in facts.claims]
    document = {
        "schema": SCHEMA,
        "verdict": verdict,
        "hostname": facts.hostname,
        "cgroup": {
            "mode": facts.cgroup.mode,
            "reason": facts.cgroup.reason,
            "controllers": facts.cgroup.controllers,
            "mountpoints": facts.cgroup.mountpoints,
            "trees": facts.cgroup.trees,
        },
        "kubelet": {**_kubelet(facts.kubelet), "claims": [each for each in claims if not of_runtime(each)]},
        "runtime": {**_runtime(facts.runtime), "claims": [each for each in claims if of_runtime(each)]},
        "layout": facts.layout.name,
        "layout_evidence": facts.layout.evidence,
        "other_runtimes": facts.other_runtimes,
        "pods": {**asdict(facts.pods)},
        "unfinished_transactions": facts.unfinished_transactions,
        "systemd": {"pid1": facts.pid1, "version": facts.systemd_version},
        "kernel": {"release": facts.kernel},
        "cpu": {"online": format_cpu_list(facts.online_cpus)},
        "findings": [asdict(finding) for finding in found],
    }
    return plain(document)
