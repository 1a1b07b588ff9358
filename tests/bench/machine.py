# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machine on which the figures were measured."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Machine:
    """The control node; ``load`` is the 1-minute load average at the beginning and the end of the rounds."""

    cores: int
    cpu: str
    python: str
    ansible_core: str
    engine: str
    load: tuple[float, ...]

    def __str__(self) -> str:
        loads = " to ".join(f"{average:.1f}" for average in self.load)
        return (
            f"{self.cores} cores ({self.cpu}), Python {self.python}, ansible-core {self.ansible_core}; "
            f"1-minute load {loads}, the node's own share of it included; the node runs on {self.engine}"
        )


def describe_machine(node: dict[str, Any], load: tuple[float, ...]) -> Machine:
    """The Machine that runs the benchmark, with the engine from a lab node's facts."""
    return Machine(
        cores=os.cpu_count() or 1,
        cpu=cpu_model(),
        python=platform.python_version(),
        ansible_core=importlib.metadata.version("ansible-core"),
        engine=str(node.get("engine", "unknown")),
        load=load,
    )


def cpu_model() -> str:
    """The first model name in /proc/cpuinfo."""
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
        return next(names, platform.machine())
