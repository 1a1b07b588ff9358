# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kernel's files say of values that systemd already holds.

The two part when somebody writes a file, and when systemd reads other values for a unit: systemd 257 was seen to leave
the files of a unit alone at a daemon-reload. A property that is set once more, to the same value, brings them together.
"""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from ..cgroup.hierarchy import Hierarchies
from ..host import Host
from ..qos.conversion import Backend, of_properties, reading, settled
from ..qos.knob import Knob
from ..qos.knobs import KNOBS
from ..qos.shown import shown
from .properties import Setting
from .property import INFINITY


def unlike(host: Host, tree: Hierarchies, unit: Mapping[str, Any], wanted: Sequence[Setting]) -> dict[str, str]:
    """D-Bus name: what the kernel has instead, in words; of those of ``wanted`` that are one number in systemd."""
    found = {}
    for setting in wanted:
        knob = _knob(setting, tree.mode)
        if knob is not None and setting.holds(unit):
            said = _unlike(knob, _texts(host, tree, unit.get("ControlGroup", ""), knob), tree.mode, setting)
            if said:
                found[setting.value.name] = said
    return found


def _knob(setting: Setting, mode: str) -> Knob | None:
    """The knob that is the property and nothing else; idle has the property of the weight and is left out."""
    held = setting.value
    if held.signature != "t" or (held.name == "CPUWeight" and held.value in (0, INFINITY)):
        return None
    for knob in KNOBS.values():
        if knob.property_names == (held.name,) and knob.unit_property and (mode == "v2" or knob.unit_property.on_v1):
            return knob if knob.unlimited or held.value != INFINITY else None
    return None


def _texts(host: Host, tree: Hierarchies, group: str, knob: Knob) -> dict[str, str]:
    """The knob's files that are there; none where the controller is not enabled."""
    if knob.controller(tree.mode) not in tree.points or not group:
        return {}
    folder = tree.folder(knob.controller(tree.mode), group.strip("/"))
    texts = {}
    for name in knob.files(tree.mode):
        try:
            texts[name] = host.read(f"{folder}/{name}")
        except OSError:
            continue
    return texts


def _unlike(knob: Knob, texts: Mapping[str, str], mode: str, setting: Setting) -> str:
    if not knob.supported(mode, texts.keys()):
        return ""
    held = of_properties(knob, {setting.value.name: setting.value.value})
    wanted = settled(knob, settled(knob, held, mode, Backend.DBUS, texts), mode, Backend.FILE, texts)
    has = reading(knob, mode, texts)
    return "" if has == wanted else f"{shown(knob, has)} (by the kernel)"
