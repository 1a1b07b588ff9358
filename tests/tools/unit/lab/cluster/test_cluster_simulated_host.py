# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that node_exporter reads, and the text from which promtool makes blocks."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab.cluster.simulated_host import (
    Load,
    Sample,
    SimulatedHost,
    openmetrics,
)


def host(directory: Path, load: Load) -> SimulatedHost:
    return SimulatedHost("n", load, directory, 9100)


def counters(directory: Path) -> dict[str, tuple[int, int]]:
    """User and idle time of each CPU in /proc/stat."""
    rows = [line.split() for line in (directory / "stat").read_text().splitlines() if line.startswith("cpu")]
    return {row[0]: (int(row[1]), int(row[4])) for row in rows}


def test_cpus_are_used_as_the_load_says(tmp_path: Path) -> None:
    simulated = host(tmp_path, Load(cpu=0.25))
    simulated.advance_to(1000.0)
    assert set(counters(tmp_path).values()) == {(0, 0)}
    simulated.advance_to(1060.0)
    assert counters(tmp_path) == {"cpu": (3000, 9000), "cpu0": (1500, 4500), "cpu1": (1500, 4500)}
    simulated.advance_to(1060.5)
    assert counters(tmp_path)["cpu0"] == (1512, 4537)


@pytest.mark.parametrize(("memory", "available"), [(0.0, 8388608), (0.25, 6291456), (1.0, 0)])
def test_memory_is_used_as_the_load_says(tmp_path: Path, memory: float, available: int) -> None:
    host(tmp_path, Load(memory=memory))
    lines = (tmp_path / "meminfo").read_text().splitlines()
    assert (lines[0], lines[2]) == ("MemTotal: 8388608 kB", f"MemAvailable: {available} kB")


def test_each_node_exporter_has_its_own_name(tmp_path: Path) -> None:
    """daemons.running finds a process by the name of its program."""
    component = host(tmp_path, Load()).component(Path("/cache/prometheus-node-exporter"))
    program = Path(component.argv[0])
    assert (program.name, program.readlink()) == ("node_exporter-n", Path("/cache/prometheus-node-exporter"))
    assert f"--path.procfs={tmp_path}" in component.argv


def test_samples_have_their_labels_and_times() -> None:
    samples = [Sample("a_total", 'cpu="0",job="n"', "1e+06", 1000.25), Sample("b", 'job="n"', "2", 1015.0)]
    assert openmetrics(samples) == 'a_total{cpu="0",job="n"} 1e+06 1000.250\nb{job="n"} 2 1015.000\n# EOF\n'
