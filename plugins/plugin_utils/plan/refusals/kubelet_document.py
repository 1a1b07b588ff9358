# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What kubelet would not decode: the file of another kind, and fields of another type.

pkg/kubelet/kubeletconfig/util/codec: the text becomes JSON, which is decoded by the types of config/v1beta1/types.go; a
number or a list does not become a string there.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...edit.kubelet_text import decodes_as_json, line_of
from ...facts.config_file import ConfigFile
from ...facts.kubelet_accepted_values import WrongType, wrong_types, wrong_types_of_dropins
from ...facts.kubelet_layers import header_errors, merge_patch
from ...facts.node_state import NodeFacts
from ...profile.kubelet_fields import (
    CPU_MANAGER_POLICY,
    KUBE_RESERVED,
    MEMORY_MANAGER_POLICY,
    RESERVED_MEMORY,
    RESERVED_SYSTEM_CPUS,
    SYSTEM_RESERVED,
    TOPOLOGY_MANAGER_POLICY,
)
from ...releases.versions import minor
from ..change_set import Refusal
from ..draft import PlanDraft
from ..kubelet_location import decoded_files
from .model import Rule

TOLD_OTHERWISE = frozenset(
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
"""Fields whose values have rules of their own, which say more: startup.py."""
BEGINNING = "Begin it with the lines apiVersion: kubelet.config.k8s.io/v1beta1 and kind: KubeletConfiguration"


def _kind(draft: PlanDraft) -> Iterator[Refusal]:
    if not draft.desired:
        return
    for config in decoded_files(draft.facts):
        wrong = header_errors(config.values)
        if wrong:
            yield Refusal(
                "kubelet-config-kind",
                f"kubelet does not start with this file: {'; '.join(wrong)}",
                f"{BEGINNING}; or name kubelet's own file in its --config.",
                file=config.path,
            )


def _types(draft: PlanDraft) -> Iterator[Refusal]:
    desired = {field.key for field, _keys, _value in draft.desired}
    if not desired:
        return
    passed_over = desired | {field.key for field in TOLD_OTHERWISE} | {"apiVersion", "kind"}
    for config in decoded_files(draft.facts):
        for wrong in _wrong(draft.facts, config):
            if wrong.path[0] not in passed_over:
                yield Refusal(
                    "kubelet-field-type",
                    f"kubelet does not start with this file: {wrong}",
                    "Correct the value, or take it out.",
                    file=config.path,
                    line=line_of(config.text, wrong.path) if config.text else None,
                )


def _wrong(facts: NodeFacts, config: ConfigFile) -> Iterator[WrongType]:
    version = minor(facts.kubelet.version)
    if config is not facts.kubelet.config:
        return wrong_types_of_dropins(merge_patch({}, config.values), version)
    return wrong_types(config.values, version, is_json=decodes_as_json(config.text or ""))


RULES: tuple[Rule, ...] = (_kind, _types)
