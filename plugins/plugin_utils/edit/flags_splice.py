# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Remove flags from the variables of an environment file; every other byte stays."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...module_utils.systemd.unit_syntax import parse_environment, split_words
from ..profile.field_schema import FieldType
from ..profile.kubelet_fields import OBSERVED
from .splice import line_number
from .text_errors import UnsupportedEdit

SWITCHES = frozenset(field.flag for field in OBSERVED if field.type is FieldType.SWITCH)
"""For a switch, pflag does not read the next word as the value."""
MANUAL_REMEDY = "Remove the flag from this file by hand"
_ASSIGNED = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*=")


@dataclass(frozen=True)
class Word:
    """A word of a value: its range in the text with its quotes, and its meaning without them."""

    start: int
    end: int
    meaning: str


def remove_flags(text: str, changes: Mapping[tuple[str, ...], Any]) -> str:
    """The text without the flags in ``changes``, whose keys are (field, flag, variable).

    ``--flag=value`` and ``--flag value`` are removed, each time they occur in the last value of the variable.
    UnsupportedEdit: a flag whose value is not in the variable, a comment among continued lines, unpaired quotes.
    """
    after = text
    for _field, flag, variable in changes:
        after = _without_flag(after, flag, variable)
    return after


def _without_flag(text: str, flag: str, variable: str) -> str:
    if variable not in parse_environment(text):
        return text
    if "\0" in text:
        raise UnsupportedEdit("it contains a NUL byte", line_number(text, text.index("\0")), MANUAL_REMEDY)
    start, end = _span(text, variable)
    line = text.count("\n", 0, start) + 1
    words = list(_words(text, start, end, line))
    if [word.meaning for word in words] != split_words(parse_environment(text)[variable]):
        raise UnsupportedEdit(f"the words of {variable} cannot be separated", line, MANUAL_REMEDY)
    removed = _removed_words(words, flag, line)
    if not removed:
        return text
    after = text
    for cut_start, cut_end in reversed(list(_cuts(text, words, removed))):
        after = after[:cut_start] + after[cut_end:]
    remaining = [word.meaning for number, word in enumerate(words) if number not in removed]
    expected = {**parse_environment(text), variable: None}
    if {**parse_environment(after), variable: None} != expected or split_words(
        parse_environment(after)[variable]
    ) != remaining:
        raise UnsupportedEdit(
            f"{flag} cannot be removed from {variable} without changing other words", line, MANUAL_REMEDY
        )
    return after


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each line, without its line end."""
    for match in re.finditer(r"[^\r\n]*(\r\n|\r|\n|\Z)", text):
        yield match.start(), match.end() - len(match[1])


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith(("#", ";"))


def _span(text: str, variable: str) -> tuple[int, int]:
    """Start and end of the value of the last assignment, with continued lines and lines within its quotes."""
    span = (0, 0)
    lines = _lines(text)
    for start, end in lines:
        assigned = _ASSIGNED.match(text, start, end)
        last = end
        while text[start:last].endswith("\\") and not _is_comment(text[start:end]):
            last = _next_end(text, lines, last)
        if assigned and not _is_comment(text[start:end]):
            value = text[assigned.end() : last].lstrip()
            while value[:1] in ("'", '"') and value[0] not in value[1:] and last < len(text):
                last = _next_end(text, lines, last)
                value = text[assigned.end() : last].lstrip()
            if assigned[1] == variable:
                span = (assigned.end(), last)
    return span


def _next_end(text: str, lines: Iterator[tuple[int, int]], last: int) -> int:
    start, end = next(lines, (last, last))
    if end == last:
        raise UnsupportedEdit("the last line is continued, but no line follows", line_number(text, last), MANUAL_REMEDY)
    if _is_comment(text[start:end]):
        raise UnsupportedEdit("a comment is among continued lines", line_number(text, last), MANUAL_REMEDY)
    return end


def _words(text: str, start: int, end: int, line: int) -> Iterator[Word]:
    """The words between two positions, without quotes around the whole value."""
    whole = text[start:end]
    start, end = start + len(whole) - len(whole.lstrip()), start + len(whole.rstrip())
    if end - start > 1 and text[start] == text[end - 1] and text[start] in "'\"":
        start, end = start + 1, end - 1
    at = start
    while at < end:
        separator = re.compile(r"(?:\s|\\\r?\n)+").match(text, at, end)
        at = separator.end() if separator else at
        if at < end:
            stop = _end_of_word(text, at, end, line)
            meaning = split_words(text[at:stop])
            if len(meaning) != 1:
                raise UnsupportedEdit("its quotes are not paired", line, MANUAL_REMEDY)
            yield Word(at, stop, meaning[0])
            at = stop


def _end_of_word(text: str, at: int, end: int, line: int) -> int:
    quote = ""
    while at < end:
        character = text[at]
        if not quote and (character.isspace() or text.startswith(("\\\n", "\\\r\n"), at)):
            return at
        if character == "\\" and quote != "'":
            at += 1
        elif character in ("'", '"') and quote in ("", character):
            quote = "" if quote else character
        at += 1
    if quote:
        raise UnsupportedEdit("its quotes are not paired", line, MANUAL_REMEDY)
    return min(at, end)


def _removed_words(words: Sequence[Word], flag: str, line: int) -> frozenset[int]:
    """The indexes of the words that are the flag or its value."""
    removed: set[int] = set()
    for number, word in enumerate(words):
        name, equals, _value = word.meaning.partition("=")
        if number in removed or name.replace("_", "-") != flag:
            continue
        removed.add(number)
        if equals or flag in SWITCHES:
            continue
        if number + 1 == len(words) or words[number + 1].meaning.startswith("-"):
            raise UnsupportedEdit(f"{flag} has no value here", line, MANUAL_REMEDY)
        removed.add(number + 1)
    return frozenset(removed)


def _cuts(text: str, words: Sequence[Word], removed: frozenset[int]) -> Iterator[tuple[int, int]]:
    """Ranges of adjacent removed words, with the whitespace on one side; whole lines if the words fill them."""
    remaining = [number for number in range(len(words)) if number not in removed]
    for before, after in zip([-1, *remaining], [*remaining, len(words)], strict=True):
        first, last = before + 1, after - 1
        if first > last:
            continue
        start, end = words[first].start, words[last].end
        if after == len(words):
            yield words[before].end if before >= 0 else start, end
            continue
        behind = text.find("\n", end, words[after].start)
        if before >= 0 and behind >= 0 and "\n" in text[words[before].end : start]:
            yield text.rfind("\n", 0, start) + 1, behind + 1
        else:
            yield start, words[after].start
