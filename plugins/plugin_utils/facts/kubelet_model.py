# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The values that kubelet's facts are made of, apart from those that other parts share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Flag:
    """One flag with its value as written, None where none follows, and who wrote it."""

    name: str
    value: str | None
    source: str


@dataclass(frozen=True)
class Setting:
    """A field's value in force, and the source that gives it; several where a table is put together of several."""

    value: Any
    source: str


@dataclass(frozen=True)
class Start:
    """How kubelet was started, and how its unit would start it next; ``following`` is None when no unit was seen.

    ``environment``: what the environment files that were seen hold, whether anybody reads them or not;
    ``environment_files``: what kind of file each of them is. ``unseen``: why not every drop-in is known.
    """

    running: tuple[Flag, ...] = ()
    following: tuple[Flag, ...] | None = None
    config_dir: str | None = None
    config_dir_exists: bool | None = None
    dropin_variable: bool | None = None
    environment: tuple[Flag, ...] = ()
    environment_files: Mapping[str, str] = field(default_factory=dict)
    unseen: str | None = None
