# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where systemd looks for a unit's drop-ins, and which of them would win over what we write: systemd.unit(5)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Iterable, Sequence

from ..cgroup.slices import SUFFIX
from ..errors import ColocationError
from ..host import Host
from .properties import Setting, assigned
from .property_values import Machine
from .unit_text import assignments

CONTROL = "/etc/systemd/system.control"
RUNTIME_CONTROL = "/run/systemd/system.control"
TRANSIENT = "/run/systemd/transient"
CONFIG = "/etc/systemd/system"
RUNTIME_CONFIG = "/run/systemd/system"
VENDOR = ("/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system")
FOLDERS = (CONTROL, RUNTIME_CONTROL, TRANSIENT, CONFIG, RUNTIME_CONFIG, *VENDOR)
"""The best first: src/basic/path-lookup.c lookup_paths_init(), without generators."""
PUSHED = (RUNTIME_CONTROL, TRANSIENT)
"""Where SetUnitProperties with runtime=true leaves 50-PROPERTY.conf: src/core/unit.c unit_write_setting()."""


@dataclass(frozen=True)
class DropIn:
    path: str
    text: str

    @property
    def name(self) -> str:
        return os.path.basename(self.path)


@dataclass(frozen=True)
class Target:
    """What we set, and where: ``path`` is our file, and ``rank`` sorts among the drop-ins it competes with.

    All drop-ins win over a unit file, and of drop-ins the one that sorts last does. ``pushed``: the properties whose
    runtime drop-ins are ours to replace; the values of all others are somebody's.
    """

    settings: tuple[Setting, ...]
    path: str
    runtime: bool
    pushed: frozenset[str]

    def rank(self, name: str) -> str:
        if self.runtime:
            return f"50-{name}.conf"
        return os.path.basename(self.path) if self.path.endswith(".conf") else ""


def folders(unit: str) -> tuple[str, ...]:
    """Names of the folders whose files apply to a slice, its own first: a-b.slice.d, a-.slice.d, slice.d."""
    levels = unit[: -len(SUFFIX)].split("-")
    prefixes = ("-".join(levels[:count]) + "-" + SUFFIX for count in range(len(levels) - 1, 0, -1))
    return (unit + ".d", *(prefix + ".d" for prefix in prefixes if prefix != "-" + SUFFIX), "slice.d")


def read(host: Host, unit: str) -> tuple[DropIn, ...]:
    """The drop-ins that apply after the next daemon-reload, the strongest last: src/shared/dropin.c.

    Of files with the same name the one of the unit's own folder counts, then the one of the better place.
    """
    found: dict[str, str] = {}
    for folder in folders(unit):
        for place in FOLDERS:
            for name in host.list(f"{place}/{folder}"):
                if name.endswith(".conf"):
                    found.setdefault(name, f"{place}/{folder}/{name}")
    return tuple(DropIn(found[name], _text(host, found[name])) for name in sorted(found))


def _text(host: Host, path: str) -> str:
    # A link to /dev/null takes a drop-in out of use.
    try:
        return "" if host.is_masked(path) else host.read(path)
    except OSError as error:
        raise ColocationError(f"the drop-in cannot be read: {error.strerror}", file=path) from error


def pushed(unit: str, found: Iterable[DropIn], names: Iterable[str] | None = None) -> tuple[str, ...]:
    """What SetUnitProperties left for the unit, of ``names`` or of all: what it replaces when it is called again."""
    own = tuple(f"{place}/{unit}.d/" for place in PUSHED)
    files = None if names is None else {f"50-{name}.conf" for name in names}
    return tuple(each.path for each in found if each.path.startswith(own) and (files is None or each.name in files))


def others(unit: str, ours: str, found: Sequence[DropIn], names: Iterable[str]) -> tuple[DropIn, ...]:
    """The drop-ins that are left when our file is gone, and with it what was pushed of these properties."""
    gone = {ours, *pushed(unit, found, names)}
    return tuple(each for each in found if each.path not in gone)


def require_none_stronger(unit: str, target: Target, found: Iterable[DropIn], machine: Machine) -> None:
    """ColocationError for a drop-in that sets one of our properties otherwise and wins over what we write."""
    settings = {each.name: each for each in target.settings}
    for each in found:
        if each.path == target.path:
            continue
        for rival in _rivals(unit, each, target, machine):
            raise ColocationError(
                f"it sets {'; '.join(rival.lines)} and wins over {'; '.join(settings[rival.name].lines)}",
                _remedy(unit, each.path),
                file=each.path,
            )


def _rivals(unit: str, each: DropIn, target: Target, machine: Machine) -> list[Setting]:
    wanted = {setting.name: setting for setting in target.settings}
    set_there = assigned(((name, text) for name, text in assignments(each.text) if name in wanted), machine)
    return [
        rival
        for name, rival in set_there.items()
        if rival.value != wanted[name].value and _stands(unit, each, name, target)
    ]


def _stands(unit: str, each: DropIn, name: str, target: Target) -> bool:
    """A call replaces the file that an earlier call has left, whoever made it."""
    if pushed(unit, [each], [name]):
        return name not in target.pushed
    return each.name >= target.rank(name)


def _remedy(unit: str, path: str) -> str:
    if path.startswith((CONTROL + "/", RUNTIME_CONTROL + "/", TRANSIENT + "/")):
        return f"Somebody used systemctl set-property: undo it with systemctl revert {unit}, or set the same value here"
    return "Remove the line there, or set the same value here"
