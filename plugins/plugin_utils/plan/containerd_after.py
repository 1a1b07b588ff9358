# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What containerd would read once a plan is carried out: its files with the changes in them, merged by its rules."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..edit.changes import applied, tree
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
        values = applied(config.values, tree({change.keys: change.after}))
        files[change.path] = replace(config, kind="regular", values=values)
    return files


def layers_after(runtime: RuntimeFacts, changes: Iterable[Change]) -> Layers:
    """The files then in force, in merge order, and what they come to."""
    files = files_after(runtime, changes)
    return read_layers(files[runtime.config.path], files, runtime.version)
