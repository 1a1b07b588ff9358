# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts with the same text as one group, so that a fleet is shown in a few lines."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from ...module_utils.safe_text import one_line
from .node_block import render_line
from .readable_numbers import render_count

WRAPPED = 130
"""Width of a text, beside the hosts in its first line."""
MAX_LINES = 2
"""Lines of one text that are shown."""
HOST = "HOST"
"""Stands for the name of the host in a text of several hosts."""

LimitOption = Callable[[str, Collection[str]], str]
"""The option ``--limit`` for some hosts, empty for all. The first argument is a name for the file of a long list."""


class HostGroup(NamedTuple):
    """Hosts in the order of the inventory, and their text."""

    text: str
    hosts: tuple[str, ...]


def without_name(text: str, host: str) -> str:
    """The text with ``HOST`` in place of the host's name."""
    return re.sub(rf"(?<![\w.-]){re.escape(host)}(?![\w-]|\.\w)", HOST, text)


def group_texts(texts: Iterable[tuple[str, str]]) -> list[HostGroup]:
    """Groups of the hosts whose texts differ at most in the host's name, the largest first.

    ``texts``: (host, text). The group of a single host has the text with the host's name.
    """
    groups: dict[str, list[tuple[str, str]]] = {}
    for host, text in texts:
        groups.setdefault(without_name(text, host), []).append((host, text))
    merged = (
        HostGroup(common if len(members) > 1 else members[0][1], tuple(dict.fromkeys(host for host, _text in members)))
        for common, members in groups.items()
    )
    return sorted(merged, key=lambda group: -len(group.hosts))


def render_text_groups(
    groups: Sequence[HostGroup], name: str, limit: LimitOption, *, most: int, state: str = ""
) -> Iterator[str]:
    """The hosts and the text of each group. ``most``: groups that are shown; the others are counted and named.

    ``state``: a word between hosts and text. ``name``: for the files of long lists of hosts.
    """
    shown = groups if len(groups) <= most else groups[: most - 1]
    for number, group in enumerate(shown, 1):
        first, *further = _first_lines(group.text)
        label = _label(group.hosts, state)
        yield render_line(f"{label}: {first}") if first else label
        yield from (f"  {line}" for line in further)
        if len(group.hosts) > 1:
            yield from _option(limit(f"{name}-{number}", group.hosts))
    hidden = groups[len(shown) :]
    if hidden:
        hosts = tuple(host for group in hidden for host in group.hosts)
        yield f"{_label(hosts, state)}: {len(hidden)} further messages, which -v shows"
        yield from _option(limit(f"{name}-further", hosts))


def _option(option: str) -> Iterator[str]:
    if option:
        yield f"  {option}"


def _label(hosts: Sequence[str], state: str) -> str:
    label = hosts[0] if len(hosts) == 1 else render_count(len(hosts))
    return f"{label} {state}" if state else label


def _first_lines(text: str) -> list[str]:
    """The first lines of a text, wrapped to the width of the report."""
    lines = [
        render_line(line)
        for paragraph in text.splitlines()
        for line in textwrap.wrap(one_line(paragraph), WRAPPED, break_on_hyphens=False)
    ] or [""]
    more = [f"… {render_count(len(lines) - MAX_LINES, 'more line')}, which -v shows"] if len(lines) > MAX_LINES else []
    return [*lines[:MAX_LINES], *more]
