# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What containerd would read once a plan is carried out: its files with the changes in them, merged by its rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ..facts.containerd_layers import Layers, read_layers
from ..facts.model import ConfigFile, RuntimeFacts
from .containerd_place import files_of
from .model import Change


def files_after(runtime: RuntimeFacts, changes: Iterable[Change]) -> dict[str, ConfigFile]:
    """Every file by path, with the values it then has."""
    files = files_of(runtime)
    for change in changes:
        if change.path is None:
            continue
        config = files.get(change.path, ConfigFile(change.path, "missing"))
        values = _put(config.values, change.keys, change.after)
        files[change.path] = replace(config, kind="regular", values=values)
    return files


def _put(values: Mapping[str, Any], keys: tuple[str, ...], value: Any) -> dict[str, Any]:
    key, below = keys[0], keys[1:]
    inner = values.get(key)
    return {**values, key: _put(inner if isinstance(inner, Mapping) else {}, below, value) if below else value}


def layers_after(runtime: RuntimeFacts, changes: Iterable[Change]) -> Layers:
    """The files then in force, in merge order, and what they come to."""
    files = files_after(runtime, changes)
    return read_layers(files[runtime.config.path], files, runtime.version)
