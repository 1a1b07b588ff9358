# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that kubelet does not decode: of another kind, or with a field of another type.

pkg/kubelet/kubeletconfig/util/codec: the text becomes JSON, which is decoded by the types of config/v1beta1/types.go; a
number or a list does not become a string there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..edit.json_nodes import located_json
from ..edit.kubelet_syntax import begins_as_json
from ..edit.lines import line_number
from ..kubelet_fields import (
    FEATURE_GATES,
    MEMORY_THROTTLING_FACTOR,
    POD_PIDS_LIMIT,
    READ_ONLY_PORT,
    KubeletField,
)
from .kubelet_layers import not_kubelets
from .model import ConfigFile, Problem

LIMITS = {POD_PIDS_LIMIT: 1 << 63, READ_ONLY_PORT: 1 << 31}
"""int64 and int32."""


def kind_problem(config: ConfigFile) -> Problem | None:
    """Why kubelet takes the file for another's: of an empty file, or one without these keys, the first line."""
    wrong = not_kubelets(config.values)
    if not wrong:
        return None
    named = (key for key in ("apiVersion", "kind") if key in config.values and wrong[0].startswith(key))
    line = next((_line(config.text, key) for key in named), None)
    return Problem(config.path, "; ".join(wrong), line or 1)


def type_problems(config: ConfigFile, fields: Iterable[KubeletField]) -> Iterator[Problem]:
    """Each of these fields whose value kubelet cannot decode, with its line."""
    for field in fields:
        value = config.values.get(field.key)
        if value is not None and not _decodes(field, value):
            yield Problem(config.path, f"{field.key} is not {_named(field)}", _line(config.text, field.key))


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
