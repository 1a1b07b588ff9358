# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recorded runs: which are deleted and how they are printed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.run import history
from ansible_collections.volcano.colocation.tests.run.execution import Failure, Outcome
from ansible_collections.volcano.colocation.tests.run.history import Run
from ansible_collections.volcano.colocation.tests.run.stages import Stage

LINT, UNITS, PROGRAMS = (Stage(name, 10, ()) for name in ("lint", "units", "programs"))


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_a_recorded_run_is_read_again() -> None:
    failed = Outcome(UNITS, 7.26, (Failure(("pytest",), "exit status 1", 0, 0),))
    blocked = Outcome(PROGRAMS, blocked_by=("units",))
    history.save("test", [Outcome(LINT, 3.0), failed, blocked], 10.0, 18.0)
    (run,) = history.load("test")
    assert (run.stages, run.failed, run.seconds, run.busy) == ({"lint": 3.0, "units": 7.3}, ("units",), 10.0, 18.0)
    assert history.load("test-matrix") == []


def test_old_runs_are_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "LIMIT", 2)
    paths = [history.save("test", [], seconds, 0.0) for seconds in (300_000.0, 200_000.0, 100_000.0)]
    assert [path.exists() for path in paths] == [False, True, True]
    assert [run.seconds for run in history.load("test")] == [200_000.0, 100_000.0]


def test_a_file_of_another_shape_is_skipped(tmp_path: Path) -> None:
    history.save("test", [Outcome(LINT, 3.0)], 10.0, 18.0)
    for name, text in (("a", "{"), ("b", "{}"), ("c", "[]"), ("d", '{"failed": [], "colour": "red"}')):
        (tmp_path / "volcano-colocation" / "runs" / f"{name}.json").write_text(text)
    assert len(history.load("test")) == 1


def test_the_table_has_a_column_for_each_run() -> None:
    first = Run("test", "2026-01-31T09:05:07Z", "0123456789ab", 4408.4, 8000.4, {"programs": 1740.0, "lint": 61.2})
    second = Run(
        "test", "2026-02-01T10:00:00Z", "fedcba987654+", 65.0, 90.0, {"programs": 1.0, "units": 64.0}, ("units",)
    )
    assert history.table([first, second]).splitlines() == [
        "| stage | 2026-01-31 09:05, 0123456789ab, caches empty | 2026-02-01 10:00, fedcba987654+, caches filled |",
        "| --- | --- | --- |",
        "| `programs` | 1740 | 1 |",
        "| `lint` | 61 |  |",
        "| `units` |  | 64 ! |",
        "| all | 73 min 28 s | 1 min 5 s |",
        "| CPU time of the machine | 8000 | 90 |",
    ]


def test_busy_time_excludes_idle_time(tmp_path: Path) -> None:
    statistics = tmp_path / "stat"
    statistics.write_text("cpu  100 200 300 9999 8888 40 50 7777 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n")
    assert history.busy_seconds(statistics) * os.sysconf("SC_CLK_TCK") == pytest.approx(690)
