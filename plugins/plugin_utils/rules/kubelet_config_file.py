# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What kubelet does not decode: files of another kind, fields of another type.

pkg/kubelet/kubeletconfig/util/codec: the text becomes JSON, which is decoded by the types of config/v1beta1/types.go; a
number or a list does not become a string there.
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
    """They are decoded when all are merged: a later one can correct an earlier one, and null takes a key away."""
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
            "Correct each value or delete its line; the file begins with its apiVersion and kind.",
        )


def _files(facts: NodeFacts) -> tuple[tuple[ConfigFile, ...], tuple[ConfigFile, ...]]:
    """The main file, where there is one that it reads, and its drop-ins."""
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
            "kubelet ignores a part of its files: of a repeated key it uses the last, of documents the first.",
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
"""Fields whose values have rules of their own, which say more: kubelet_startup.py."""


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
                f"{HEADER}; or name kubelet's own file in its --config.",
                file=config.path,
            )


def refuse_wrong_types(draft: PlanDraft) -> Iterator[Refusal]:
    desired = {field.key for field, _keys, _value in draft.desired}
    if not desired:
        return
    passed_over = desired | {field.key for field in CHECKED_AT_STARTUP} | {"apiVersion", "kind"}
    for config in decoded_files(draft.facts):
        for wrong in _wrong_types(draft.facts, config):
            if wrong.path[0] not in passed_over:
                yield Refusal(
                    "kubelet-field-type",
                    f"kubelet does not start with this file: {wrong}",
                    "Correct the value, or take it out.",
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
    place = draft.kubelet_location
    if not isinstance(place, Refusal) or not draft.kubelet.installed or draft.facts.layout.kubelet_inside:
        return
    if place.variable and not draft.desired:
        return
    yield explain_location(draft, place)
