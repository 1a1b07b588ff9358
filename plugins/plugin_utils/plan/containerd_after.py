# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What containerd would read once a plan is carried out: its files with the changes in them, merged by its rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ..edit.containerd_file import spelled
from ..facts.config_file import ConfigFile
from ..facts.containerd_layers import Layers, read_layers
from ..facts.model import RuntimeFacts
from .containerd_place import files_of
from .containerd_rendered import TARGET
from .model import Change


def files_after(runtime: RuntimeFacts, changes: Iterable[Change]) -> dict[str, ConfigFile]:
    """Every file by path, with the values it then has; what a template says is in the file rendered of it."""
    files = files_of(runtime)
    for change in changes:
        path = runtime.config.path if change.target == TARGET else change.path
        if path is None:
            continue
        config = files.get(path, ConfigFile(path, "missing"))
        values = _put(config.values, spelled(config.values, change.keys), change.after)
        files[path] = replace(config, kind="regular", values=values)
    return files


def _put(values: Mapping[str, Any], keys: tuple[str, ...], value: Any) -> dict[str, Any]:
    key, below = keys[0], keys[1:]
    inner = values.get(key)
    return {**values, key: _put(inner if isinstance(inner, Mapping) else {}, below, value) if below else value}


def layers_after(runtime: RuntimeFacts, changes: Iterable[Change]) -> Layers:
    """The files then in force, in merge order, and what they come to."""
    files = files_after(runtime, changes)
    return read_layers(files[runtime.config.path], files, runtime.version)
