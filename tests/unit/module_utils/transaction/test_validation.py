# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Candidates and the program that validates them: a real shell that prints the merged configuration like containerd."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cri.node_access import Node
from ansible_collections.volcano.colocation.plugins.module_utils.host import Clock, Host
from ansible_collections.volcano.colocation.plugins.module_utils.state.plan_document import read_plan
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.validation import (
    ValidationFailed,
    validate,
)

PLACEHOLDER = "@volcano-colocation-candidates@"
MAIN_TEXT = "version = 3\n[a.b]\nkey = false\nprogram = '/usr/bin/nvidia'\n"
DROP_IN = "[a.b]\nkey = true\n"
EXPECT = {"table": ["a", "b"], "key": "key", "value": "true"}
MERGED = 'for file in $(sed -n "s/^imports = //p" {file} | tr -d "[],\\""); do cat $file; done; cat {file}'
"""A program that reads imports first, so the imported value of a setting comes first."""


@pytest.fixture
def main(tmp_path: Path) -> Path:
    path = tmp_path / "etc" / "config.toml"
    path.parent.mkdir()
    path.write_text(MAIN_TEXT)
    return path


def run(tmp_path: Path, main: Path, after: str, **changes: Any) -> str:
    """The result of one validation of a plan that writes ``after`` to the main file."""
    validation = {"name": "dump", "argv": ["cat", "{file}"], "file": str(main), "expect": [EXPECT], **changes}
    before = hashlib.sha256(main.read_bytes()).hexdigest() if main.exists() else None
    plan = read_plan(
        {
            "schema": 1,
            "id": "t-1",
            "summary": [],
            "files": [{"path": str(main), "before_sha256": before, "after": after}],
            "validate": [validation],
        }
    )
    return validate(Node(Host("/"), Clock()), plan, str(tmp_path / "candidates"))


def compared(*settings: str, tables: tuple[tuple[str, ...], ...] = ()) -> dict[str, Any]:
    return {"compare": {"except": list(settings), "except_tables": [list(table) for table in tables]}}


def test_a_plan_without_candidates_shows_its_own_text(tmp_path: Path, main: Path) -> None:
    assert run(tmp_path, main, MAIN_TEXT.replace("false", "true")) == "dump"
    with pytest.raises(ValidationFailed, match=r"a\.b\.key = false from the new file, not true"):
        run(tmp_path, main, MAIN_TEXT)
    assert not (tmp_path / "candidates").exists()


def test_the_main_candidate_imports_the_other_ones(tmp_path: Path, main: Path) -> None:
    candidates = [
        {"name": "0-config.toml", "path": str(main), "text": f'imports = ["{PLACEHOLDER}/1-x.toml"]\n{MAIN_TEXT}'},
        {"name": "1-x.toml", "path": "/etc/x.toml", "text": DROP_IN},
    ]
    argv = ["sh", "-c", MERGED]
    assert run(tmp_path, main, MAIN_TEXT, argv=argv, candidates=candidates) == "dump"
    candidates[1]["text"] = DROP_IN.replace("true", "false")
    with pytest.raises(ValidationFailed, match="not true"):
        run(tmp_path, main, MAIN_TEXT, argv=argv, candidates=candidates)
    assert not (tmp_path / "candidates").exists()


def test_a_candidate_without_a_text_gets_the_planned_one(tmp_path: Path, main: Path) -> None:
    candidates = [{"name": "0-config.toml", "path": str(main), "text": None}]
    assert run(tmp_path, main, MAIN_TEXT.replace("false", "true"), candidates=candidates) == "dump"


def test_candidates_are_private(tmp_path: Path, main: Path) -> None:
    main.chmod(0o644)
    script = 'stat -c "mode = %a" {file}; stat -c "directory = %a" {folder}'
    expected = [{"table": [], "key": key, "value": value} for key, value in (("mode", "600"), ("directory", "700"))]
    assert run(tmp_path, main, MAIN_TEXT, argv=["sh", "-c", script], expect=expected) == "dump"
    assert stat.S_IMODE(os.stat(main).st_mode) == 0o644


def test_nothing_else_may_change(tmp_path: Path, main: Path) -> None:
    changed = MAIN_TEXT.replace("false", "true").replace("program = '/usr/bin/nvidia'\n", "")
    with pytest.raises(ValidationFailed, match=r"also change a\.b\.program\b") as failure:
        run(tmp_path, main, changed, **compared())
    assert "/usr/bin/nvidia" not in str(failure.value)
    assert run(tmp_path, main, changed) == "dump"
    assert run(tmp_path, main, changed, **compared(tables=(("a", "b"),))) == "dump"


def test_changed_values_are_refused_and_many_are_counted(tmp_path: Path, main: Path) -> None:
    main.write_text("".join(f"k{number} = 1\n" for number in range(7)) + MAIN_TEXT)
    after = main.read_text().replace("= 1\n", "= 2\n").replace("false", "true")
    with pytest.raises(ValidationFailed, match=r"k0, k1, k2, k3, k4 and 2 more"):
        run(tmp_path, main, after, **compared())
    assert run(tmp_path, main, after, **compared(*(f"k{number}" for number in range(7)))) == "dump"


@pytest.mark.parametrize("value", ['""', "''", "0", "false", "[]"])
def test_an_unset_value_may_be_missing(tmp_path: Path, main: Path, value: str) -> None:
    main.write_text(MAIN_TEXT + f"more = {value}\n")
    assert run(tmp_path, main, MAIN_TEXT.replace("false", "true"), **compared()) == "dump"


def test_new_settings_are_allowed(tmp_path: Path, main: Path) -> None:
    assert run(tmp_path, main, MAIN_TEXT.replace("false", "true") + "[c]\nd = 1\n", **compared()) == "dump"


@pytest.mark.parametrize("exists", [True, False])
def test_a_rejected_current_file_is_not_compared(tmp_path: Path, main: Path, exists: bool) -> None:
    main.write_text("refused\n" + MAIN_TEXT)
    if not exists:
        main.unlink()
    argv = ["sh", "-c", "grep -q refused {file} && exit 1; cat {file}"]
    assert run(tmp_path, main, DROP_IN, argv=argv, **compared()) == "dump"


def test_the_error_of_a_program_is_quoted_and_leaves_no_files(tmp_path: Path, main: Path) -> None:
    argv = ["sh", "-c", "echo 'invalid plugin URI' >&2; exit 1"]
    with pytest.raises(ValidationFailed, match="rejects the new file: invalid plugin URI"):
        run(tmp_path, main, MAIN_TEXT, argv=argv)
    assert not (tmp_path / "candidates").exists()
