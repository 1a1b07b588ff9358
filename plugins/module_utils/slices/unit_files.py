# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Render and parse a slice's unit file and drop-ins, and find drop-ins that would override managed settings.

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
    """Whether the first line is the collection's mark."""
    return text.startswith(MARK + "\n")


def render_unit_file(description: str, before: Sequence[str], wants: Sequence[str], settings: Sequence[Setting]) -> str:
    """The unit file of a slice that exists from early boot until shutdown, as systemd's units/system.slice."""
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
    """Names and values of a section, in order; a line that ends with a backslash continues on the next."""
    current = ""
    for line in re.sub(r"\\\n", " ", text).splitlines():
        line = line.strip()
        if line.startswith("[") and line.endswith("]"):
            current = line[1:-1]
        elif current == section and "=" in line and line[0] not in "#;":
            name, _equals, value = line.partition("=")
            yield name.rstrip(), value.lstrip()


def without_values(text: str) -> str:
    """The text without its [Slice] section: the part that no D-Bus call can change."""
    return re.sub(r"^\[Slice\]\n(?:[^\[\n].*\n)*", "", text, flags=re.MULTILINE)


def _section(settings: Sequence[Setting]) -> list[str]:
    return ["[Slice]", *(line for setting in settings for line in setting.lines)]


def _description(text: str) -> str:
    plain = text.strip()
    if not plain.isprintable() or plain.endswith("\\"):
        raise ColocationError(f"the description {text!r} is not one line of printable text", "Use one plain line")
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
"""By descending priority: src/basic/path-lookup.c lookup_paths_init(), without generators."""
RUNTIME_PATHS = (RUNTIME_CONTROL, TRANSIENT)
"""Directories in which SetUnitProperties with runtime=true writes 50-PROPERTY.conf: src/core/unit.c
unit_write_setting()."""


@dataclass(frozen=True)
class DropIn:
    path: str
    text: str

    @property
    def name(self) -> str:
        return os.path.basename(self.path)


@dataclass(frozen=True)
class DropInTarget:
    """Managed settings and their file ``path``; ``rank`` sorts it among the competing drop-ins.

    All drop-ins override a unit file; of several drop-ins the one that sorts last takes precedence. ``pushed``: the
    properties whose runtime drop-ins the collection may replace; all other runtime drop-ins are foreign.
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
    """Names of the directories whose files apply to a slice, its own first: a-b.slice.d, a-.slice.d, slice.d."""
    levels = unit[: -len(SUFFIX)].split("-")
    prefixes = ("-".join(levels[:count]) + "-" + SUFFIX for count in range(len(levels) - 1, 0, -1))
    return (unit + ".d", *(prefix + ".d" for prefix in prefixes if prefix != "-" + SUFFIX), "slice.d")


def read_drop_ins(host: Host, unit: str) -> tuple[DropIn, ...]:
    """The drop-ins that apply after the next daemon-reload, by ascending precedence: src/shared/dropin.c.

    Of files with the same name, the one in the unit's own directory applies, then the one whose path comes first.
    """
    paths: dict[str, str] = {}
    for directory in drop_in_directories(unit):
        for unit_path in UNIT_PATHS:
            for name in host.list(f"{unit_path}/{directory}"):
                if name.endswith(".conf"):
                    paths.setdefault(name, f"{unit_path}/{directory}/{name}")
    return tuple(DropIn(paths[name], _text(host, paths[name])) for name in sorted(paths))


def _text(host: Host, path: str) -> str:
    # A link to /dev/null masks a drop-in.
    try:
        return "" if host.is_masked(path) else host.read(path)
    except OSError as error:
        raise ColocationError(f"the drop-in cannot be read: {error.strerror}", file=path) from error


def runtime_drop_ins(unit: str, drop_ins: Iterable[DropIn], names: Iterable[str] | None = None) -> tuple[str, ...]:
    """Drop-ins that SetUnitProperties wrote for the unit, for ``names`` or all properties; a new call replaces them."""
    prefixes = tuple(f"{directory}/{unit}.d/" for directory in RUNTIME_PATHS)
    files = None if names is None else {f"50-{name}.conf" for name in names}
    return tuple(
        drop_in.path
        for drop_in in drop_ins
        if drop_in.path.startswith(prefixes) and (files is None or drop_in.name in files)
    )


def remaining_drop_ins(
    unit: str, own_path: str, drop_ins: Sequence[DropIn], names: Iterable[str]
) -> tuple[DropIn, ...]:
    """The drop-ins that remain without the managed file and without the pushed values of these properties."""
    deleted = {own_path, *runtime_drop_ins(unit, drop_ins, names)}
    return tuple(drop_in for drop_in in drop_ins if drop_in.path not in deleted)


def require_no_overriding_drop_in(
    unit: str, target: DropInTarget, drop_ins: Iterable[DropIn], machine: Machine
) -> None:
    """ColocationError for a drop-in that sets a managed property to another value and takes precedence."""
    settings = {setting.name: setting for setting in target.settings}
    for drop_in in drop_ins:
        if drop_in.path == target.path:
            continue
        for conflict in _conflicting_settings(unit, drop_in, target, machine):
            raise ColocationError(
                f"it sets {'; '.join(conflict.lines)} and overrides {'; '.join(settings[conflict.name].lines)}",
                _remedy(unit, drop_in.path),
                file=drop_in.path,
            )


def _conflicting_settings(unit: str, drop_in: DropIn, target: DropInTarget, machine: Machine) -> list[Setting]:
    desired = {setting.name: setting for setting in target.settings}
    assigned = parse_assignments(((name, text) for name, text in assignments(drop_in.text) if name in desired), machine)
    return [
        conflict
        for name, conflict in assigned.items()
        if conflict.value != desired[name].value and _outranks(unit, drop_in, name, target)
    ]


def _outranks(unit: str, drop_in: DropIn, name: str, target: DropInTarget) -> bool:
    """Whether the drop-in takes precedence; a call replaces the runtime drop-in of an earlier call by any program."""
    if runtime_drop_ins(unit, [drop_in], [name]):
        return name not in target.pushed
    return drop_in.name >= target.rank(name)


def _remedy(unit: str, path: str) -> str:
    if path.startswith((CONTROL + "/", RUNTIME_CONTROL + "/", TRANSIENT + "/")):
        return f"systemctl set-property wrote it: run systemctl revert {unit}, or set the same value here"
    return "Remove the line from that file, or set the same value here"
