# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cost of a command includes its child processes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ansible_collections.volcano.colocation.tests.bench.cost import run_measured

CHILD = """
import subprocess, sys
print("to the log")
subprocess.run([sys.executable, "-c", "x = bytearray(80 << 20)\\nimport time\\nwhile time.process_time() < 0.3: pass"])
sys.exit(3)
"""


def test_cpu_and_memory_of_children_count(tmp_path: Path) -> None:
    log = tmp_path / "log"
    status, cost = run_measured([sys.executable, "-c", CHILD], log, os.environ, tmp_path)
    assert status == 3
    assert log.read_text() == "to the log\n"
    assert cost.cpu >= 0.3
    assert cost.wall >= 0.3
    assert cost.peak_mib >= 80


def test_a_hanging_command_is_stopped(tmp_path: Path) -> None:
    status, cost = run_measured(["sleep", "60"], tmp_path / "log", os.environ, tmp_path, timeout=0.2)
    assert status < 0
    assert cost.wall < 30


def test_figures_of_one_command_are_not_those_of_another(tmp_path: Path) -> None:
    run_measured([sys.executable, "-c", CHILD], tmp_path / "log", os.environ, tmp_path)
    _status, cost = run_measured(["true"], tmp_path / "log", os.environ, tmp_path)
    assert cost.cpu < 0.3
