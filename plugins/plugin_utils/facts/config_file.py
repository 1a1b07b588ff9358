# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A configuration file of a node: parsed; a problem is stored in it instead of raised."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..edit.kubelet_text import decode_kubelet
from ..edit.text_errors import ParseError


@dataclass(frozen=True)
class Problem:
    """Content that could not be read: the file, the reason, the line and the remedy if they are known."""

    file: str
    message: str
    line: int | None = None
    remedy: str | None = None


def advice(general: str, *problems: Problem) -> str:
    """A general remedy, followed by the remedies of these problems."""
    known = dict.fromkeys(problem.remedy for problem in problems if problem.remedy)
    return " ".join([general, *(f"{remedy}." for remedy in known)])


@dataclass(frozen=True)
class ConfigFile:
    """A configuration file of a node; ``values`` is empty if the file is missing or could not be read.

    ``ignored``: a part that its program ignores, such as a second document or a repeated key.

    ``text`` may contain secrets: it is used for the new text of the file and never reported.
    """

    path: str
    kind: str
    values: Mapping[str, Any] = field(default_factory=dict)
    problem: Problem | None = None
    changed_after_start: bool = False
    ignored: Problem | None = None
    text: str | None = field(default=None, repr=False, compare=False)


def as_missing(config: ConfigFile) -> ConfigFile:
    """The file as its program sees it if it does not read it: without values, problems and text."""
    return ConfigFile(config.path, "missing")


def without_problems(config: ConfigFile) -> ConfigFile:
    """The file without what only matters to a program that reads it."""
    return replace(config, problem=None, ignored=None, changed_after_start=False)


def changed_after(captured: Mapping[str, Any], process: Mapping[str, Any] | None) -> bool:
    """Whether a file changed after the process started. It compares ctime, because a rename keeps an old mtime."""
    if not process or process.get("started_at") is None:
        return False
    return captured.get("ctime", 0.0) > process["started_at"]


def missing_text_reason(captured: Mapping[str, Any]) -> str:
    """Why a snapshot's file entry has no text: the error of the read, or the type of the file."""
    kind = captured["kind"]
    return captured.get("error", f"is a {'special file' if kind == 'special' else kind}, not a regular file")


def read_config(
    path: str,
    captured: Mapping[str, Any],
    process: Mapping[str, Any] | None,
    parse: Callable[[str], dict[str, Any]],
) -> ConfigFile:
    """ConfigFile of a snapshot's file entry."""
    kind = captured["kind"]
    if "text" not in captured:
        problem = (
            None if kind == "missing" else Problem(path, missing_text_reason(captured), remedy=captured.get("remedy"))
        )
        return ConfigFile(path, kind, problem=problem)
    stale = changed_after(captured, process)
    try:
        values = parse(captured["text"])
    except ParseError as error:
        problem = Problem(path, error.message, error.line, error.remedy)
        return ConfigFile(path, kind, problem=problem, changed_after_start=stale)
    return ConfigFile(path, kind, values, changed_after_start=stale, text=captured["text"])


def read_kubelet_config(path: str, captured: Mapping[str, Any], process: Mapping[str, Any] | None) -> ConfigFile:
    """ConfigFile of a kubelet file, with the part that kubelet ignores."""
    notes: list[ParseError] = []

    def parse(text: str) -> dict[str, Any]:
        values, errors = decode_kubelet(text)
        notes.extend(errors)
        return values

    config = read_config(path, captured, process, parse)
    return replace(config, ignored=Problem(path, notes[0].message, notes[0].line, notes[0].remedy)) if notes else config


def value_at(values: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    """The value at a path of keys; None if a key is missing."""
    value: Any = values
    for key in keys:
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return value
