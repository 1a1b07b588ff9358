# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which Python and which pins the older releases are tested with."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.run import matrix
from ansible_collections.volcano.colocation.tests.run.matrix import EXHAUSTIVE, constraints, find_python, node_units


def program(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script)
    path.chmod(0o755)
    return path


def test_pins_that_follow_the_release_are_left_out() -> None:
    names = {line.split("==")[0] for line in constraints().splitlines() if "==" in line}
    assert "pytest" in names
    assert not names & {"ansible-core", "resolvelib"}


def test_a_python_that_does_not_run_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "shims" / "python3.7", "#!/bin/sh\nexit 127\n")
    real = program(tmp_path / "pyenv" / "versions" / "3.7.16" / "bin" / "python3.7", "#!/bin/sh\n")
    monkeypatch.setenv("PATH", str(tmp_path / "shims"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    assert find_python("3.7") == real


def test_no_such_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert find_python("3.7") is None


def test_tests_without_a_python_are_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(matrix, "find_python", lambda _version: None)
    assert list(node_units(EXHAUSTIVE)) == []
    assert capsys.readouterr().out.startswith("not run: node-side units on Python 3.7: install Python 3.7")
