# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts of a slice's unit file and drop-ins, what they assign, and which drop-ins would win over what we write.

systemd.unit(5), systemd.syntax(7).
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Iterable, Iterator, Sequence

from ..cgroup.slice_names import SUFFIX
from ..errors import ColocationError
from ..host import Host
from .properties import Setting, parse_assignments
from .property_values import Machine

MARK = "# Kept by the Ansible collection volcano.colocation; what is changed here by hand is lost at its next run."
_UNIT_NAME = re.compile(r"[A-Za-z0-9:_.\\@-]+\.(?:service|slice|target|socket|mount|path|timer|device|swap|automount)")


def is_managed(text: str) -> bool:
    """Whether the first line says so."""
    return text.startswith(MARK + "\n")


def render_unit_file(description: str, before: Sequence[str], wants: Sequence[str], settings: Sequence[Setting]) -> str:
    """A slice that is there from early boot until the end, as systemd's own units/system.slice is."""
    lines = [
        MARK,
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


def render_drop_in(settings: Sequence[Setting]) -> str:
    return "\n".join([MARK, *_section(settings)]) + "\n"


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


CONTROL = "/etc/systemd/system.control"
RUNTIME_CONTROL = "/run/systemd/system.control"
TRANSIENT = "/run/systemd/transient"
CONFIG = "/etc/systemd/system"
RUNTIME_CONFIG = "/run/systemd/system"
VENDOR = ("/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system")
UNIT_PATHS = (CONTROL, RUNTIME_CONTROL, TRANSIENT, CONFIG, RUNTIME_CONFIG, *VENDOR)
"""The best first: src/basic/path-lookup.c lookup_paths_init(), without generators."""
RUNTIME_PATHS = (RUNTIME_CONTROL, TRANSIENT)
"""Where SetUnitProperties with runtime=true leaves 50-PROPERTY.conf: src/core/unit.c unit_write_setting()."""


@dataclass(frozen=True)
class DropIn:
    path: str
    text: str

    @property
    def name(self) -> str:
        return os.path.basename(self.path)


@dataclass(frozen=True)
class DropInTarget:
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


def drop_in_directories(unit: str) -> tuple[str, ...]:
    """Names of the folders whose files apply to a slice, its own first: a-b.slice.d, a-.slice.d, slice.d."""
    levels = unit[: -len(SUFFIX)].split("-")
    prefixes = ("-".join(levels[:count]) + "-" + SUFFIX for count in range(len(levels) - 1, 0, -1))
    return (unit + ".d", *(prefix + ".d" for prefix in prefixes if prefix != "-" + SUFFIX), "slice.d")


def read_drop_ins(host: Host, unit: str) -> tuple[DropIn, ...]:
    """The drop-ins that apply after the next daemon-reload, the strongest last: src/shared/dropin.c.

    Of files with the same name the one of the unit's own folder counts, then the one of the better place.
    """
    found: dict[str, str] = {}
    for folder in drop_in_directories(unit):
        for place in UNIT_PATHS:
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


def runtime_drop_ins(unit: str, found: Iterable[DropIn], names: Iterable[str] | None = None) -> tuple[str, ...]:
    """What SetUnitProperties left for the unit, of ``names`` or of all: what it replaces when it is called again."""
    own = tuple(f"{place}/{unit}.d/" for place in RUNTIME_PATHS)
    files = None if names is None else {f"50-{name}.conf" for name in names}
    return tuple(each.path for each in found if each.path.startswith(own) and (files is None or each.name in files))


def remaining_drop_ins(unit: str, ours: str, found: Sequence[DropIn], names: Iterable[str]) -> tuple[DropIn, ...]:
    """The drop-ins that are left when our file is gone, and with it what was pushed of these properties."""
    gone = {ours, *runtime_drop_ins(unit, found, names)}
    return tuple(each for each in found if each.path not in gone)


def require_none_stronger(unit: str, target: DropInTarget, found: Iterable[DropIn], machine: Machine) -> None:
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


def _rivals(unit: str, each: DropIn, target: DropInTarget, machine: Machine) -> list[Setting]:
    wanted = {setting.name: setting for setting in target.settings}
    set_there = parse_assignments(((name, text) for name, text in assignments(each.text) if name in wanted), machine)
    return [
        rival
        for name, rival in set_there.items()
        if rival.value != wanted[name].value and _outranks(unit, each, name, target)
    ]


def _outranks(unit: str, each: DropIn, name: str, target: DropInTarget) -> bool:
    """A call replaces the file that an earlier call has left, whoever made it."""
    if runtime_drop_ins(unit, [each], [name]):
        return name not in target.pushed
    return each.name >= target.rank(name)


def _remedy(unit: str, path: str) -> str:
    if path.startswith((CONTROL + "/", RUNTIME_CONTROL + "/", TRANSIENT + "/")):
        return f"Somebody used systemctl set-property: undo it with systemctl revert {unit}, or set the same value here"
    return "Remove the line there, or set the same value here"
