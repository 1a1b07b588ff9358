# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's configuration file: its language (JSON or YAML), its values, their lines, and its edits.

kubelet decodes with the UniversalDecoder, which reads a text as JSON if its first character that is not whitespace
is `{` (k8s.io/apimachinery pkg/util/yaml, hasPrefix; pkg/runtime/serializer/recognizer). YAML's flow style, which
also begins with `{`, is then an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from .document_changes import Changes
from .json_splice import edit_json
from .json_syntax import NotJson, parse_json_nodes, read_object
from .readers import read_first_document
from .splice import BOM, Envelope, line_number
from .text_errors import ParseError
from .yaml_splice import edit_yaml
from .yaml_syntax import Node, parse_nodes

WITHOUT_BRACES = "write YAML: one key a line, without the outer braces"


def begins_as_json(text: str) -> bool:
    """Whether a text is JSON by its first character; kubelet still reads one with a byte order mark as YAML."""
    return text.removeprefix(BOM).lstrip().startswith("{")


def decodes_as_json(text: str) -> bool:
    """Whether kubelet reads a text as JSON."""
    return begins_as_json(text) and not text.startswith(BOM)


def read_kubelet(text: str) -> dict[str, Any]:
    """The values of a kubelet file, in JSON or YAML; {} for an empty one.

    ParseError if kubelet cannot read it, or would ignore a part of it (``decode_kubelet``).
    """
    values, notes = decode_kubelet(text)
    for note in notes:
        raise note
    return values


def decode_kubelet(text: str) -> tuple[dict[str, Any], tuple[ParseError, ...]]:
    """The values of a kubelet file as kubelet decodes them, and what kubelet ignores.

    Strict decoding fails for a repeated key; then kubelet decodes leniently and warns (pkg/kubelet/kubeletconfig/
    util/codec). Of several documents it reads the first. ParseError if kubelet would not start.
    """
    if not begins_as_json(text):
        return read_first_document(text)
    try:
        return read_object(text)
    except ParseError as error:
        if not decodes_as_json(text):
            return read_first_document(text)
        if not isinstance(error, NotJson):
            raise
        message = f"begins with {{, so kubelet reads it as JSON, which does not allow this: {error.message}"
        raise ParseError(message, error.line, error.column, f"{error.remedy}, or {WITHOUT_BRACES}") from None


AGENT_KEYS = ("cgroupDriver", "cpuManagerPolicy")
"""Volcano's pkg/agent/utils/cgroup/cgroup.go compares whole lines: it does not handle quotes or comments."""


def edit_kubelet(text: str, changes: Changes) -> str:
    """Edit a JSON text with ``edit_json``; agents cannot find a plain line in JSON in any case.

    Edit any other text with ``edit_yaml``, then write the agents' keys in ``changes`` without quotes, and their
    comments on separate lines.
    """
    if begins_as_json(text):
        return edit_json(text, changes, read_kubelet)
    agents = [keys[0] for keys in changes if len(keys) == 1 and keys[0] in AGENT_KEYS]
    return edit_yaml(text, changes, lambda after: plain_lines(after, agents))


def plain_lines(text: str, keys: Iterable[str]) -> str:
    """The text with a plain ``key: word`` line for each top-level key that has quotes or a comment."""
    after = text
    for key in keys:
        pattern = re.compile(rf"^{key}:[ \t]*(['\"]?)([A-Za-z]+)\1[ \t]*(#[^\r\n]*)?(\r?\n|\Z)", re.MULTILINE)
        match = pattern.search(after)
        if match:
            after = after[: match.start()] + _plain_line(key, match) + after[match.end() :]
    return after


def _plain_line(key: str, match: re.Match[str]) -> str:
    comment, end = match[3], match[4]
    above = f"{comment.rstrip()}{end or chr(10)}" if comment else ""
    return f"{above}{key}: {match[2]}{end}"


def line_of(text: str, path: Sequence[str | int]) -> int | None:
    """The line of the key or item at the end of a path, or of the innermost one above it that the text contains."""
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
    # The last of repeated keys is effective.
    entry = next((entry for entry in reversed(node.entries) if entry.key == part), None)
    return (entry.key_start, entry.node) if entry else (at, None)
