# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From Ansible's results through the callback plugin's file to figures."""

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


def test_what_a_run_comes_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "record.jsonl"
    monkeypatch.setenv(RECORD_VARIABLE, str(path))
    callback = CallbackModule()
    callback.v2_runner_on_start(None, None)
    callback.v2_runner_on_ok(outcome("node_align", {"changed": False, "usage": usage(1, planning_ms=8.5)}))
    callback.v2_runner_on_skipped(outcome("debug", {"changed": False}))
    callback.v2_runner_on_ok(outcome("node_align", {"changed": True, "usage": usage(2, 4, planning_ms=40.0)}))
    callback.v2_runner_on_ok(outcome("command", {"changed": False, "delta": "0:00:02.500000"}))
    callback.v2_runner_on_failed(outcome("assert", {"msg": "no"}))

    found = parse_record(path.read_text())
    assert (found.executions, found.polls) == (3, 4)
    assert found.planning_ms == (8.5, 40.0)
    assert found.program_seconds == 4.5
    assert (found.ran, found.changed) == (4, 1)
    assert [each.status for each in found.tasks] == ["ok", "skipped", "ok", "ok", "failed"]


def test_nothing_is_written_when_nobody_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
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
