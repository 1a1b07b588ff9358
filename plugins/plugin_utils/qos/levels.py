# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The levels a pod can have, and the numbers that the Volcano agent writes for them.

Source: volcano pkg/agent/apis/extension/qos.go (annotation volcano.sh/qos-level), handlers cpuqos and memoryqos.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Level(str, Enum):
    LC = "LC"
    HLS = "HLS"
    LS = "LS"
    BE = "BE"


@dataclass(frozen=True)
class Numbers:
    """cpu.qos_level and memory.qos_level as the agent writes them."""

    cpu: int
    memory: int


NUMBERS: Mapping[Level, Numbers] = {
    Level.LC: Numbers(2, 0),
    Level.HLS: Numbers(2, 0),
    Level.LS: Numbers(1, 0),
    Level.BE: Numbers(-1, -1),
}
