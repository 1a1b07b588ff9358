# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The text of a slice's unit file or drop-in, and what such texts assign: systemd.unit(5), systemd.syntax(7)."""

from __future__ import annotations

import re
from typing import Iterator, Sequence

from ..errors import ColocationError
from .properties import Setting

OURS = "# Kept by the Ansible collection volcano.colocation; what is changed here by hand is lost at its next run."
_UNIT_NAME = re.compile(r"[A-Za-z0-9:_.\\@-]+\.(?:service|slice|target|socket|mount|path|timer|device|swap|automount)")


def is_ours(text: str) -> bool:
    """Whether the first line says so."""
    return text.startswith(OURS + "\n")


def unit_file(description: str, before: Sequence[str], wants: Sequence[str], settings: Sequence[Setting]) -> str:
    """A slice that is there from early boot until the end, as systemd's own units/system.slice is."""
    lines = [
        OURS,
        "[Unit]",
        f"Description={_description(description)}",
        "DefaultDependencies=no",
        f"Before={' '.join(['slices.target', *_units(before)])}",
        *(f"Wants={unit}" for unit in wants),
        "",
        *_section(settings),
        "",
        "[Install]",
        "WantedBy=slices.target",
    ]
    return "\n".join(lines) + "\n"


def drop_in(settings: Sequence[Setting]) -> str:
    return "\n".join([OURS, *_section(settings)]) + "\n"


def assignments(text: str, section: str = "Slice") -> Iterator[tuple[str, str]]:
    """Names and values of a section, in order; a line that ends with a backslash goes on in the next."""
    current = ""
    for line in re.sub(r"\\\n", " ", text).splitlines():
        line = line.strip()
        if line.startswith("[") and line.endswith("]"):
            current = line[1:-1]
        elif current == section and "=" in line and line[0] not in "#;":
            name, _equals, value = line.partition("=")
            yield name.rstrip(), value.lstrip()


def without_values(text: str) -> str:
    """The text without its [Slice] section: what no D-Bus call can change."""
    return re.sub(r"^\[Slice\]\n(?:[^\[\n].*\n)*", "", text, flags=re.MULTILINE)


def _section(settings: Sequence[Setting]) -> list[str]:
    return ["[Slice]", *(line for each in settings for line in each.lines)]


def _description(text: str) -> str:
    plain = text.strip()
    if not plain.isprintable() or plain.endswith("\\"):
        raise ColocationError(f"the description {text!r} does not fit in a line of a unit file", "Use one plain line")
    return plain.replace("%", "%%")


def _units(names: Sequence[str]) -> Sequence[str]:
    for name in names:
        if not _UNIT_NAME.fullmatch(name):
            raise ColocationError(f"before: {name!r} is not the name of a unit", "Write it like kubelet.service")
    return names
