# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A row ends with the next run, which meets the fault of the next row."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NoReturn

import pytest

from ansible_collections.volcano.colocation.tests.faults import chain
from ansible_collections.volcano.colocation.tests.faults.chain import Chain
from ansible_collections.volcano.colocation.tests.faults.fault import Kind
from ansible_collections.volcano.colocation.tests.faults.injection import Injection
from ansible_collections.volcano.colocation.tests.faults.node import FaultNode
from ansible_collections.volcano.colocation.tests.faults.outcome import Outcome, Verdict
from ansible_collections.volcano.colocation.tests.faults.rows import ROWS, Row
from ansible_collections.volcano.colocation.tests.lab.silence import NodeSilent, Silence
from ansible_collections.volcano.colocation.tests.system.node import Node, Run

UNDONE = "[WARNING]: an earlier transaction was undone when it booted"


def cut(row: Row) -> bool:
    return row.cgroup == "v2" and row.fault.kind is Kind.POWER_CUT and row.fault.where != "committed"


CUTS = tuple(row for row in ROWS if cut(row))


@pytest.fixture(name="runs")
def _runs(monkeypatch: pytest.MonkeyPatch) -> dict[str, Run]:
    """Output of each row's run by row name; every node ends as before."""
    outputs: dict[str, Run] = {}

    def outcome(injection: Injection) -> Outcome:
        injection.run = outputs[injection.row.name]
        injection.struck.append(injection.row.fault.where)
        return Outcome(injection.row.name, Verdict.PASSED, end="as before")

    monkeypatch.setattr(Injection, "outcome", outcome)
    monkeypatch.setattr(chain, "take_down", lambda _name: None)
    return outputs


def chained(tmp_path: Path, outcomes: list[Outcome]) -> Chain:
    return Chain("v2", tmp_path, outcomes.append, FaultNode(Node("faults-v2", "", tmp_path), Silence(lambda: True)))


def test_the_next_rows_run_reports_the_row_before(tmp_path: Path, runs: dict[str, Run]) -> None:
    outcomes: list[Outcome] = []
    carrier = chained(tmp_path, outcomes)
    runs.update({CUTS[0].name: Run(2, ""), CUTS[1].name: Run(2, UNDONE)})
    carrier.inject(CUTS[0])
    assert outcomes == []
    carrier.inject(CUTS[1])
    assert [(row_outcome.row, row_outcome.verdict) for row_outcome in outcomes] == [(CUTS[0].name, Verdict.PASSED)]
    assert outcomes[0].following == "went on, and met the next fault; reported the roll-back at boot"


def test_a_run_that_does_not_say_what_was_undone_loses_the_row_before(tmp_path: Path, runs: dict[str, Run]) -> None:
    outcomes: list[Outcome] = []
    carrier = chained(tmp_path, outcomes)
    runs.update({CUTS[0].name: Run(2, ""), CUTS[1].name: Run(2, "")})
    for row in CUTS[:2]:
        carrier.inject(row)
    assert [row_outcome.verdict for row_outcome in outcomes] == [Verdict.FAILED]
    assert outcomes[0].wrong == ("the next run did not say: was undone when it booted",)


@pytest.fixture(name="evidence")
def _evidence(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Rows for which evidence of the node was saved."""
    rows: list[str] = []
    monkeypatch.setattr(chain, "keep_evidence", lambda _name, row: rows.append(row))
    return rows


def silent(*_arguments: object) -> NoReturn:
    raise NodeSilent("it went silent")


def test_a_node_that_goes_silent_gives_no_result_for_its_row(
    tmp_path: Path, runs: dict[str, Run], evidence: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not runs
    outcomes: list[Outcome] = []
    carrier = chained(tmp_path, outcomes)
    monkeypatch.setattr(Injection, "outcome", silent)
    carrier.inject(CUTS[0])
    assert [(row_outcome.verdict, row_outcome.wrong) for row_outcome in outcomes] == [
        (Verdict.NOT_INJECTED, ("it went silent",))
    ]
    assert evidence == [CUTS[0].name]
    assert carrier.node is None


def test_rows_whose_node_goes_silent_in_their_next_run_are_left_to_be_tried_again(
    tmp_path: Path, runs: dict[str, Run], evidence: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes: list[Outcome] = []
    carrier = chained(tmp_path, outcomes)
    runs[CUTS[0].name] = Run(2, "")
    carrier.inject(CUTS[0])
    monkeypatch.setattr(FaultNode, "provision", silent)
    carrier.close()
    assert outcomes == []
    assert evidence == [CUTS[0].name]
    assert (carrier.node, carrier.waiting) == (None, [])


def test_what_a_silent_node_is_at_is_evidence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lab(command: str, *_arguments: str) -> str:
        if command == "journal":
            raise subprocess.CalledProcessError(3, "lab", output="VM: running")
        return "{}"

    monkeypatch.setattr(chain, "LOGS", tmp_path)
    monkeypatch.setattr(chain, "lab", lab)
    chain.keep_evidence("faults-v2", "row")
    assert (tmp_path / "row-node.log").read_text() == "VM: running"
    assert (tmp_path / "row-journals.log").read_text() == "{}"
