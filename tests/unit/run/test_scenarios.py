# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A scenario's node goes when it passed and stays when it failed; the others run all the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.run.scenarios import run_scenario, scenarios

MOLECULE = """#!/bin/sh
echo "$@" >>calls
echo "in $MOLECULE_EPHEMERAL_DIRECTORY"
case "$*" in "test --scenario-name bad"*) exit 1;; esac
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


def test_a_scenario_that_passes_is_destroyed(checkout: Path) -> None:
    result = run_scenario(checkout, os.environ, "good")
    assert result.passed
    assert calls(checkout) == ["test --scenario-name good --destroy never", "destroy --scenario-name good"]


def test_a_scenario_that_fails_keeps_its_node(checkout: Path) -> None:
    result = run_scenario(checkout, os.environ, "bad")
    assert not result.passed
    assert result.tail == f"in {checkout}/.cache/molecule/bad"
    assert calls(checkout) == ["test --scenario-name bad --destroy never"]


def test_every_folder_with_a_scenario_is_one(tmp_path: Path) -> None:
    for name in ("v2", "v1", "shared"):
        (tmp_path / "molecule" / name).mkdir(parents=True)
    for name in ("v2", "v1"):
        (tmp_path / "molecule" / name / "molecule.yml").touch()
    assert scenarios(tmp_path) == ["v1", "v2"]
