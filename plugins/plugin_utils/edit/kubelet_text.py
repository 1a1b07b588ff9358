# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's configuration file as a text: its language, its values, their lines, and its edits.

kubelet decodes with the UniversalDecoder, which takes a text for JSON when its first character that is not whitespace
is `{` (k8s.io/apimachinery pkg/util/yaml, hasPrefix; pkg/runtime/serializer/recognizer). YAML's flow style, which
begins alike, is then an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from .document_changes import Changes
from .json_splice import edit_json
from .json_syntax import parse_json_nodes, read_object
from .readers import read_first_document
from .splice import BOM, Envelope, line_number
from .text_errors import ParseError
from .yaml_splice import edit_yaml
from .yaml_syntax import Node, parse_nodes

FLOW_REMEDY = "Write it as JSON, with keys and texts in double quotes, or one key a line without the outer braces"


def begins_as_json(text: str) -> bool:
    """Whether a text is JSON by its first character; with a byte order mark kubelet reads it as YAML all the same."""
    return text.removeprefix(BOM).lstrip().startswith("{")


def decodes_as_json(text: str) -> bool:
    """Whether kubelet takes a text for JSON."""
    return begins_as_json(text) and not text.startswith(BOM)


def read_kubelet(text: str) -> dict[str, Any]:
    """The values of a kubelet file, in JSON or YAML; {} for an empty one.

    ParseError where kubelet reads none, or takes no notice of a part (``decode_kubelet``).
    """
    values, notes = decode_kubelet(text)
    for note in notes:
        raise note
    return values


def decode_kubelet(text: str) -> tuple[dict[str, Any], tuple[ParseError, ...]]:
    """The values of a kubelet file as kubelet decodes them, and of what it takes no notice.

    Its strict decoding fails over a repeated key, and then it decodes leniently and warns (pkg/kubelet/kubeletconfig/
    util/codec); of several documents it reads the first. ParseError where it does not start.
    """
    if not begins_as_json(text):
        return read_first_document(text)
    try:
        return read_object(text)
    except ParseError as error:
        if not decodes_as_json(text):
            return read_first_document(text)
        if error.remedy:
            raise
        message = f"begins with {{, so that kubelet reads it as JSON, and it is {error.message}"
        raise ParseError(message, error.line, error.column, FLOW_REMEDY) from None


AGENT_KEYS = ("cgroupDriver", "cpuManagerPolicy")
"""Volcano's pkg/agent/utils/cgroup/cgroup.go compares whole lines: it takes no quotes off and knows no comments."""


def edit_kubelet(text: str, changes: Changes) -> str:
    """``edit_json`` of a text that kubelet takes for JSON, where agents find no line whatever is written.

    Otherwise ``edit_yaml``, then the agents' keys among ``changes`` without quotes, their comment on a line of its own.
    """
    if begins_as_json(text):
        return edit_json(text, changes, read_kubelet)
    agents = [keys[0] for keys in changes if len(keys) == 1 and keys[0] in AGENT_KEYS]
    return edit_yaml(text, changes, lambda after: plain_lines(after, agents))


def plain_lines(text: str, keys: Iterable[str]) -> str:
    """The text with ``key: word`` for each key of the top level that has quotes or a comment."""
    after = text
    for key in keys:
        pattern = re.compile(rf"^{key}:[ \t]*(['\"]?)([A-Za-z]+)\1[ \t]*(#[^\r\n]*)?(\r?\n|\Z)", re.MULTILINE)
        found = pattern.search(after)
        if found:
            after = after[: found.start()] + _plain_line(key, found) + after[found.end() :]
    return after


def _plain_line(key: str, found: re.Match[str]) -> str:
    comment, end = found[3], found[4]
    above = f"{comment.rstrip()}{end or chr(10)}" if comment else ""
    return f"{above}{key}: {found[2]}{end}"


def line_of(text: str, path: Sequence[str | int]) -> int | None:
    """The line of the key or item at the end of a path, or of the last one above it that is written there."""
    _mark, body = Envelope.of(text)
    node = parse_json_nodes(body) if begins_as_json(text) else parse_nodes(body)
    at = None
    for part in path:
        at, node = _node_below(node, part, at)
    return None if at is None else line_number(body, at)


def _node_below(node: Node | None, part: str | int, at: int | None) -> tuple[int | None, Node | None]:
    if node is None:
        return at, None
    if isinstance(part, int):
        item = node.items[part] if part < len(node.items) else None
        return (item.start, item) if item else (at, None)
    # Of a repeated key the last one counts.
    entry = next((entry for entry in reversed(node.entries) if entry.key == part), None)
    return (entry.key_start, entry.node) if entry else (at, None)
