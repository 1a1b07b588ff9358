# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What kubelet would not decode: the file of another kind, and fields of another type.

pkg/kubelet/kubeletconfig/util/codec: the text becomes JSON, which is decoded by the types of config/v1beta1/types.go; a
number or a list does not become a string there.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...edit.kubelet_syntax import decodes_as_json
from ...edit.place_of import line_of
from ...facts.kubelet_layers import not_kubelets, patched
from ...facts.model import ConfigFile, NodeFacts
from ...kubelet_fields import (
    CPU_MANAGER_POLICY,
    KUBE_RESERVED,
    MEMORY_MANAGER_POLICY,
    RESERVED_MEMORY,
    RESERVED_SYSTEM_CPUS,
    SYSTEM_RESERVED,
    TOPOLOGY_MANAGER_POLICY,
)
from ...kubelet_types import WrongType, wrong_types, wrong_types_of_dropins
from ...profile import Profile
from ...versions import minor
from ..kubelet_after import desired_fields
from ..kubelet_place import decoded_files
from ..model import Refusal
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


def _kind(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    if not profile.kubelet:
        return
    for config in decoded_files(facts):
        wrong = not_kubelets(config.values)
        if wrong:
            yield Refusal(
                "kubelet-config-kind",
                f"kubelet does not start with this file: {'; '.join(wrong)}",
                f"{BEGINNING}; or name kubelet's own file in its --config.",
                file=config.path,
            )


def _types(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    desired = {field.key for field, _keys, _value in desired_fields(profile)}
    if not desired:
        return
    passed_over = desired | {field.key for field in TOLD_OTHERWISE} | {"apiVersion", "kind"}
    for config in decoded_files(facts):
        for wrong in _wrong(facts, config):
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
        return wrong_types_of_dropins(patched({}, config.values), version)
    return wrong_types(config.values, version, is_json=decodes_as_json(config.text or ""))


RULES: tuple[Rule, ...] = (_kind, _types)
