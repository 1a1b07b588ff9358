# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures from Ansible's results, by the callback plugin's file."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.bench.callback.bench_record import CallbackModule, program_seconds
from ansible_collections.volcano.colocation.tests.bench.places import RECORD_VARIABLE
from ansible_collections.volcano.colocation.tests.bench.record import parse_record

from .runs import usage


def outcome(action: str, result: dict[str, Any]) -> Any:
    return SimpleNamespace(result=result, task=SimpleNamespace(action=action, get_name=lambda: f"a task of {action}"))


def test_the_sums_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "record.jsonl"
    monkeypatch.setenv(RECORD_VARIABLE, str(path))
    callback = CallbackModule()
    callback.v2_runner_on_start(None, None)
    callback.v2_runner_on_ok(outcome("node_align", {"changed": False, "usage": usage(1, planning_ms=8.5)}))
    callback.v2_runner_on_skipped(outcome("debug", {"changed": False}))
    callback.v2_runner_on_ok(outcome("node_align", {"changed": True, "usage": usage(2, 4, planning_ms=40.0)}))
    callback.v2_runner_on_ok(outcome("command", {"changed": False, "delta": "0:00:02.500000"}))
    callback.v2_runner_on_failed(outcome("assert", {"msg": "no"}))

    record = parse_record(path.read_text())
    assert (record.executions, record.polls) == (3, 4)
    assert record.planning_ms == (8.5, 40.0)
    assert record.program_seconds == 4.5
    assert (record.ran, record.changed) == (4, 1)
    assert [task.status for task in record.tasks] == ["ok", "skipped", "ok", "ok", "failed"]


def test_nothing_is_written_without_the_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(RECORD_VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    CallbackModule().v2_runner_on_ok(outcome("ping", {"ping": "pong"}))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("result", "seconds"),
    [
        ({"delta": "1:02:03.5"}, 3723.5),
        ({"delta": None}, 0.0),
        ({"delta": "soon"}, 0.0),
        ({"ping": "pong"}, 0.0),
        ({"usage": {"module_executions": 1}, "delta": "0:00:09"}, 0.0),
    ],
)
def test_seconds_of_the_nodes_own_programs_are_read_from_a_result(result: dict[str, Any], seconds: float) -> None:
    assert program_seconds(result) == seconds
