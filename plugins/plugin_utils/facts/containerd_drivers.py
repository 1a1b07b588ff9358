# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The driver of each handler by containerd's files, and None where the files do not tell it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver
from ..containerd_schema import DEFAULT_RUNTIME_TYPE, RUNC_TYPES, release
from .config_file import ConfigFile
from .containerd_layers import Layers, deprecated_runtimes, driver_word, handler_tables, read_layers
from .containerd_types import start_problems

Drivers = Mapping[str, Driver | None]
READERS = {3: ("2.0.0", "2.3.0"), 4: ("2.3.0",)}
"""By schema, one release of each way to read it; 1 and 2 are read by 1.7 as well."""


def as_driver(word: object) -> Driver:
    """containerd's default is cgroupfs."""
    return Driver.SYSTEMD if word is True else Driver.CGROUPFS


def is_runc(table: Mapping[str, Any]) -> bool:
    """Whether a handler is of runc type, which it is where its table names none, or nothing that can be read."""
    kind = table.get("runtime_type", DEFAULT_RUNTIME_TYPE)
    return not isinstance(kind, str) or kind in RUNC_TYPES


def runtime_v1_driver(layers: Layers, table: Mapping[str, Any]) -> Driver:
    """The driver of a handler of type io.containerd.runtime.v1.linux: without options the CRI plugin's word counts."""
    return as_driver(driver_word(table) if "options" in table else layers.cri.get("systemd_cgroup"))


def configured_drivers(layers: Layers, files: Mapping[str, ConfigFile], version: str | None) -> Drivers:
    """Of each handler of runc type by name. Of an unknown release only what all that may be meant agree on.

    Which of several files wins differs by release, so that nothing is said of them without one.
    """
    if release(version) is not None:
        return _drivers(layers)
    main = layers.files[0]
    schema = layers.version or 0
    readings = [_drivers(read_layers(main, files, each)) for each in READERS.get(schema, ("1.7.0", "2.0.0", "2.3.0"))]
    alone = len(layers.files) == 1 and not layers.unseen and not layers.missing
    names = sorted({name for reading in readings for name in reading})
    return {name: _common([reading.get(name) for reading in readings]) if alone else None for name in names}


def _drivers(layers: Layers) -> Drivers:
    known = not layers.unseen and not any(each.problem for each in layers.files) and not [*start_problems(layers)]
    found = {**handler_tables(layers), **deprecated_runtimes(layers)}
    tables = {name: table for name, table in found.items() if is_runc(table)}
    return {name: _driver(driver_word(table)) if known else None for name, table in tables.items()}


def _driver(word: object) -> Driver | None:
    return as_driver(word) if word is None or isinstance(word, bool) else None


def _common(drivers: list[Driver | None]) -> Driver | None:
    return drivers[0] if len(set(drivers)) == 1 else None
