# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A scenario has a new node, which goes when it passed and stays when it failed; the others run all the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.run.scenarios import run_scenario, scenarios, summary

MOLECULE = """#!/bin/sh
echo "$@" >>calls
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
    monkeypatch.setenv("PATH", os.pathsep.join([str(molecule.parent), os.environ["PATH"]]))
    return tmp_path


def calls(checkout: Path) -> list[str]:
    return (checkout / "calls").read_text().splitlines()


def answers(_name: str) -> str:
    return ""


def is_silent(name: str) -> str:
    return f"{name} hangs"


def test_a_scenario_that_passes_is_destroyed(checkout: Path) -> None:
    result = run_scenario(checkout, os.environ, is_silent, "good")
    assert result.passed
    destroy = "destroy --scenario-name good"
    assert calls(checkout) == [destroy, "test --scenario-name good --destroy never", destroy]


def test_a_scenario_that_fails_keeps_its_node(checkout: Path) -> None:
    result = run_scenario(checkout, os.environ, answers, "bad")
    assert not result.passed
    assert result.tail.splitlines()[-1] == f"in {checkout}/.cache/molecule/bad"
    assert calls(checkout) == ["destroy --scenario-name bad", "test --scenario-name bad --destroy never"]


def test_a_node_that_went_silent_is_replaced_once(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = run_scenario(checkout, os.environ, is_silent, "unlucky")
    assert (result.passed, result.lost) == (True, 1)
    assert [line.split()[0] for line in calls(checkout)] == ["destroy", "test"] * 2 + ["destroy"]
    assert "unlucky hangs" in capsys.readouterr().out
    assert "1 node went silent" in summary(result)


def test_silence_twice_is_a_failure(checkout: Path) -> None:
    result = run_scenario(checkout, os.environ, is_silent, "bad")
    assert (result.passed, result.lost) == (False, 1)
    assert [line.split()[0] for line in calls(checkout)] == ["destroy", "test"] * 2


def test_every_folder_with_a_scenario_is_one(tmp_path: Path) -> None:
    for name in ("v2", "v1", "shared"):
        (tmp_path / "molecule" / name).mkdir(parents=True)
    for name in ("v2", "v1"):
        (tmp_path / "molecule" / name / "molecule.yml").touch()
    assert scenarios(tmp_path) == ["v1", "v2"]
