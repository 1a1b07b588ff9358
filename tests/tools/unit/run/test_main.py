# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stages run, and a failure shows the logs of the nodes."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.run import __main__, history, nodes, places
from ansible_collections.volcano.colocation.tests.run.execution import Outcome
from ansible_collections.volcano.colocation.tests.run.nodes import Lab
from ansible_collections.volcano.colocation.tests.run.stages import LONG, Stage

LAB = """
import json, sys
match sys.argv[1:]:
    case ["list", "--json"]:
        print(json.dumps([{"name": "v2"}]))
    case ["journal", name]:
        print("kubelet of", name, "did not start")
    case ["down", "--all"]:
        open("down", "w").close()
"""

GOOD = Stage("good", 10, ((sys.executable, "-c", ""),))
BAD = Stage("bad", 10, ((sys.executable, "-c", "print('oh'); raise SystemExit(1)"),))
AFTER_BAD = Stage("after", 10, ((sys.executable, "-c", ""),), needs=("bad",))


@pytest.fixture(name="checkout")
def _checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with a lab that has one node."""
    (tmp_path / "tests" / "lab").mkdir(parents=True)
    (tmp_path / "tests" / "lab" / "__main__.py").write_text(LAB)
    monkeypatch.setattr(places, "LOGS", tmp_path)
    monkeypatch.setattr(places, "CHECKOUT", tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def test_a_failure_does_not_stop_stages_that_do_not_need_it(checkout: Path) -> None:
    outcomes = __main__.run((BAD, AFTER_BAD, GOOD), os.environ)
    assert [outcome.passed for outcome in outcomes] == [False, False, True]
    assert outcomes[1].blocked_by == ("bad",)


def test_a_failure_shows_its_output_and_the_journals(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    __main__.run((BAD,), os.environ)
    printed = capsys.readouterr().out
    assert "\noh\n" in printed.partition("--- journal of node v2\nkubelet of v2 did not start\n---")[2]
    assert (checkout / "journal-v2.log").read_text() == "kubelet of v2 did not start\n"


def test_success_shows_no_journal(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    __main__.run((GOOD,), os.environ)
    assert "journal" not in capsys.readouterr().out


@pytest.mark.parametrize(("stages", "status"), [((GOOD,), 0), ((BAD,), 1), ((GOOD, BAD, AFTER_BAD), 1)])
def test_nodes_are_taken_down_at_the_end(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, stages: tuple[Stage, ...], status: int
) -> None:
    monkeypatch.setattr(__main__, "select", lambda _names, _stages: stages)
    assert __main__.main([]) == status
    assert (checkout / "down").exists()


def test_a_run_is_recorded_with_the_time_of_its_stages(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(__main__, "select", lambda _names, _stages: (GOOD, BAD, AFTER_BAD))
    assert __main__.main([]) == 1
    (recorded,) = history.load("test")
    assert list(recorded.stages) == ["good", "bad"]
    assert recorded.failed == ("bad",)
    assert 0 <= recorded.stages["good"] <= recorded.seconds + 0.1
    assert recorded.busy > 0


def test_a_run_that_cannot_be_recorded_keeps_its_result(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (checkout / "cache").write_text("a file in the way")
    monkeypatch.setattr(__main__, "select", lambda _names, _stages: (GOOD,))
    assert __main__.main([]) == 0
    printed = capsys.readouterr().out
    assert "the run is not recorded: " in printed
    assert "1 passed, 0 failed" in printed


MISSING = Stage("missing", 10, ((sys.executable, "-c", "print('no Go'); raise SystemExit(69)"),))


@pytest.mark.parametrize(
    ("stages", "ci", "status"),
    [((GOOD, MISSING), "", 0), ((GOOD, MISSING), "true", 1), ((BAD, MISSING), "", 1), ((GOOD,), "true", 0)],
)
def test_what_cannot_run_here_is_a_failure_in_continuous_integration_only(
    checkout: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    stages: tuple[Stage, ...],
    ci: str,
    status: int,
) -> None:
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr(__main__, "select", lambda _names, _stages: stages)
    assert __main__.main(["--suite", "test"]) == status
    assert ("\nnot run: missing: no Go\n" in capsys.readouterr().out) == (MISSING in stages)


def test_each_suite_runs_its_own_stages(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[Stage] = []

    def run(stages: Sequence[Stage], _base: Mapping[str, str]) -> list[Outcome]:
        ran.extend(stages)
        return [Outcome(stage) for stage in stages]

    monkeypatch.setattr(__main__, "run", run)
    assert __main__.main(["--suite", "test-long"]) == 0
    assert ran == list(LONG)


def test_an_unknown_stage_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert __main__.main(["nonsense"]) == 2
    assert "no stage is called nonsense" in capsys.readouterr().err


def test_a_lab_that_answers_nothing_has_no_nodes(tmp_path: Path) -> None:
    assert Lab(tmp_path, os.environ).names() == ()


def test_a_journal_that_times_out_does_not_hide_a_failure(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lab = checkout / "tests" / "lab" / "__main__.py"
    lab.write_text(LAB.replace('print("kubelet', 'import time; time.sleep(60); print("kubelet'))
    monkeypatch.setattr(nodes, "TIMEOUT", 4.0)
    __main__.run((BAD,), os.environ)
    printed = capsys.readouterr().out
    assert "timed out after 4.0 seconds" in printed
    assert "\noh\n" in printed


def test_names_of_nodes(checkout: Path) -> None:
    assert Lab(checkout, os.environ).names() == ("v2",)
