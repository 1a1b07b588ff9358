# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values that differ between the running kubelet and its files, and values with which it would not start."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..facts.kubelet_layers import render_value
from ..facts.node_state import NodeFacts
from ..plan.change_set import Refusal
from ..plan.desired_state import SOURCE
from ..plan.draft import PlanDraft
from ..profile.field_schema import KubeletField
from ..profile.kubelet_fields import (
    CGROUP_DRIVER,
    ENFORCE_NODE_ALLOCATABLE,
    EVICTION_HARD,
    FAIL_CGROUP_V1,
    FEATURE_GATES,
    FIELDS,
    KUBE_RESERVED,
    MEMORY_RESERVATION_POLICY,
    MEMORY_THROTTLING_FACTOR,
    OBSERVED,
    RESERVED_MEMORY,
    RESERVED_SYSTEM_CPUS,
    RUNTIME_ENDPOINT,
    SINGLE_PROCESS_OOM_KILL,
    SYSTEM_RESERVED,
)
from ..profile.option_names import variable_of
from . import (
    cgroup_version,
    kubelet_field_values,
    kubelet_flags,
    kubelet_release,
    memory_manager,
    memory_qos,
    reservations,
    resource_managers,
)
from .evidence import is_true, quote_value, value
from .rule_types import Effect, Finding, FindingRule, Severity

# Values that kubelet fills in or rewrites do not count as differences.
_FILLED_IN = (
    FAIL_CGROUP_V1,
    RUNTIME_ENDPOINT,
    ENFORCE_NODE_ALLOCATABLE,
    EVICTION_HARD,
    MEMORY_THROTTLING_FACTOR,
    MEMORY_RESERVATION_POLICY,
    SINGLE_PROCESS_OOM_KILL,
)


_COMPLETED = (EVICTION_HARD, FEATURE_GATES)


def _plain(value: Any) -> Any:
    """A comparable form: numbers as texts, empty values as None."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()} or None
    if isinstance(value, list):
        return [_plain(item) for item in value] or None
    return None if value in (None, "") else render_value(value)


def _expected(facts: NodeFacts, field: KubeletField) -> Any:
    """The value that /configz should have for a field by the files; from 1.35 on it has the effective driver."""
    kubelet = facts.kubelet
    if field is CGROUP_DRIVER and facts.driver.in_configz:
        return _plain(facts.driver.in_configz)
    setting = kubelet.settings.get(field.key)
    return _plain(setting.value) if setting else None


def _disagreements(facts: NodeFacts, configz: Mapping[str, Any]) -> Iterator[str]:
    kubelet = facts.kubelet
    skipped = {RESERVED_MEMORY}
    if RESERVED_SYSTEM_CPUS.key in kubelet.settings:
        # server.go moves the count of the named CPUs into systemReserved
        skipped |= {SYSTEM_RESERVED, KUBE_RESERVED}
    for field in OBSERVED:
        expected, actual = _expected(facts, field), _plain(configz.get(field.key))
        if field in skipped or field.key not in configz or (expected is None and field in _FILLED_IN):
            continue
        if field in _COMPLETED and isinstance(expected, dict) and isinstance(actual, dict):
            actual = {key: item for key, item in actual.items() if key in expected}
        if expected != actual:
            yield f"{field.key}: {_word(actual)} in /configz, {_word(expected)} in its files and flags"


def _word(value: Any) -> str:
    return "not set" if value is None else render_value(value)


def configz_differs(facts: NodeFacts) -> Iterator[Finding]:
    kubelet = facts.kubelet
    differing = tuple(_disagreements(facts, kubelet.configz)) if kubelet.configz else ()
    if differing:
        yield Finding(
            "kubelet-configz-differs",
            Severity.WARNING,
            Effect.LATENT,
            "kubelet runs with other values than its files and flags set; the next restart applies those.",
            differing,
            "Decide which is right before kubelet or the node restarts.",
        )


def config_changed_after_start(facts: NodeFacts) -> Iterator[Finding]:
    newer = [config.path for config in (facts.kubelet.config, *facts.kubelet.dropins) if config.changed_after_start]
    if facts.kubelet.running and newer:
        yield Finding(
            "kubelet-config-changed-after-start",
            Severity.WARNING,
            Effect.LATENT,
            "kubelet's file changed after kubelet started.",
            tuple(newer),
            "kubelet may still run with the old values; the next restart applies the file.",
        )


def swap_on(facts: NodeFacts) -> Iterator[Finding]:
    """kubernetes pkg/kubelet/cm/container_manager_linux.go: kubelet checks this only when it starts."""
    fails = value(facts, "failSwapOn")
    if facts.kernel_facts.swaps and facts.kubelet.installed and (fails is None or is_true(fails)):
        yield Finding(
            "swap-on",
            Severity.ERROR,
            Effect.LATENT,
            "Swap is on, and kubelet is not configured to allow it: it will not start again.",
            (*facts.kernel_facts.swaps, quote_value(facts, "failSwapOn")),
            "Turn swap off permanently (swapoff -a, and remove it from /etc/fstab or disable zram's unit), or set"
            " failSwapOn: false.",
        )


STARTUP_RULES: tuple[FindingRule, ...] = (
    kubelet_flags.flag_refused,
    kubelet_field_values.value_out_of_range,
    resource_managers.policy_unknown,
    reservations.reservation_unreadable,
    reservations.cpu_reservation_impossible,
    reservations.reserved_cpus_with_cgroups,
    reservations.enforcement_refused,
    resource_managers.manager_options_refused,
    memory_manager.reserved_memory_refused,
    memory_manager.memory_equation,
    memory_manager.memory_manager_off,
    kubelet_release.feature_gates_refused,
    resource_managers.too_many_numa_nodes,
    resource_managers.more_sockets_than_numa_nodes,
    reservations.reserved_cgroup_missing,
    memory_qos.memory_reservation_refused,
    memory_qos.memory_throttling_refused,
    cgroup_version.single_process_oom_kill,
    cgroup_version.cgroup_v1_refused,
)
"""Finding rules that are applied to the node as it would be after the change."""


def _quoted_options(finding: Finding) -> tuple[str, ...]:
    """The profile's options that the finding quotes."""
    quoted = {line.split(" = ", 1)[0] for line in finding.evidence if line.endswith(f"({SOURCE})")}
    return tuple(field.option for field in FIELDS if field.key in quoted)


def _with_variables(remedy: str) -> str:
    """A remedy for kubelet's file, for a profile: with the variables that set the fields."""
    for field in FIELDS:
        remedy = re.sub(rf"\b{field.key}\b", variable_of(field.option), remedy)
    return remedy


def _refusal(finding: Finding, facts: NodeFacts) -> Refusal:
    options = _quoted_options(finding)
    path, version = facts.kubelet.config.path, f"kubelet {facts.kubelet.version or 'of unknown version'}"
    in_file = any(line.endswith(f"({path})") for line in finding.evidence)
    return Refusal(
        finding.code,
        f"{finding.summary.rstrip('.')} ({version}): {'; '.join(finding.evidence)}",
        _with_variables(finding.remedy) if options else finding.remedy,
        file=path if in_file or not options else None,
        variable=", ".join(options) or None,
    )


def refuse_startup(draft: PlanDraft) -> Iterator[Refusal]:
    """Refuse a change after which kubelet could not start, whatever the cause; warnings count only for the profile."""
    if not draft.desired:
        return
    after = draft.node_after
    for rule in STARTUP_RULES:
        for finding in rule(after):
            if finding.effect is Effect.LATENT or _quoted_options(finding):
                yield _refusal(finding, draft.facts)
