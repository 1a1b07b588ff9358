# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of a KubeletConfiguration: in JSON, or in YAML with plain lines where agents look for words."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .changes import Changes
from .json_splice import edit_json
from .kubelet_syntax import begins_as_json, read_kubelet
from .yaml_splice import edit_yaml

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
            after = after[: found.start()] + _plain(key, found) + after[found.end() :]
    return after


def _plain(key: str, found: re.Match[str]) -> str:
    comment, end = found[3], found[4]
    above = f"{comment.rstrip()}{end or chr(10)}" if comment else ""
    return f"{above}{key}: {found[2]}{end}"
