# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A scenario has a new node, which is destroyed if it passed and stays if it failed; other scenarios still run."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.run.scenarios import (
    Result,
    lanes,
    run_lanes,
    run_scenario,
    scenarios,
    summary,
)

MOLECULE = """#!/bin/sh
echo "$@" >>calls
mkdir -p "$MOLECULE_EPHEMERAL_DIRECTORY"
echo "in $MOLECULE_EPHEMERAL_DIRECTORY"
case "$*" in
    "test --scenario-name bad"*) exit 1;;
    "test --scenario-name unlucky"*) [ "$(grep -c '^test' calls)" -gt 1 ];;
esac
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    molecule = tmp_path / "bin" / "molecule"
    molecule.parent.mkdir()
    molecule.write_text(MOLECULE)
    molecule.chmod(0o755)
    for name in ("good", "bad", "unlucky"):
        scenario(tmp_path, name, f"{name}-1", f"{name}-2")
    monkeypatch.setenv("PATH", os.pathsep.join([str(molecule.parent), os.environ["PATH"]]))
    return tmp_path


def scenario(checkout: Path, name: str, *nodes: str, lab: Sequence[str] = ()) -> None:
    path = checkout / "molecule" / name / "molecule.yml"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"platforms": [{"name": node, "lab": lab} for node in nodes]}))


def calls(checkout: Path) -> list[str]:
    return (checkout / "calls").read_text().splitlines()


def answers(_name: str) -> str:
    return ""


def is_silent(name: str) -> str:
    """One of two nodes is silent."""
    return f"{name} hangs" if name.endswith("-2") else ""


def test_a_scenario_that_passes_is_destroyed(checkout: Path) -> None:
    result = run_scenario(checkout, os.environ, is_silent, "good")
    assert result.passed
    assert calls(checkout) == ["test --scenario-name good --destroy never", "destroy --scenario-name good"]
    assert list((checkout / ".cache" / "molecule").iterdir()) == []


def test_the_node_of_an_earlier_failure_is_destroyed_first(checkout: Path) -> None:
    run_scenario(checkout, os.environ, answers, "bad")
    run_scenario(checkout, os.environ, answers, "bad")
    assert [line.split()[0] for line in calls(checkout)] == ["test", "destroy", "test"]


def test_a_scenario_that_fails_keeps_its_node(checkout: Path) -> None:
    result = run_scenario(checkout, os.environ, answers, "bad")
    assert not result.passed
    assert result.tail.splitlines()[-1] == f"in {checkout}/.cache/molecule/bad"
    assert calls(checkout) == ["test --scenario-name bad --destroy never"]


def test_a_node_that_went_silent_is_replaced_once(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = run_scenario(checkout, os.environ, is_silent, "unlucky")
    assert (result.passed, result.silent_runs) == (True, 1)
    assert [line.split()[0] for line in calls(checkout)] == ["test", "destroy"] * 2
    assert "unlucky-2 hangs" in capsys.readouterr().out
    assert "a node went silent" in summary(result)


def test_silence_twice_is_a_failure(checkout: Path) -> None:
    result = run_scenario(checkout, os.environ, is_silent, "bad")
    assert (result.passed, result.silent_runs) == (False, 1)
    assert [line.split()[0] for line in calls(checkout)] == ["test", "destroy", "test"]


def test_every_directory_with_a_scenario_is_one(tmp_path: Path) -> None:
    (tmp_path / "molecule" / "shared").mkdir(parents=True)
    scenario(tmp_path, "v2", "v2")
    scenario(tmp_path, "both", "one", "two")
    assert scenarios(tmp_path) == {"both": ["one", "two"], "v2": ["v2"]}


def test_emulated_nodes_run_one_after_the_other_beside_the_others(checkout: Path) -> None:
    for node in ("slow", "slower"):
        scenario(checkout, node, node, lab=["--engine", "qemu"])
    for node in ("quick", "quicker"):
        scenario(checkout, node, node)
    assert lanes(checkout, ["quick", "slow", "quicker", "slower"]) == [["slow", "slower"], ["quick", "quicker"]]
    assert lanes(checkout, ["quick", "quicker"]) == [["quick"], ["quicker"]]
    assert lanes(checkout, ["slow"]) == [["slow"], []]


def test_two_nodes_of_a_scenario_have_none_beside_them(checkout: Path) -> None:
    assert lanes(checkout, ["good", "bad"]) == [["good", "bad"]]


def test_every_scenario_has_a_result() -> None:
    results = run_lanes(lambda name: Result(name, name != "b", 1.0, ""), [["a", "b"], ["c"], []])
    assert [(result.name, result.passed) for result in results] == [("a", True), ("b", False), ("c", True)]
