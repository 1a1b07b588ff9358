# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Failed tests run once more only if their node went silent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.run import system
from ansible_collections.volcano.colocation.tests.run.nodes import Lab

LAB = """
import json, os, sys
match sys.argv[1:]:
    case ["list", "--json"]:
        print(json.dumps([{"name": "system"}]))
    case ["journal", "system"]:
        print("VM: running")
        sys.exit(3 if os.path.exists("silent") else 0)
    case ["down", "--all"]:
        os.remove("silent")
"""
PYTEST = """#!/bin/sh
echo "$@" >>calls
[ "$(wc -l <calls)" -gt "$FAILURES" ]
"""


@pytest.mark.parametrize(
    ("failures", "silent", "status", "runs"),
    [(0, True, 0, 1), (1, False, 1, 1), (1, True, 0, 2), (2, True, 1, 2)],
)
def test_a_failure_gets_a_second_try_only_where_the_node_went_silent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failures: int, silent: bool, status: int, runs: int
) -> None:
    for path, text in (("tests/lab/__main__.py", LAB), ("bin/pytest", PYTEST)):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(text)
        (tmp_path / path).chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "bin"), os.environ["PATH"]]))
    monkeypatch.setenv("FAILURES", str(failures))
    if silent:
        (tmp_path / "silent").write_text("hangs")
    assert system.run(tmp_path, os.environ, Lab(tmp_path, os.environ), ("pytest", "tests")) == status
    calls = (tmp_path / "calls").read_text().splitlines()
    assert len(calls) == runs
    assert [line for line in calls if "--last-failed" in line] == calls[1:]
