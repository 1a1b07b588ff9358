# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A configuration file of a node: parsed; a problem is stored in it instead of raised."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any

from ..edit.kubelet_text import decode_kubelet
from ..edit.syntax_messages import RepeatedKey
from ..edit.text_errors import ParseError


class Cause(Enum):
    """Why the values of a file are unknown, or are not used."""

    NOT_READ = auto()
    """The node did not let the collection read the file; what its program does with it is unknown."""
    INVALID = auto()
    """The program that reads the file refuses its content."""
    REPEATED_KEY = auto()
    """Programs differ in what they do with a key that a file has twice."""


@dataclass(frozen=True)
class Problem:
    """Content that is unknown or not used: the file, the reason, the line and the remedy if they are known."""

    file: str
    message: str
    line: int | None = None
    remedy: str | None = None
    cause: Cause = Cause.INVALID


CORRECT = "Correct the file"


def advice(consequence: str, *problems: Problem) -> str:
    """The remedies of these problems, then what happens until they are followed."""
    remedies = dict.fromkeys((problem.remedy or CORRECT).rstrip(".") for problem in problems)
    return " ".join([*(f"{remedy}." for remedy in remedies), consequence])


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


NOT_READ_REMEDY = "Use become: true with a user that may read it"
REGULAR_FILE_REMEDY = "Replace it with a regular file"


def missing_text(path: str, captured: Mapping[str, Any]) -> Problem:
    """Why a snapshot's file entry has no text: the error of the read, or the type of the file."""
    if "error" in captured:
        remedy = captured.get("remedy") or NOT_READ_REMEDY
        return Problem(path, f"was not read: {captured['error']}", remedy=remedy, cause=Cause.NOT_READ)
    kind = "special file" if captured["kind"] == "special" else captured["kind"]
    return Problem(path, f"is a {kind}, not a regular file", remedy=REGULAR_FILE_REMEDY)


def unread_files(listing: Mapping[str, Any], limit_remedy: str) -> Problem | None:
    """Why some files of a recorded directory are unknown: an error, or more files than the limit; None if none are."""
    if listing.get("error"):
        return missing_text(listing["folder"], listing)
    if listing.get("left_out"):
        message = f"{listing['left_out']} of its files were not read"
        return Problem(listing["folder"], message, remedy=limit_remedy, cause=Cause.NOT_READ)
    return None


def read_config(
    path: str,
    captured: Mapping[str, Any],
    process: Mapping[str, Any] | None,
    parse: Callable[[str], dict[str, Any]],
) -> ConfigFile:
    """ConfigFile of a snapshot's file entry."""
    kind = captured["kind"]
    if "text" not in captured:
        return ConfigFile(path, kind, problem=None if kind == "missing" else missing_text(path, captured))
    stale = changed_after(captured, process)
    try:
        values = parse(captured["text"])
    except ParseError as error:
        return ConfigFile(path, kind, problem=_parse_problem(path, error), changed_after_start=stale)
    return ConfigFile(path, kind, values, changed_after_start=stale, text=captured["text"])


def _parse_problem(path: str, error: ParseError) -> Problem:
    cause = Cause.REPEATED_KEY if isinstance(error, RepeatedKey) else Cause.INVALID
    return Problem(path, error.message, error.line, error.remedy, cause)


def read_kubelet_config(path: str, captured: Mapping[str, Any], process: Mapping[str, Any] | None) -> ConfigFile:
    """ConfigFile of a kubelet file, with the part that kubelet ignores."""
    notes: list[ParseError] = []

    def parse(text: str) -> dict[str, Any]:
        values, errors = decode_kubelet(text)
        notes.extend(errors)
        return values

    config = read_config(path, captured, process, parse)
    return replace(config, ignored=_parse_problem(path, notes[0])) if notes else config


def value_at(values: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    """The value at a path of keys; None if a key is missing."""
    value: Any = values
    for key in keys:
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return value
