# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about what kubelet runs with, against what its files and its unit say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...edit.kubelet_text import begins_as_json
from ...facts.kubelet_command_line import REMOVED_FLAGS, flag_source, flag_values
from ...facts.kubelet_layers import DEFAULT_SOURCE, render_value
from ...facts.kubelet_settings import CONFIGZ_EFFECTIVE_SINCE
from ...facts.kubelet_state import Flag, KubeletFacts
from ...facts.node_state import CgroupMode, NodeFacts
from ...profile.field_schema import KubeletField
from ...profile.kubelet_fields import (
    CGROUP_DRIVER,
    ENFORCE_NODE_ALLOCATABLE,
    EVICTION_HARD,
    FAIL_CGROUP_V1,
    FEATURE_GATES,
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
from ...releases.versions import minor
from ..evidence import claims
from ..kubelet_values import is_true, value
from ..model import Effect, Finding, Rule, Severity

PLACES = ("--config", "--config-dir", "--root-dir")
# What kubelet fills in or writes anew is no disagreement.
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


def _changes(running: tuple[Flag, ...], following: tuple[Flag, ...]) -> Iterator[str]:
    now, then = flag_values(running), flag_values(following)
    for field in OBSERVED:
        if now.get(field.key) != then.get(field.key):
            source = flag_source(field, following) if field.key in then else "no longer given"
            yield f"{field.flag}: {_said(now, field)} now, {_said(then, field)} next ({source})"
    for name in PLACES:
        before, after = _last(running, name), _last(following, name)
        # A specifier such as %S is systemd's to put in.
        if before != after and "%" not in (after or ""):
            yield f"{name}: {before or 'not given'} now, {after or 'not given'} next"


def _said(values: Mapping[str, Any], field: KubeletField) -> str:
    return render_value(values[field.key]) if field.key in values else "not given"


def _last(found: tuple[Flag, ...], name: str) -> str | None:
    return next((flag.value for flag in reversed(found) if flag.name == name), None)


def flags_change_at_restart(facts: NodeFacts) -> Iterator[Finding]:
    start = facts.kubelet.start
    if not facts.kubelet.running or start.following is None:
        return
    changes = tuple(_changes(start.running, start.following))
    if changes:
        yield Finding(
            "kubelet-flags-change",
            Severity.WARNING,
            Effect.LATENT,
            "kubelet's unit or its environment files would start it with other flags than it runs with.",
            changes,
            "Decide which is right before kubelet or the node restarts.",
        )


def removed_flags(found: tuple[Flag, ...], version: tuple[int, int]) -> tuple[str, ...]:
    """Flags that this version of kubelet does not know any more, with who gives them."""
    gone = {flag.name: flag for flag in found if flag.name in REMOVED_FLAGS and version >= REMOVED_FLAGS[flag.name][0]}
    return tuple(
        f"{name} ({flag.source}), removed in {'.'.join(map(str, REMOVED_FLAGS[name][0]))}, {REMOVED_FLAGS[name][1]}"
        for name, flag in sorted(gone.items())
    )


def flag_removed(facts: NodeFacts) -> Iterator[Finding]:
    start, version = facts.kubelet.start, minor(facts.kubelet.version)
    gone = removed_flags((*start.running, *(start.following or ())), version) if version else ()
    if gone:
        yield Finding(
            "flag-removed",
            Severity.ERROR,
            Effect.LATENT,
            f"kubelet {facts.kubelet.version} knows {len(gone)} of its flags no more; it does not start with them.",
            gone,
            "Take them out of kubelet's unit, its drop-ins or their environment files.",
        )


def flag_quoted(facts: NodeFacts) -> Iterator[Finding]:
    start = facts.kubelet.start
    watched = {field.flag for field in OBSERVED} | set(PLACES)
    quoted = [
        flag
        for flag in (*start.running, *(start.following or ()))
        if flag.name in watched and (flag.value or "")[:1] in ("'", '"')
    ]
    if quoted:
        yield Finding(
            "flag-quoted",
            Severity.WARNING,
            Effect.LATENT,
            "Quotes reach kubelet as part of a flag's value.",
            tuple(dict.fromkeys(f"{flag.name}={flag.value} ({flag.source})" for flag in quoted)),
            "Take the quotes out where the flag is written; systemd and kubelet do not.",
        )


def _plain(value: Any) -> Any:
    """Comparable: texts and numbers alike, empty is nothing."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()} or None
    if isinstance(value, list):
        return [_plain(each) for each in value] or None
    return None if value in (None, "") else render_value(value)


def _expected(kubelet: KubeletFacts, field: KubeletField) -> Any:
    """What /configz should say of a field by the files; from 1.35 on it has the driver in force."""
    version = minor(kubelet.version)
    if (
        field is CGROUP_DRIVER
        and kubelet.cgroup_driver_authority == "cri"
        and version
        and version >= CONFIGZ_EFFECTIVE_SINCE
    ):
        return _plain(kubelet.driver_at_restart)
    setting = kubelet.settings.get(field.key)
    return _plain(setting.value) if setting else None


def _disagreements(kubelet: KubeletFacts, configz: Mapping[str, Any]) -> Iterator[str]:
    skipped = {RESERVED_MEMORY}
    if RESERVED_SYSTEM_CPUS.key in kubelet.settings:
        # server.go moves the count of the named CPUs into systemReserved
        skipped |= {SYSTEM_RESERVED, KUBE_RESERVED}
    for field in OBSERVED:
        expected, found = _expected(kubelet, field), _plain(configz.get(field.key))
        if field in skipped or field.key not in configz or (expected is None and field in _FILLED_IN):
            continue
        if field in _COMPLETED and isinstance(expected, dict) and isinstance(found, dict):
            found = {key: each for key, each in found.items() if key in expected}
        if expected != found:
            yield f"{field.key}: {_word(found)} by /configz, {_word(expected)} by its files and flags"


def _word(value: Any) -> str:
    return "nothing" if value is None else render_value(value)


def runs_otherwise(facts: NodeFacts) -> Iterator[Finding]:
    kubelet = facts.kubelet
    differing = tuple(_disagreements(kubelet, kubelet.configz)) if kubelet.configz else ()
    if differing:
        yield Finding(
            "kubelet-configz-differs",
            Severity.WARNING,
            Effect.LATENT,
            "kubelet runs with other values than its files and flags give; the next restart takes those.",
            differing,
            "Decide which is right before kubelet or the node restarts.",
        )


def driver_ignored(facts: NodeFacts) -> Iterator[Finding]:
    kubelet = facts.kubelet
    own = kubelet.settings.get(CGROUP_DRIVER.key)
    if kubelet.cgroup_driver_authority != "cri" or own is None or own.source == DEFAULT_SOURCE:
        return
    if kubelet.cgroup_driver and own.value != kubelet.cgroup_driver.value:
        yield Finding(
            "driver-setting-ignored",
            Severity.WARNING,
            Effect.NONE,
            f"kubelet takes the CRI's driver {kubelet.cgroup_driver.value}; its own cgroupDriver says otherwise.",
            claims(facts, CGROUP_DRIVER.key),
            "Write the same driver to kubelet's file: agents read it there, and an older kubelet would use it.",
        )


def driver_hidden_from_agents(facts: NodeFacts) -> Iterator[Finding]:
    """Volcano's agent looks for the bare line in kubelet's main file (pkg/agent/utils/cgroup/cgroup.go)."""
    kubelet = facts.kubelet
    if not kubelet.installed:
        return
    if kubelet.odd_driver_line is not None:
        evidence = f"{kubelet.config.path}:{kubelet.odd_driver_line}: cgroupDriver with quotes or a comment"
    elif _is_json(kubelet) and CGROUP_DRIVER.key in kubelet.config.values:
        evidence = f"{kubelet.config.path}: cgroupDriver in JSON"
    elif _only_elsewhere(kubelet):
        own = kubelet.config.values.get(CGROUP_DRIVER.key)
        said = f"cgroupDriver {render_value(own)}" if own else "no cgroupDriver"
        evidence = f"{kubelet.config.path}: {said}; kubelet's comes from {kubelet.cgroup_driver_source}"
    else:
        return
    yield Finding(
        "driver-hidden-from-agents",
        Severity.INFO,
        Effect.NONE,
        "Agents that read kubelet's file for the cgroup driver, such as Volcano's, do not find the right one.",
        (evidence,),
        "Write the driver to that file as cgroupDriver: systemd or cgroupfs, without quotes and comment.",
    )


def _is_json(kubelet: KubeletFacts) -> bool:
    return kubelet.config.text is not None and begins_as_json(kubelet.config.text)


def _only_elsewhere(kubelet: KubeletFacts) -> bool:
    """Whether the main file lacks the driver in force; what the CRI overrules is another finding."""
    if kubelet.config.kind != "regular" or kubelet.config.problem or kubelet.cgroup_driver is None:
        return False
    own = kubelet.config.values.get(CGROUP_DRIVER.key)
    if own is None:
        return kubelet.cgroup_driver_source != DEFAULT_SOURCE
    return bool(own != kubelet.cgroup_driver.value) and kubelet.cgroup_driver_authority != "cri"


def v1_refused(facts: NodeFacts) -> Iterator[Finding]:
    """validation_linux.go; a version that does not know the field takes no notice of it."""
    version = minor(facts.kubelet.version)
    if facts.cgroup.mode not in (CgroupMode.V1, CgroupMode.HYBRID) or version is None or version < FAIL_CGROUP_V1.since:
        return
    if is_true(value(facts, FAIL_CGROUP_V1.key)):
        yield Finding(
            "cgroup-v1-refused",
            Severity.ERROR,
            Effect.LATENT,
            f"kubelet {facts.kubelet.version} does not start on cgroup v1.",
            (facts.cgroup.reason, *(claims(facts, FAIL_CGROUP_V1.key) or ("failCgroupV1 is true by default",))),
            "Boot the node with cgroup v2; until then failCgroupV1: false, which 1.38 may no longer know.",
        )


RULES: tuple[Rule, ...] = (
    flags_change_at_restart,
    flag_removed,
    flag_quoted,
    runs_otherwise,
    driver_ignored,
    driver_hidden_from_agents,
    v1_refused,
)
