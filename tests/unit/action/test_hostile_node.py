# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node that answers with anything: the task fails with a message that names the node, never with a Python error."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ansible import constants

from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.packing import SIZE_LIMIT, pack
from ansible_collections.volcano.colocation.tests.unit.action import in_process
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.nodes import ALIGNED, captured, put

ACTIONS: dict[str, dict[str, Any]] = {
    "node_facts": {},
    "node_align": {"cgroup_driver": "systemd"},
    "kubelet_config": {"cgroup_driver": "systemd"},
    "containerd_config": {"cgroup_driver": "systemd"},
    "crio_config": {"cgroup_driver": "systemd"},
    "node_restore": {},
}
ANSWERS: dict[str, Any] = {
    "number": 7,
    "list": [1],
    "nothing": None,
    "packed number": pack(7),  # type: ignore[arg-type]
    "packed list": pack([]),  # type: ignore[arg-type]
    "deep": pack({"x": 1})[:9],
    "empty": pack({}),
    "bomb": pack({"x": " " * SIZE_LIMIT}),
    "shape": pack(put(captured(ALIGNED), 7, "cgroups", "mountinfo")),
    "content": pack(put(captured(ALIGNED), "/gone", "kubelet", "checkpoint_path")),
}


@pytest.fixture(autouse=True)
def _private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "DEFAULT_LOCAL_TMP", str(tmp_path))


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("name", ACTIONS)
def test_whatever_a_node_sends_is_refused_with_its_name(name: str, answer: str) -> None:
    def recorded(_module: str, _arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {"snapshot": ANSWERS[answer], "evidence": ANSWERS[answer]}

    result = in_process.action(name, ACTIONS[name], check=True, recorded=recorded)
    assert result["failed"] is True
    assert result["msg"].startswith("node: ")
