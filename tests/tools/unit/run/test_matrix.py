# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Python for tests on other releases of ansible-core."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab.errors import LabError
from ansible_collections.volcano.colocation.tests.run import matrix, trixie, venvs
from ansible_collections.volcano.colocation.tests.run.matrix import EXHAUSTIVE, find_python, node_units


def program(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script)
    path.chmod(0o755)
    return path


def test_a_python_that_does_not_run_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "shims" / "python3.7", "#!/bin/sh\nexit 127\n")
    real = program(tmp_path / "pyenv" / "versions" / "3.7.16" / "bin" / "python3.7", "#!/bin/sh\n")
    monkeypatch.setenv("PATH", str(tmp_path / "shims"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    assert find_python("3.7") == real


def test_a_python_that_is_nowhere_is_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert find_python("3.7") is None


def test_tests_without_a_python_are_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(matrix, "find_python", lambda _version: None)
    assert list(node_units(EXHAUSTIVE)) == []
    assert capsys.readouterr().out.startswith("not run: node-side units on Python 3.7: install Python 3.7")


def test_the_own_python_is_used_if_it_is_new_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 12, 1, "final", 0))
    assert matrix.controller_python("2.21") == Path(sys.executable)
    monkeypatch.setattr(sys, "version_info", (3, 11, 7, "final", 0))
    assert matrix.controller_python("2.17") == Path(sys.executable)


def test_another_of_the_machine_comes_before_debians(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 11, 7, "final", 0))
    monkeypatch.setattr(matrix, "find_python", lambda version: Path("/x") if version == "3.13" else None)
    monkeypatch.setattr(trixie, "provide", lambda: Path("/debian"))
    assert matrix.controller_python("2.20") == Path("/x")
    monkeypatch.setattr(matrix, "find_python", lambda _version: None)
    assert matrix.controller_python("2.20") == Path("/debian")


def test_releases_without_a_python_are_named_and_the_others_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def unavailable() -> Path:
        raise LabError("mmdebstrap is not installed")

    monkeypatch.setattr(sys, "version_info", (3, 11, 7, "final", 0))
    monkeypatch.setattr(matrix, "find_python", lambda _version: None)
    monkeypatch.setattr(trixie, "provide", unavailable)
    monkeypatch.setattr(venvs, "provide", lambda _recipe: Path("/venv/python"))
    monkeypatch.setattr(matrix, "run", lambda *_arguments: True)
    monkeypatch.setattr(matrix, "run_current", lambda *_arguments: True)
    assert [name.rpartition(" ")[2] for name, _passed in matrix.results()] == ["2.17", "2.17", "2.18", "2.18"]
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == ("not run: everything on ansible-core 2.20: mmdebstrap is not installed; or install Python 3.12")
    assert len(lines) == 3


@pytest.mark.parametrize(
    ("script", "passed"),
    [("true", True), ("echo '[WARNING]: x'", True), ("echo '[DEPRECATION WARNING]: x' >&2", False), ("false", False)],
)
def test_a_deprecation_is_a_failure(tmp_path: Path, script: str, passed: bool) -> None:
    assert matrix.run_current(program(tmp_path / "python", f"#!/bin/sh\n{script}\n")) is passed
