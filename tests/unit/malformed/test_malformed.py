# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Malformed input, each in a separate image: a message with place and remedy, and an unchanged tree.

The tables are in the other files of this directory, by the malformed input. Real action plugins and modules run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.support.tasks.in_process import run
from ansible_collections.volcano.colocation.tests.unit.malformed import (
    checkpoints,
    containerd_files,
    crio_files,
    kubelet_files,
    kubelet_starts,
    options,
    our_documents,
    plans,
    slices,
)
from ansible_collections.volcano.colocation.tests.unit.malformed.case import Case, everything, grow

TABLES: Mapping[str, Mapping[str, Case]] = {
    "kubelet": kubelet_files.CASES,
    "start of kubelet": kubelet_starts.CASES,
    "containerd": containerd_files.CASES,
    "CRI-O": crio_files.CASES,
    "option": options.CASES,
    "slice": slices.CASES,
    "plan": plans.CASES,
    "records": our_documents.CASES,
}
CASES = {f"{table}: {name}": case for table, cases in TABLES.items() for name, case in cases.items()}
NEEDED = 150


def test_there_are_enough_of_them() -> None:
    assert len(CASES) + len(plans.ANSWERED) >= NEEDED


def tree(root: Path, case: Case) -> dict[str, tuple[object, ...]]:
    return {name: value for name, value in everything(root).items() if not name.startswith(case.record_paths)}


@pytest.mark.parametrize("name", CASES)
def test_it_is_refused_and_the_tree_stays(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    root = grow(tmp_path / "image", case.files)
    case.spoil(root)
    before = tree(tmp_path, case)
    # Check mode and real runs refuse the same input.
    for check in (True, False):
        result = run(case.module, {"root": str(root), **case.options}, check=check)
        # Check mode does not read the plan.
        assert result.get("failed") or (check and result.get("skipped")), result
        assert tree(tmp_path, case) == before
    assert result.get("changed", False) is False
    for words in case.says:
        assert words in result["msg"]
    assert "Traceback" not in json.dumps(result)
    assert "Error:" not in result["msg"]


@pytest.mark.parametrize("path", [checkpoints.CPU, checkpoints.MEMORY])
@pytest.mark.parametrize("name", checkpoints.TEXTS)
def test_an_invalid_checkpoint_is_read_and_stays(name: str, path: str, tmp_path: Path) -> None:
    """Only kubelet writes it: node_facts reads it, and a change of the policy moves it aside."""
    root = grow(tmp_path / "image", {path: checkpoints.TEXTS[name]})
    before = everything(tmp_path)
    looked = run("node_facts", {"root": str(root)})
    assert not looked.get("failed"), looked
    json.dumps(looked)
    options = {"cpu_manager_policy": "static", "system_reserved": {"cpu": 1}}
    planned = run("kubelet_config", {"root": str(root), **options}, check=True)
    assert planned["checkpoints_to_reset"] == ([f"/{path}"] if path == checkpoints.CPU else [])
    assert everything(tmp_path) == before
    assert run("kubelet_config", {"root": str(root), **options})["changed"]
    assert everything(root)[path] == before[f"image/{path}"]


@pytest.mark.parametrize("name", plans.ANSWERED)
def test_a_plan_that_does_not_match_the_node_is_refused_in_the_result(name: str, tmp_path: Path) -> None:
    case = plans.ANSWERED[name]
    root = grow(tmp_path / "image", case.files)
    case.spoil(root)
    before = tree(tmp_path, case)
    result = run(case.module, {"root": str(root), **case.options})
    transaction = result["transaction"]
    assert (result["changed"], transaction["state"], transaction["error"]["node"]) == (
        False,
        "refused",
        "nothing was changed",
    )
    assert case.says[0] in transaction["error"]["message"]
    assert tree(tmp_path, case) == before
