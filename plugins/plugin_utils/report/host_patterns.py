# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Short patterns for ``--limit`` that match exactly the hosts of a set.

Rules for patterns: ansible-core, lib/ansible/inventory/manager.py. ``node[001:057]`` is a range only in an inventory
file; in a pattern the brackets contain positions in a group. So ranges are written as a regular expression (``~``).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

Groups = Mapping[str, Collection[str]]
"""Hosts of each group of the inventory."""

PLAIN = 45
"""Characters up to which a list of names is used, because it is the most readable form."""
LONGEST = 120
MAX_EXCLUDED = 4
_TRANSIENT = ("ungrouped", "colocation_queue", "colocation_done")
"""Groups that another run does not have, or has with other hosts: the playbooks create the latter ones."""
_SAFE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
"""Names without characters that have a meaning in a pattern."""
_ONE_CHARACTER = re.compile(r"\\?.|\[[^\]]+\]")


def sort_hosts(hosts: Iterable[str]) -> list[str]:
    """The distinct names, numbers in them by value: node2 before node10."""
    return sorted(set(hosts), key=lambda name: [int(part) if part.isdigit() else part for part in _split_numbers(name)])


def _split_numbers(name: str) -> list[str]:
    """Texts and numbers in turn, beginning with a text."""
    return re.split(r"([0-9]+)", name)


def host_pattern(hosts: Collection[str], groups: Groups) -> str | None:
    """The pattern of some hosts: a list of names, a group, or a regular expression. None if it would be too long."""
    names = sort_hosts(hosts)
    listed = ",".join(names)
    if not names or not all(map(_SAFE.fullmatch, names)):
        return None
    if len(listed) <= PLAIN or len(names) == 1:
        return listed
    patterns = [listed, *_group_patterns(frozenset(names), groups), *_regular_patterns(names, groups)]
    shortest = min(patterns, key=len)
    return shortest if len(shortest) <= LONGEST else None


def _group_patterns(hosts: frozenset[str], groups: Groups) -> Iterator[str]:
    """A group that has these hosts, without its few other hosts."""
    for group, members in groups.items():
        excluded = frozenset(members) - hosts
        is_usable = _SAFE.fullmatch(group) and group not in _TRANSIENT
        if is_usable and len(excluded) <= MAX_EXCLUDED and hosts.issubset(members):
            yield ",".join([group, *(f"!{name}" for name in sort_hosts(excluded))])


def _regular_patterns(names: Sequence[str], groups: Groups) -> Iterator[str]:
    """A regular expression of the names. Ansible also compares it with the names of groups."""
    pattern = f"{regular_expression(names)}$"
    if not any(re.match(pattern, group) for group in groups):
        yield f"~{pattern}"


def regular_expression(names: Collection[str]) -> str:
    """A regular expression of exactly these names, which have letters, digits and ``_.-`` only."""
    ordered = sorted(set(names))
    suffix = _common_prefix([name[::-1] for name in ordered])[::-1] if len(ordered) > 1 else ""
    return _expression([name.removesuffix(suffix) for name in ordered]) + _escape(suffix)


def _expression(names: Sequence[str]) -> str:
    prefix = _common_prefix(names)
    remainders = sorted({name[len(prefix) :] for name in names})
    if remainders == [""]:
        return _escape(prefix)
    parts = _alternatives([remainder for remainder in remainders if remainder])
    text = "|".join(parts)
    is_optional = not remainders[0]
    if len(parts) > 1 or (is_optional and not _ONE_CHARACTER.fullmatch(text)):
        text = f"({text})"
    return _escape(prefix) + text + ("?" if is_optional else "")


def _common_prefix(names: Collection[str]) -> str:
    first, last = min(names), max(names)
    length = next((at for at, character in enumerate(first) if not last.startswith(character, at)), len(first))
    return first[:length]


def _alternatives(names: Sequence[str]) -> list[str]:
    """An expression for each set of first characters that have the same remainders behind them."""
    firsts: dict[str, list[str]] = {}
    for first, members in groupby(names, key=lambda name: name[0]):
        firsts.setdefault(_expression([name[1:] for name in members]), []).append(first)
    return [_one_of(characters) + remainder for remainder, characters in firsts.items()]


def _one_of(characters: Sequence[str]) -> str:
    """A class of characters, with ranges from three on."""
    if len(characters) == 1:
        return _escape(characters[0])
    runs: list[str] = []
    for character in characters:
        if runs and ord(character) == ord(runs[-1][-1]) + 1:
            runs[-1] += character
        else:
            runs.append(character)
    return "[" + "".join(f"{run[0]}-{run[-1]}" if len(run) > 2 else run.replace("-", r"\-") for run in runs) + "]"


def _escape(text: str) -> str:
    return text.replace(".", r"\.")
