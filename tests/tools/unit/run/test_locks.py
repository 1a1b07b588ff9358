# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`make lock`: pins of development constrain other environments; a failed run changes no lock."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.run import locks, venvs
from ansible_collections.volcano.colocation.tests.run.locks import Lock, Pin, parse_pins, render_constraints

LOCK = """\
# header

ansible-core==2.19.14 \\
    --hash=sha256:aa
cffi==2.1.1 ; platform_python_implementation != 'PyPy' \\
    --hash=sha256:bb \\
    --hash=sha256:cc
"""

UV = f"""\
#!{sys.executable}
import pathlib, sys
arguments = sys.argv[1:]
value = lambda option: pathlib.Path(arguments[arguments.index(option) + 1])
output = value("--output-file")
kept = output.read_text() if output.exists() else ""
name = arguments[-1].rsplit("/", 1)[1]
output.write_text(f"{{name}} {{value('--constraint').read_text()}}{{kept.count('pinned')}}\\n")
sys.exit("conflict.txt" in arguments[-1])
"""
"""A uv that writes the name of the list, the constraints and how often the old lock has `pinned`, then may fail."""


def test_pins_are_read_without_hashes() -> None:
    assert [*parse_pins(LOCK)] == [
        Pin("ansible-core", "2.19.14"),
        Pin("cffi", "2.1.1", "platform_python_implementation != 'PyPy'"),
    ]


def test_constraints_leave_out_what_follows_the_release_and_older_pythons() -> None:
    assert render_constraints([*parse_pins(LOCK)]) == (
        "cffi==2.1.1 ; (platform_python_implementation != 'PyPy') and python_full_version >= '3.11'\n"
    )


@pytest.fixture(name="uv")
def _uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(venvs, "REQUIREMENTS", tmp_path)
    (tmp_path / "locks").mkdir()
    (tmp_path / "locks" / "dev.txt").write_text("pytest==9 \\\n    --hash=sha256:aa\n")
    path = tmp_path / "uv"
    path.write_text(UV)
    path.chmod(0o755)
    return path


def test_a_lock_follows_development_and_keeps_its_own_pins(uv: Path) -> None:
    venvs.lock_path("core-2.17").write_text("pinned\n")
    locks.write_lock(uv, Lock("core-2.17", "3.11"), [])
    assert (
        venvs.lock_path("core-2.17")
        .read_text()
        .endswith(
            "from requirements/core-2.17.txt, for Python 3.11 and later.\n\n"
            "core-2.17.txt pytest==9 ; python_full_version >= '3.11'\n1\n"
        )
    )


def test_a_lock_that_does_not_follow_has_no_constraints(uv: Path) -> None:
    locks.write_lock(uv, Lock("node-3.7", "3.7", follows=False), [])
    assert venvs.lock_path("node-3.7").read_text().endswith("\n\nnode-3.7.txt 0\n")


def test_a_conflict_leaves_the_lock_and_names_the_list(
    uv: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    venvs.lock_path("conflict").write_text("pinned\n")
    monkeypatch.setattr(locks, "LOCKS", (Lock("conflict", "3.11"),))
    monkeypatch.setattr(venvs, "provide", lambda _recipe: uv.with_name("python"))
    monkeypatch.setattr(venvs, "identity", lambda _interpreter: "")
    assert locks.main([]) == 1
    assert "requirements/conflict.txt cannot be resolved" in capsys.readouterr().err
    assert venvs.lock_path("conflict").read_text() == "pinned\n"
