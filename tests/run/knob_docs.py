# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of docs/qos.md, from the registry of knobs."""

from __future__ import annotations

import json
import re

from ansible_collections.volcano.colocation.plugins.module_utils.settings.knob import Interface, Kind, Knob
from ansible_collections.volcano.colocation.plugins.module_utils.settings.registry import KNOBS

HEAD = (
    "| setting | takes | default | cgroup v1 | cgroup v2 | systemd | note |",
    "|---|---|---|---|---|---|---|",
)


def knobs_table() -> str:
    return "\n".join((*HEAD, *map(row, KNOBS.values()), ""))


def row(knob: Knob) -> str:
    """A line of the table."""
    files = (_files(knob.v1), _files(knob.v2))
    cells = (f"`{knob.name}`", _values(knob), _default(knob), *files, _property(knob), knob.note)
    return re.sub(r" +", " ", f"| {' | '.join(cells)} |")


def _files(interface: Interface | None) -> str:
    if interface is None:
        return ""
    return (" or " if interface.any_of else ", ").join(f"`{file.name}`" for file in interface.files)


def _property(knob: Knob) -> str:
    prop = knob.unit_property
    if prop is None:
        return ""
    return f"{', '.join(f'`{name}`' for name in prop.names)} {prop.since}{', v1 too' if prop.on_v1 else ''}"


def _values(knob: Knob) -> str:
    if knob.kind in (Kind.BOOLEAN, Kind.DEVICES, Kind.CHOICE):
        values = " or ".join(f"`{choice}`" for choice in knob.choices) or knob.unit
    elif knob.kind is Kind.CPU_TIME:
        values = "CPUs, up to 8192"
    elif knob.kind is Kind.BYTES:
        values = f"bytes, from {knob.minimum}" if knob.minimum else "bytes"
    elif knob.kind is Kind.CPUS:
        values = knob.unit
    else:
        values = f"{knob.unit}, {knob.minimum} to {knob.maximum}"
    return values + (", `max`" if knob.unlimited else "")


def _default(knob: Knob) -> str:
    if knob.unlimited and knob.default is None:
        return "`max`"
    if knob.default == ():
        return ""
    return f"`{knob.default if isinstance(knob.default, str) else json.dumps(knob.default)}`"
