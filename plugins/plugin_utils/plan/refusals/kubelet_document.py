# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What kubelet would not decode: the file of another kind, and fields of another type.

pkg/kubelet/kubeletconfig/util/codec: the text becomes JSON, which is decoded by the types of config/v1beta1/types.go; a
number or a list does not become a string there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...edit.json_nodes import located_json
from ...edit.kubelet_syntax import begins_as_json
from ...edit.lines import line_number
from ...facts.kubelet_layers import not_kubelets
from ...facts.model import ConfigFile, NodeFacts
from ...kubelet_fields import (
    CPU_MANAGER_POLICY,
    FEATURE_GATES,
    KUBE_RESERVED,
    MEMORY_MANAGER_POLICY,
    MEMORY_THROTTLING_FACTOR,
    OBSERVED,
    POD_PIDS_LIMIT,
    READ_ONLY_PORT,
    RESERVED_MEMORY,
    RESERVED_SYSTEM_CPUS,
    SYSTEM_RESERVED,
    TOPOLOGY_MANAGER_POLICY,
    KubeletField,
)
from ...profile import Profile
from ..kubelet_after import desired_fields
from ..kubelet_place import reads_folder, reads_main
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
LIMITS = {POD_PIDS_LIMIT: 1 << 63, READ_ONLY_PORT: 1 << 31}
"""int64 and int32."""
BEGINNING = "Begin it with the lines apiVersion: kubelet.config.k8s.io/v1beta1 and kind: KubeletConfiguration"


def _read(facts: NodeFacts) -> tuple[ConfigFile, ...]:
    """The files that kubelet decodes. Of the one inside k3s nobody wrote a main file."""
    main = (facts.kubelet.config,) if reads_main(facts.kubelet) and not facts.layout.kubelet_inside else ()
    dropins = facts.kubelet.dropins if reads_folder(facts.kubelet) else ()
    return tuple(each for each in (*main, *dropins) if each.kind != "missing" and each.problem is None)


def _kind(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    if not any(True for _each in desired_fields(profile)):
        return
    for config in _read(facts):
        wrong = not_kubelets(config.values)
        if wrong:
            yield Refusal(
                "kubelet-config-kind",
                f"kubelet does not start with this file: {'; '.join(wrong)}",
                f"{BEGINNING}; or name kubelet's own file in its --config.",
                file=config.path,
            )


def _types(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    desired = {field for field, _keys, _value in desired_fields(profile)}
    looked_at = [field for field in OBSERVED if field not in desired | TOLD_OTHERWISE] if desired else []
    for config in _read(facts):
        for field in looked_at:
            value = config.values.get(field.key)
            if value is not None and not _decodes(field, value):
                yield Refusal(
                    "kubelet-field-type",
                    f"kubelet does not start with this file: {field.key} is not {_named(field)}",
                    "Correct the value, or take it out.",
                    file=config.path,
                    line=_line(config.text, field.key),
                )


def _line(text: str | None, key: str) -> int | None:
    if text and begins_as_json(text):
        return next((line_number(text, each.key_start) for each in located_json(text).entries if each.key == key), None)
    found = re.search(rf"^[\"']?{key}[\"']?[ \t]*:", text or "", re.MULTILINE)
    return (text or "").count("\n", 0, found.start()) + 1 if found else None


def _named(field: KubeletField) -> str:
    if field is MEMORY_THROTTLING_FACTOR:
        return "a number"
    if field in LIMITS:
        return "a whole number of its size"
    if field is FEATURE_GATES:
        return "a mapping of names to true or false"
    return {
        "word": "a text (a number in quotes is one)",
        "switch": "true or false",
        "list": "a list of texts",
        "memory": "a list",
    }.get(field.shape, "a mapping of names to texts (a number in quotes is one)")


def _decodes(field: KubeletField, value: Any) -> bool:
    if field is MEMORY_THROTTLING_FACTOR:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if field in LIMITS:
        return _whole(value, LIMITS[field])
    if field.shape == "switch":
        return isinstance(value, bool)
    if field.shape == "word":
        return isinstance(value, str)
    if field.shape in ("list", "memory"):
        return isinstance(value, list) and (field.shape == "memory" or all(isinstance(each, str) for each in value))
    kind = bool if field is FEATURE_GATES else str
    return isinstance(value, Mapping) and all(isinstance(each, kind) for each in value.values())


def _whole(value: Any, limit: int) -> bool:
    """encoding/json takes 4096 and, as it comes out of YAML, 4096.0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return value == value // 1 and -limit <= value < limit


RULES: tuple[Rule, ...] = (_kind, _types)
