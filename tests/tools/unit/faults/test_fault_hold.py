# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real process is stopped when its journal names the moment, and only then."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.faults.guest import hold


@pytest.fixture(name="engine")
def _engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Process of an engine that holds the lock."""
    monkeypatch.setattr(hold, "DIRECTORY", str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as process:
        (tmp_path / "lock").write_text(f"transaction 1 from here, pid {process.pid}, since now\n")
        yield process.pid
        process.kill()


def journal(directory: Path, step: str, state: str = "applying", name: str = "20260101T000000-a") -> None:
    path = directory / "transactions" / name / "journal.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name("partial")
    partial.write_text(json.dumps({"id": name, "step": step, "state": state}))
    partial.rename(path)


@pytest.mark.parametrize("moment", ["write files", "applying"])
def test_it_is_held(tmp_path: Path, engine: int, moment: str, capsys: pytest.CaptureFixture[str]) -> None:
    journal(tmp_path, "write files")
    assert not hold.is_stopped(engine)
    assert hold.main(moment, 5) == 0
    assert hold.is_stopped(engine)
    assert json.loads(capsys.readouterr().out) == {
        "id": "20260101T000000-a",
        "pid": engine,
        "step": "write files",
        "state": "applying",
        "hit": True,
    }


def test_it_waits_for_the_moment(tmp_path: Path, engine: int) -> None:
    began = time.monotonic()
    journal(tmp_path, "stop kubelet")
    later = threading.Timer(0.3, journal, (tmp_path, "start kubelet"))
    later.start()
    assert hold.main("start kubelet", 5) == 0
    assert time.monotonic() - began >= 0.3
    assert hold.is_stopped(engine)


def test_another_moment_is_none(tmp_path: Path, engine: int) -> None:
    journal(tmp_path, "write files", "rolled-back", "20260101T000000-a")
    journal(tmp_path, "stop kubelet", name="20260102T000000-a")
    assert hold.main("write files", 0.2) == 1
    assert not hold.is_stopped(engine)


@pytest.mark.usefixtures("engine")
def test_without_a_transaction_there_is_nothing_to_hold() -> None:
    assert hold.main("write files", 0.1) == 1
