# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files and fields that kubelet cannot decode: files of another kind, fields of another type.

pkg/kubelet/kubeletconfig/util/codec: kubelet converts the text to JSON and decodes it with the types of
config/v1beta1/types.go; it does not convert a number or a list to a string.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..edit.kubelet_text import decodes_as_json, line_of
from ..facts.config_file import ConfigFile, Problem
from ..facts.kubelet_accepted_values import WrongType, wrong_types, wrong_types_of_dropins
from ..facts.kubelet_layers import header_errors, merge_patch
from ..facts.node_state import NodeFacts
from ..plan.change_set import Refusal
from ..plan.draft import PlanDraft
from ..plan.kubelet_location import decoded_files
from ..profile.kubelet_fields import (
    CPU_MANAGER_POLICY,
    KUBE_RESERVED,
    MEMORY_MANAGER_POLICY,
    RESERVED_MEMORY,
    RESERVED_SYSTEM_CPUS,
    SYSTEM_RESERVED,
    TOPOLOGY_MANAGER_POLICY,
)
from ..releases.versions import minor
from .config_files import describe_problem, unsafe_file
from .k3s_and_rke2 import explain_location
from .rule_types import Effect, Finding, Severity, start_failure


def _wrong_in_main(config: ConfigFile, version: tuple[int, int] | None) -> Iterator[Problem]:
    for reason in header_errors(config.values):
        yield Problem(config.path, reason, line_of(config.text or "", reason.split()[:1]) or 1)
    is_json = config.text is not None and decodes_as_json(config.text)
    for wrong in wrong_types(config.values, version, is_json=is_json):
        yield _problem(config, wrong)


def _wrong_in_dropins(dropins: tuple[ConfigFile, ...], version: tuple[int, int] | None) -> Iterator[Problem]:
    """kubelet decodes drop-ins after it merged them: a later one can correct an earlier one, and null removes a key."""
    whole: Mapping[str, Any] = {}
    for config in dropins:
        whole = merge_patch(whole, config.values)
    sources: dict[str | int, ConfigFile] = {key: config for config in dropins for key in config.values}
    for wrong in wrong_types_of_dropins(whole, version):
        yield _problem(sources[wrong.path[0]], wrong)


def _problem(config: ConfigFile, wrong: WrongType) -> Problem:
    return Problem(config.path, str(wrong), line_of(config.text, wrong.path) if config.text else None)


def kubelet_file_refused(facts: NodeFacts) -> Iterator[Finding]:
    """pkg/kubelet/kubeletconfig/util/codec."""
    version = minor(facts.kubelet.version)
    main, dropins = _files(facts)
    problems = [problem for config in main for problem in _wrong_in_main(config, version)]
    problems += _wrong_in_dropins(dropins, version)
    if problems:
        yield start_failure(
            "kubelet-config-refused",
            f"kubelet does not start: it cannot decode {len(problems)} value(s) of its files.",
            tuple(map(describe_problem, problems)),
            "Correct each value or delete its line; the file must have apiVersion and kind.",
        )


def _files(facts: NodeFacts) -> tuple[tuple[ConfigFile, ...], tuple[ConfigFile, ...]]:
    """The main file, if kubelet reads one, and its drop-ins."""
    read = decoded_files(facts)
    main = tuple(config for config in read if config is facts.kubelet.config)
    return main, tuple(config for config in read if config is not facts.kubelet.config)


def kubelet_file_ignored(facts: NodeFacts) -> Iterator[Finding]:
    ignored = [config.ignored for config in decoded_files(facts) if config.ignored]
    if ignored:
        yield Finding(
            "kubelet-config-part-ignored",
            Severity.WARNING,
            Effect.LATENT,
            "kubelet ignores a part of its files: it uses the last of repeated keys, the first of several documents.",
            tuple(map(describe_problem, ignored)),
            "Keep one document and one line for each key; until then this collection does not edit the file.",
        )


CHECKED_AT_STARTUP = frozenset(
    (
        CPU_MANAGER_POLICY,
        KUBE_RESERVED,
        MEMORY_MANAGER_POLICY,
        RESERVED_MEMORY,
        RESERVED_SYSTEM_CPUS,
        SYSTEM_RESERVED,
        TOPOLOGY_MANAGER_POLICY,
    )
)
"""Fields whose values have separate, more precise rules: kubelet_startup.py."""


HEADER = "Begin it with the lines apiVersion: kubelet.config.k8s.io/v1beta1 and kind: KubeletConfiguration"


def refuse_another_kind(draft: PlanDraft) -> Iterator[Refusal]:
    if not draft.desired:
        return
    for config in decoded_files(draft.facts):
        wrong = header_errors(config.values)
        if wrong:
            yield Refusal(
                "kubelet-config-kind",
                f"kubelet does not start with this file: {'; '.join(wrong)}",
                f"{HEADER}; or set --config to kubelet's own file.",
                file=config.path,
            )


def refuse_wrong_types(draft: PlanDraft) -> Iterator[Refusal]:
    desired = {field.key for field, _keys, _value in draft.desired}
    if not desired:
        return
    skipped = desired | {field.key for field in CHECKED_AT_STARTUP} | {"apiVersion", "kind"}
    for config in decoded_files(draft.facts):
        for wrong in _wrong_types(draft.facts, config):
            if wrong.path[0] not in skipped:
                yield Refusal(
                    "kubelet-field-type",
                    f"kubelet does not start with this file: {wrong}",
                    "Correct the value, or remove it.",
                    file=config.path,
                    line=line_of(config.text, wrong.path) if config.text else None,
                )


def _wrong_types(facts: NodeFacts, config: ConfigFile) -> Iterator[WrongType]:
    version = minor(facts.kubelet.version)
    if config is not facts.kubelet.config:
        return wrong_types_of_dropins(merge_patch({}, config.values), version)
    return wrong_types(config.values, version, is_json=decodes_as_json(config.text or ""))


def refuse_kubelet_location(draft: PlanDraft) -> Iterator[Refusal]:
    if draft.kubelet.config.kind != "missing":
        yield from unsafe_file(draft.kubelet.config)
    location = draft.kubelet_location
    if not isinstance(location, Refusal) or not draft.kubelet.installed or draft.facts.layout.kubelet_inside:
        return
    if location.variable and not draft.desired:
        return
    yield explain_location(draft, location)
