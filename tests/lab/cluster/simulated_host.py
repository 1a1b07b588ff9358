# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A host on paper: /proc/stat and /proc/meminfo of a given load, which a real node_exporter reads."""

from __future__ import annotations

import re
import time
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .components import HOST, Component

CPUS, TICKS = 2, 100
"""Its CPUs, and the units of a second in /proc/stat (USER_HZ, proc_stat(5))."""
MEMORY_KIB = 8 << 20
NAMES = ("node_cpu_seconds_total", "node_memory_MemAvailable_bytes", "node_memory_MemTotal_bytes")
"""The metrics that Volcano's scheduler asks for."""
_LINE = re.compile(r"(\w+)(?:\{(.*)\})? (\S+)")


@dataclass(frozen=True)
class Load:
    """The parts of the CPUs and of the memory that are in use, 0 to 1."""

    cpu: float = 0.0
    memory: float = 0.0


@dataclass(frozen=True)
class Sample:
    """A metric with its labels as text, its value as text, and its time in seconds."""

    name: str
    labels: str
    value: str
    time: float


class SimulatedHost:
    """The files below ``directory``, and how busy the CPUs were so far."""

    def __init__(self, name: str, load: Load, directory: Path, port: int) -> None:
        self.name, self.load, self.directory, self.port = name, load, directory, port
        self._idle = self._busy = 0.0
        self._at: float | None = None
        directory.mkdir(parents=True, exist_ok=True)
        self._write()

    @property
    def program(self) -> str:
        """A process of the lab is found by the name of its program; each node_exporter has its own."""
        return f"node_exporter-{self.name}"

    @property
    def address(self) -> str:
        return f"{HOST}:{self.port}"

    def component(self, program: Path) -> Component:
        """The node_exporter, with the collectors of CPU and memory alone."""
        link = self.directory / self.program
        link.unlink(missing_ok=True)
        link.symlink_to(program)
        paths = (f"--path.procfs={self.directory}", f"--path.sysfs={self.directory}")
        collectors = ("--collector.disable-defaults", "--collector.cpu", "--collector.meminfo")
        return Component(
            self.program, (str(link), f"--web.listen-address={self.address}", *paths, *collectors), self.port
        )

    def advance_to(self, moment: float) -> None:
        """Use the CPUs as the load says from the last moment to this one, in seconds since 1970."""
        passed = moment - (moment if self._at is None else self._at)
        self._at = moment
        self._busy += passed * self.load.cpu
        self._idle += passed * (1 - self.load.cpu)
        self._write()

    def samples(self, labels: Mapping[str, str]) -> Iterator[Sample]:
        """What node_exporter reports at the last moment, with the labels that Prometheus adds."""
        added = ",".join(f'{name}="{text}"' for name, text in labels.items())
        url = f"http://{HOST}:{self.port}/metrics"
        with urllib.request.urlopen(url, timeout=60) as response:
            lines = response.read().decode().splitlines()
        for match in filter(None, map(_LINE.fullmatch, lines)):
            name, own, value = match.groups()
            if name in NAMES:
                yield Sample(name, ",".join(filter(None, (own, added))), value, self._at or time.time())

    def _write(self) -> None:
        self._replace("stat", _stat(int(self._busy * TICKS), int(self._idle * TICKS)))
        self._replace("meminfo", _meminfo(round(MEMORY_KIB * (1 - self.load.memory))))

    def _replace(self, name: str, text: str) -> None:
        """node_exporter reads the file at any time, so it is always complete."""
        partial = self.directory / f".{name}"
        partial.write_text(text)
        partial.rename(self.directory / name)


def openmetrics(samples: Iterable[Sample]) -> str:
    """The text from which promtool makes blocks."""
    lines = [f"{sample.name}{{{sample.labels}}} {sample.value} {sample.time:.3f}" for sample in samples]
    return "\n".join([*lines, "# EOF\n"])


def _stat(busy: int, idle: int) -> str:
    """proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice of each CPU."""
    cpus = [("cpu ", CPUS), *((f"cpu{number}", 1) for number in range(CPUS))]
    lines = [f"{name} {busy * count} 0 0 {idle * count} 0 0 0 0 0 0" for name, count in cpus]
    return "\n".join([*lines, "intr 0", "ctxt 0", "btime 0", "processes 1", "procs_running 1", "procs_blocked 0\n"])


def _meminfo(available: int) -> str:
    """proc_meminfo(5), in KiB."""
    return f"MemTotal: {MEMORY_KIB} kB\nMemFree: {available} kB\nMemAvailable: {available} kB\n"
