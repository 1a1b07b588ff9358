# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The threat model page, as far as the sources can prove it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/security.md").read_text(encoding="utf-8")
SOURCES = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in (ROOT / "plugins").rglob("*.py")}
NEEDS = PAGE.partition("## What needs root")[2].partition("\n## ")[0]
STARTS = "module_utils/host.py"
"""The only file that starts programs."""


def test_every_module_is_in_the_table_of_rights() -> None:
    modules = {path.stem for path in (ROOT / "plugins/modules").glob("*.py")}
    assert set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", NEEDS)) >= modules


@pytest.mark.parametrize("path", sorted((ROOT / "playbooks").rglob("*.yml")), ids=lambda path: path.name)
def test_every_play_on_nodes_becomes_root(path: Path) -> None:
    entries = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert entries
    for entry in entries:
        if path.name not in ("hosts.yml", "read.yml") and "hosts" in entry:
            assert entry.get("become") is True or entry["hosts"] == "localhost" or is_of_the_cluster(entry)


def test_the_play_that_all_playbooks_import_reads_no_node() -> None:
    (play,) = yaml.safe_load((ROOT / "playbooks/shared/hosts.yml").read_text(encoding="utf-8"))
    checks = {"ansible.builtin.assert", "volcano.colocation.validate_variables"}
    assert [bool(set(task) & checks) for task in play["tasks"]] == [True, True]


def is_of_the_cluster(play: dict[str, Any]) -> bool:
    """Whether all its tasks are delegated to the controller."""
    entries = [task.get("ansible.builtin.import_role", {}).get("tasks_from", "") for task in play["tasks"]]
    files = [ROOT / f"roles/node/tasks/{entry}.yml" for entry in entries]
    tasks = [task for file in files if file.is_file() for task in yaml.safe_load(file.read_text(encoding="utf-8"))]
    return bool(tasks) and all(
        task.get("delegate_to") == "localhost" or "ansible.builtin.debug" in task for task in tasks
    )


def test_there_is_no_shell_and_one_place_that_starts_programs() -> None:
    starting = {
        name for name, text in SOURCES.items() if re.search(r"\bsubprocess\b|os\.(system|popen|exec|spawn)", text)
    }
    assert starting == {f"plugins/{STARTS}"}
    assert not [name for name, text in SOURCES.items() if "shell=True" in text]


def test_no_file_is_written_to_a_world_writable_directory() -> None:
    assert not [name for name, text in SOURCES.items() if re.search(r"[\"'](/var)?/tmp\b", text)]


def test_each_exception_from_the_rules_has_its_reason() -> None:
    lines = [line for text in SOURCES.values() for line in text.splitlines() if "noqa: S" in line]
    assert lines
    assert not [line for line in lines if not re.search(r"# noqa: S\d+ - \w", line)]


def test_no_file_is_world_writable() -> None:
    modes = {int(digits, 8) for text in SOURCES.values() for digits in re.findall(r"\b0o([0-7]{3,4})\b", text)}
    # 0o022 and 0o077 are masks, 0o7777 is all bits.
    assert not [oct(mode) for mode in modes - {0o022, 0o077, 0o7777} if mode & 0o022]
