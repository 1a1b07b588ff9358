# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An image that an older version changed: verified, changed and restored by this version, after every stage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.support.recorded_states import STATES, recording, unpack
from ansible_collections.volcano.colocation.tests.support.tasks import in_process
from ansible_collections.volcano.colocation.tests.tools.state_recordings import tree

STAGES = [(state, name) for state in STATES for name, _module, _options in recording(state, "image")["tasks"]]
OTHER: tuple[tuple[str, dict[str, Any]], ...] = (
    ("kubelet_config", {"cgroup_driver": "cgroupfs", "cpu_manager_policy": "none", "pod_pids_limit": 2048}),
    ("containerd_config", {"cgroup_driver": "cgroupfs", "nri": {"enabled": False}}),
    ("systemd_slice", {"name": "node-agents.slice", "properties": {"CPUWeight": 20, "TasksMax": 9}}),
    ("systemd_slice", {"name": "kubepods-besteffort.slice", "properties": {"CPUQuota": "10%"}}),
)


def run(root: Path, module: str, options: dict[str, Any], *, check: bool = False) -> dict[str, Any]:
    call = in_process.module if module == "systemd_slice" else in_process.action
    result = call(module, {"root": str(root), **options}, check=check)
    assert not result.get("failed"), result.get("msg")
    return result


@pytest.fixture(params=STAGES, ids="-".join, name="stage")
def _stage(request: pytest.FixtureRequest) -> tuple[str, str]:
    result: tuple[str, str] = request.param
    return result


@pytest.fixture(name="image")
def _image(stage: tuple[str, str], root: Path) -> Path:
    return unpack(recording(stage[0], "image")["states"][stage[1]], root)


def done(stage: tuple[str, str]) -> list[tuple[str, dict[str, Any]]]:
    """The last task of each module and target up to a stage, which are in effect then."""
    tasks = recording(stage[0], "image")["tasks"]
    names = [name for name, _module, _options in tasks]
    return [(module, options) for _name, module, options in tasks[: names.index(stage[1]) + 1]]


def test_the_image_is_unchanged(stage: tuple[str, str], image: Path) -> None:
    recorded = recording(stage[0], "image")["states"][stage[1]]
    for module, options in done(stage):
        assert not run(image, module, options, check=True)["changed"], module
        assert not run(image, module, options)["changed"], module
    assert tree(image) == recorded


def test_the_image_is_restored_byte_for_byte(stage: tuple[str, str], image: Path) -> None:
    predicted = run(image, "node_restore", {}, check=True)
    restored = run(image, "node_restore", {})
    assert restored["changed"]
    assert (restored["conflicts"], restored["changes"]) == ([], predicted["changes"])
    assert tree(image) == recording(stage[0], "image")["states"]["before"]
    assert not run(image, "node_restore", {})["changed"]


def test_the_image_is_changed_and_restored_byte_for_byte(stage: tuple[str, str], image: Path) -> None:
    for module, options in OTHER:
        assert run(image, module, options)["changed"], module
        assert not run(image, module, options)["changed"], module
    restored = run(image, "node_restore", {})
    assert restored["conflicts"] == []
    assert tree(image) == recording(stage[0], "image")["states"]["before"]


def test_the_ledger_of_that_version_is_read(stage: tuple[str, str], image: Path) -> None:
    before = tree(image)
    result = in_process.module("node_ledger", {"root": str(image)})
    assert not result.get("failed"), result.get("msg")
    facts = run(image, "node_facts", {})["ansible_facts"]["colocation"]
    assert "unfinished-transaction" not in {finding["code"] for finding in facts["findings"]}
    assert tree(image) == before
