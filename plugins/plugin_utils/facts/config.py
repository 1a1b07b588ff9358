# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A captured configuration file, parsed, with its problem named instead of raised."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..edit.errors import ParseError
from ..edit.kubelet_syntax import decode_kubelet
from .config_file import ConfigFile, Problem


def changed_after(captured: Mapping[str, Any], process: Mapping[str, Any] | None) -> bool:
    """Whether a running process may not have read this content. ctime, because a rename keeps an old mtime."""
    if not process or process.get("started_at") is None:
        return False
    return captured.get("ctime", 0.0) > process["started_at"]


def read_config(
    path: str,
    captured: Mapping[str, Any],
    process: Mapping[str, Any] | None,
    parse: Callable[[str], dict[str, Any]],
) -> ConfigFile:
    """ConfigFile of a snapshot's file entry."""
    kind = captured["kind"]
    if "text" not in captured:
        message = captured.get("error", f"is a {kind}, not a regular file")
        problem = None if kind == "missing" else Problem(path, message, remedy=captured.get("remedy"))
        return ConfigFile(path, kind, problem=problem)
    stale = changed_after(captured, process)
    try:
        values = parse(captured["text"])
    except ParseError as error:
        problem = Problem(path, error.message, error.line, error.remedy)
        return ConfigFile(path, kind, problem=problem, changed_after_start=stale)
    return ConfigFile(path, kind, values, changed_after_start=stale, text=captured["text"])


def read_kubelet_config(path: str, captured: Mapping[str, Any], process: Mapping[str, Any] | None) -> ConfigFile:
    """ConfigFile of a kubelet file, with what kubelet takes no notice of."""
    notes: list[ParseError] = []

    def parse(text: str) -> dict[str, Any]:
        values, found = decode_kubelet(text)
        notes.extend(found)
        return values

    config = read_config(path, captured, process, parse)
    return replace(config, ignored=Problem(path, notes[0].message, notes[0].line, notes[0].remedy)) if notes else config


def nested(values: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    """The value at a path of keys; None where the path ends early."""
    found: Any = values
    for key in keys:
        if not isinstance(found, Mapping) or key not in found:
            return None
        found = found[key]
    return found
