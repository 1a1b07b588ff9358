# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes flags out of the variables of an environment file; every other byte stays."""

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
"""pflag takes no following word for the value of a switch."""
MANUAL_REMEDY = "Take the flag out of this file by hand"
_ASSIGNED = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*=")


@dataclass(frozen=True)
class Word:
    """A word of a value: its span in the text with its quotes, and what it means."""

    start: int
    end: int
    meaning: str


def remove_flags(text: str, changes: Mapping[tuple[str, ...], Any]) -> str:
    """The text without the flags in ``changes``, whose keys are (field, flag, variable).

    ``--flag=value`` and ``--flag value`` both go, as often as they stand in the value that the variable ends up with.
    UnsupportedEdit leaves no text: a value that the next word after the variable would give, a comment among
    continued lines, unpaired quotes.
    """
    after = text
    for _field, flag, variable in changes:
        after = _without_flag(after, flag, variable)
    return after


def _without_flag(text: str, flag: str, variable: str) -> str:
    if variable not in parse_environment(text):
        return text
    if "\0" in text:
        raise UnsupportedEdit("a NUL byte stands in it", line_number(text, text.index("\0")), MANUAL_REMEDY)
    start, end = _span(text, variable)
    line = text.count("\n", 0, start) + 1
    found = list(_words(text, start, end, line))
    if [word.meaning for word in found] != split_words(parse_environment(text)[variable]):
        raise UnsupportedEdit(f"the words of {variable} cannot be told apart", line, MANUAL_REMEDY)
    gone = _removed_words(found, flag, line)
    if not gone:
        return text
    after = text
    for cut_start, cut_end in reversed(list(_cuts(text, found, gone))):
        after = after[:cut_start] + after[cut_end:]
    left = [word.meaning for number, word in enumerate(found) if number not in gone]
    expected = {**parse_environment(text), variable: None}
    if {**parse_environment(after), variable: None} != expected or split_words(
        parse_environment(after)[variable]
    ) != left:
        raise UnsupportedEdit(f"{flag} cannot be taken out of {variable} alone", line, MANUAL_REMEDY)
    return after


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each line, its line end apart."""
    for found in re.finditer(r"[^\r\n]*(\r\n|\r|\n|\Z)", text):
        yield found.start(), found.end() - len(found[1])


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith(("#", ";"))


def _span(text: str, variable: str) -> tuple[int, int]:
    """Where the value of the last assignment begins and ends, continued lines and lines within its quotes included."""
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
        raise UnsupportedEdit("the last line goes on, and none follows", line_number(text, last), MANUAL_REMEDY)
    if _is_comment(text[start:end]):
        raise UnsupportedEdit("a comment stands among continued lines", line_number(text, last), MANUAL_REMEDY)
    return end


def _words(text: str, start: int, end: int, line: int) -> Iterator[Word]:
    """The words between two places, quotes around the whole value left out."""
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
        sign = text[at]
        if not quote and (sign.isspace() or text.startswith(("\\\n", "\\\r\n"), at)):
            return at
        if sign == "\\" and quote != "'":
            at += 1
        elif sign in ("'", '"') and quote in ("", sign):
            quote = "" if quote else sign
        at += 1
    if quote:
        raise UnsupportedEdit("its quotes are not paired", line, MANUAL_REMEDY)
    return min(at, end)


def _removed_words(found: Sequence[Word], flag: str, line: int) -> frozenset[int]:
    """The numbers of the words that are the flag or its value."""
    gone: set[int] = set()
    for number, word in enumerate(found):
        name, equals, _value = word.meaning.partition("=")
        if number in gone or name.replace("_", "-") != flag:
            continue
        gone.add(number)
        if equals or flag in SWITCHES:
            continue
        if number + 1 == len(found) or found[number + 1].meaning.startswith("-"):
            raise UnsupportedEdit(f"{flag} has no value here", line, MANUAL_REMEDY)
        gone.add(number + 1)
    return frozenset(gone)


def _cuts(text: str, found: Sequence[Word], gone: frozenset[int]) -> Iterator[tuple[int, int]]:
    """Spans of words that stand side by side, with the blanks on one side of them; whole lines where they fill them."""
    kept = [number for number in range(len(found)) if number not in gone]
    for before, after in zip([-1, *kept], [*kept, len(found)], strict=True):
        first, last = before + 1, after - 1
        if first > last:
            continue
        start, end = found[first].start, found[last].end
        if after == len(found):
            yield found[before].end if before >= 0 else start, end
            continue
        behind = text.find("\n", end, found[after].start)
        if before >= 0 and behind >= 0 and "\n" in text[found[before].end : start]:
            yield text.rfind("\n", 0, start) + 1, behind + 1
        else:
            yield start, found[after].start
