# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a silent node is recorded before the node is taken down."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab import silence
from ansible_collections.volcano.colocation.tests.run.nodes import Lab
from ansible_collections.volcano.colocation.tests.run.watch import Watch

LAB = """
import json, os, sys
match sys.argv[1:]:
    case ["list", "--json"]:
        nodes = (("dead", 1), ("good", 2), ("ended", 3))
        print(json.dumps([
            {"name": name, "running": name != "ended", "ssh": {"port": port}}
            for name, port in nodes if not os.path.exists(name)
        ]))
    case ["journal", "dead"]:
        print("VM: running")
        sys.exit(3)
    case ["down", name]:
        open(name, "w").close()
"""


@pytest.fixture(name="lab")
def _lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    (tmp_path / "tests" / "lab").mkdir(parents=True)
    (tmp_path / "tests" / "lab" / "__main__.py").write_text(LAB)
    monkeypatch.setattr(silence, "LIMIT", 0.0)
    return Lab(tmp_path, os.environ)


def test_a_silent_node_is_taken_down_and_its_state_is_reported_once(lab: Lab, tmp_path: Path) -> None:
    asked: list[int] = []

    def answers(port: int) -> bool:
        asked.append(port)
        return port == 2

    watch = Watch(lab, answers)
    watch.look()
    assert not (tmp_path / "dead").exists()
    watch.look()
    assert (tmp_path / "dead").exists()
    assert not (tmp_path / "good").exists()
    assert set(asked) == {1, 2}
    states = watch.silent()
    assert list(states) == ["dead"]
    assert "the node went silent" in states["dead"]
    assert "VM: running" in states["dead"]
    assert watch.silent() == {}


def test_it_looks_while_it_is_entered(lab: Lab, tmp_path: Path) -> None:
    with Watch(lab, lambda port: port == 2, pause=0.01):
        deadline = time.monotonic() + 60
        while not (tmp_path / "dead").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
    assert (tmp_path / "dead").exists()
