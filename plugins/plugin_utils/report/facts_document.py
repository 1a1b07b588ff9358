# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""NodeFacts as the document for users: ``ansible_facts.colocation``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from enum import Enum
from typing import Any

from ...module_utils.cgroup.hierarchy import Hierarchy
from ...module_utils.quantity import format_cpu_list
from ..facts.config_file import ConfigFile
from ..facts.kubelet_state import Checkpoint, KubeletFacts
from ..facts.node_state import RUNTIME_SETTINGS, CgroupFacts, Claim, DriverFacts, NodeFacts, SystemdFacts, WriterFacts
from ..facts.runtime_state import RuntimeFacts
from ..profile.kubelet_fields import FIELDS
from ..rules.rule_types import Finding, Verdict
from .redact import redact_argv


def to_builtins(value: Any) -> Any:
    """Enums, mappings, tuples and sets as builtins that JSON and YAML support."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): to_builtins(item) for key, item in value.items()}
    if isinstance(value, frozenset):
        return sorted(to_builtins(item) for item in value)
    if isinstance(value, (list, tuple)):
        return [to_builtins(item) for item in value]
    return value


def config_file(config: ConfigFile) -> dict[str, Any]:
    """A configuration file without its text."""
    problem = config.problem
    return {
        "path": config.path,
        "kind": config.kind,
        "changed_after_start": config.changed_after_start,
        "problem": {"line": problem.line, "message": problem.message} if problem else None,
    }


def _cpus(cpus: frozenset[int] | None) -> str | None:
    return None if cpus is None else format_cpu_list(cpus)


def _checkpoint(checkpoint: Checkpoint) -> dict[str, Any]:
    return {
        "path": checkpoint.path,
        "exists": checkpoint.exists,
        "policy": checkpoint.policy,
        "cpus": _cpus(checkpoint.cpus),
        "shared_cpus": _cpus(checkpoint.shared),
        "checksum": checkpoint.checksum,
    }


def kubelet_section(kubelet: KubeletFacts, driver: DriverFacts) -> dict[str, Any]:
    """The section on kubelet without its claims, which ``facts_document`` adds."""
    values = kubelet.config.values
    checkpoints = [kubelet.checkpoint, *([kubelet.memory_checkpoint] if kubelet.memory_checkpoint else [])]
    start = kubelet.start
    return {
        "installed": kubelet.installed,
        "running": kubelet.running,
        "healthy": kubelet.healthy,
        "version": kubelet.version,
        "command_line": redact_argv(list(kubelet.command_line)),
        "config_files": [config_file(file) for file in (kubelet.config, *kubelet.dropins)],
        "config_dir": start.config_dir,
        "config": {field.key: values[field.key] for field in FIELDS if field.key in values},
        "settings": {
            key: {"value": setting.value, "source": setting.source} for key, setting in sorted(kubelet.settings.items())
        },
        "configz": {"answered": kubelet.configz is not None, "error": kubelet.configz_error},
        "cgroup_driver": driver.kubelet,
        "cgroup_driver_source": driver.source,
        "cgroup_driver_authority": driver.authority,
        "cpu_manager_policy": kubelet.cpu_manager_policy,
        "cpu_manager_policy_source": kubelet.cpu_manager_policy_source,
        "checkpoints": [_checkpoint(checkpoint) for checkpoint in checkpoints],
    }


UNIT_PROPERTIES = ("ActiveState", "UnitFileState", "KillMode", "Delegate", "NeedDaemonReload", "ControlGroup")


def _hierarchy(hierarchy: Hierarchy) -> dict[str, Any]:
    return {name: value for name, value in asdict(hierarchy).items() if name != "name"}


def _cgroup(cgroup: CgroupFacts) -> dict[str, Any]:
    return {
        "mode": cgroup.mode,
        "reason": cgroup.reason,
        "controllers": cgroup.controllers,
        "mountpoints": cgroup.mountpoints,
        "missing": cgroup.missing,
        "split": cgroup.split,
        "hierarchies": [_hierarchy(hierarchy) for hierarchy in cgroup.hierarchies],
        "links": cgroup.links,
        "levels": {level.path: {"enabled": level.enabled, "missing": level.missing} for level in cgroup.levels},
        "nested": cgroup.nested,
        "trees": cgroup.trees,
        "pods": cgroup.pods,
        "idle": cgroup.idle,
        "realtime": [asdict(thread) for thread in cgroup.realtime],
    }


def _systemd(systemd: SystemdFacts, pid1: str | None) -> dict[str, Any]:
    return {
        "pid1": pid1,
        "version": systemd.running,
        "installed": systemd.installed,
        "next_mode": systemd.next_mode,
        "next_mode_reason": systemd.next_mode_reason,
        "units": {
            name: {key: unit[key] for key in UNIT_PROPERTIES if key in unit}
            for name, unit in sorted(systemd.units.items())
        },
    }


def _writers(writers: WriterFacts) -> dict[str, Any]:
    return asdict(writers)


def machine_sections(facts: NodeFacts) -> dict[str, Any]:
    """Sections about the machine by name, before ``to_builtins``."""
    kernel = facts.kernel_facts
    return {
        "cgroup": _cgroup(facts.cgroup),
        "cpu": {"online": format_cpu_list(facts.online_cpus), **asdict(facts.cpus)},
        "kernel": {
            "release": facts.kernel,
            "parameters": kernel.parameters,
            "features": kernel.features,
            "probed": kernel.probed,
            "sysctls": kernel.sysctls,
            "boot": kernel.boot,
        },
        "swap": {"on": None if kernel.swaps is None else bool(kernel.swaps), "areas": kernel.swaps},
        "systemd": _systemd(facts.systemd, facts.pid1),
        "writers": _writers(facts.writers),
    }


SCHEMA = 1


def _side(claim: Claim) -> str:
    return "runtime" if claim.setting.startswith(RUNTIME_SETTINGS) else "kubelet"


def _runtime(runtime: RuntimeFacts, driver: DriverFacts) -> dict[str, Any]:
    return {
        "name": runtime.name,
        "installed": runtime.installed,
        "running": runtime.running,
        "version": runtime.version,
        "endpoint": runtime.endpoint,
        "config_files": [config_file(config) for config in runtime.layers or (runtime.config,)],
        "config_version": runtime.config_version,
        "cgroup_driver": driver.runtime_now,
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
        "cri_cgroup_driver": driver.cri,
        "runtime_config_supported": driver.cri_supported,
        "nri": asdict(runtime.nri),
    }


def facts_document(
    facts: NodeFacts, findings: Iterable[Finding], verdict: Verdict, profile: Mapping[str, Any]
) -> dict[str, Any]:
    """The facts document, schema 1; ``profile`` describes the profile that the node was compared with.

    It has no secrets: file texts are omitted, command lines are redacted.
    """
    claims = {
        side: [asdict(claim) for claim in facts.claims if _side(claim) == side] for side in ("kubelet", "runtime")
    }
    document = {
        "schema": SCHEMA,
        "verdict": verdict,
        "profile": profile,
        "hostname": facts.hostname,
        "kubelet": {**kubelet_section(facts.kubelet, facts.driver), "claims": claims["kubelet"]},
        "runtime": {**_runtime(facts.runtime, facts.driver), "claims": claims["runtime"]},
        "layout": facts.layout.name,
        "layout_evidence": facts.layout.evidence,
        "other_runtimes": facts.other_runtimes,
        **machine_sections(facts),
        "pods": {**asdict(facts.pods)},
        "unfinished_transactions": facts.unfinished_transactions,
        "findings": render_findings(findings),
    }
    return to_builtins(document)


def render_findings(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """Findings in the form of the facts document and of results of cluster modules."""
    return [{**asdict(finding), "link": finding.link} for finding in findings]
