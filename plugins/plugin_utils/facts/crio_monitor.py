# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cgroup of CRI-O's monitor (conmon): who says it, and whether it suits the cgroup manager.

Rules of cri-o pkg/config/config.go, TranslateMonitorFieldsForHandler, which ends CRI-O's start when they are broken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver
from ..containerd_schema import release
from .config import nested
from .config_file import ConfigFile

TOP = ("crio", "runtime", "conmon_cgroup")
HANDLERS = ("crio", "runtime", "runtimes")
TOLERANT = (1, 33)
"""Since cri-o#8888 cgroupfs takes ``system.slice``, the default of the built-in handler, for no word at all."""
PER_HANDLER = (1, 25)
"""cri-o#5823 gave each handler a ``monitor_cgroup``; before, the default of ``conmon_cgroup`` was ``system.slice``."""


@dataclass(frozen=True)
class Word:
    """What one file says of the monitor's cgroup, and with which setting."""

    setting: str
    value: str
    path: str


def handlers(files: tuple[ConfigFile, ...]) -> dict[str, tuple[dict[str, Any], str]]:
    """{handler: (table, path)}. A handler's table in a later file takes the place of an earlier one as a whole:

    the decoder fills a new element for each key of a map (BurntSushi/toml decode.go, unifyMap).
    """
    found = {}
    for each in files:
        tables = nested(each.values, HANDLERS)
        for name, table in tables.items() if isinstance(tables, dict) else ():
            if isinstance(table, dict):
                found[str(name)] = (table, each.path)
    return found


def words(files: tuple[ConfigFile, ...]) -> Iterator[Word]:
    """The words in force: ``conmon_cgroup`` goes over every handler's ``monitor_cgroup`` when it is not empty."""
    for each in reversed(files):
        value = nested(each.values, TOP)
        if value is not None:
            if value != "":
                yield Word("conmon_cgroup", str(value), each.path)
                return
            break
    for name, (table, path) in handlers(files).items():
        # Only conmon has a monitor's cgroup; runtimes of type vm and pod do without.
        if table.get("monitor_cgroup") and table.get("runtime_type", "") in ("", "oci"):
            yield Word(f"monitor_cgroup of handler {name}", str(table["monitor_cgroup"]), path)


def fits(value: str, manager: object, version: str | None) -> bool:
    """Whether CRI-O starts with this monitor's cgroup; None as version is one that is not known."""
    if manager == Driver.CGROUPFS.value:
        known = release(version)
        return value == "pod" or (value == "system.slice" and known is not None and known >= TOLERANT)
    return value == "pod" or value.endswith(".slice")


def silence_fits(
    files: tuple[ConfigFile, ...], manager: object, version: str | None, default_handler: str | None
) -> bool:
    """Whether CRI-O starts when nobody says a word: cgroupfs does not take the built-in handler's ``system.slice``."""
    if manager != Driver.CGROUPFS.value:
        return True
    known = release(version)
    if known is None or known < PER_HANDLER:
        return False
    return known >= TOLERANT or default_handler in handlers(files)
