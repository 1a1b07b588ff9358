# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab.cli import main
from ansible_collections.volcano.colocation.tests.lab.cluster.store import ClusterStore
from ansible_collections.volcano.colocation.tests.tools.unit.lab.cluster.paper_plane import PORTS, PROGRAMS, UUID

ENDED = """\
etcd: ended
kube-apiserver: ended
kube-controller-manager: ended
kube-scheduler: ended
server https://127.0.0.1:1001, Kubernetes 1.35.4
kubeconfig {directory}/control_plane/kubeconfig
"""


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "state"
    directory.mkdir()
    monkeypatch.setenv("COLOCATION_LAB_STATE", str(directory))
    monkeypatch.setenv("COLOCATION_LAB_CACHE", str(tmp_path / "cache"))
    return directory


@pytest.mark.parametrize("words", [["status"], ["join", "one"], ["kubectl", "get", "nodes"]])
def test_a_missing_control_plane_is_reported_without_a_traceback(
    words: list[str], state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cluster", *words]) == 1
    message = capsys.readouterr().err
    assert message == f"lab: there is no control plane in {state}: `cluster up` starts one\n"


def test_down_succeeds_without_anything_to_stop(state: Path) -> None:
    assert main(["cluster", "down"]) == 0
    assert main(["cluster", "down"]) == 0


def test_a_control_plane_that_ended_is_shown_and_taken_down(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ClusterStore(state).create(UUID, "1.35.4", PORTS, PROGRAMS)
    assert main(["cluster", "status"]) == 1
    assert capsys.readouterr().out == ENDED.format(directory=state)
    assert main(["cluster", "status", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["running"] == {
        "etcd": None,
        "kube-apiserver": None,
        "kube-controller-manager": None,
        "kube-scheduler": None,
    }
    assert main(["cluster", "down"]) == 0
    assert not (state / "control_plane").exists()


def test_a_node_that_does_not_run_cannot_join(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ClusterStore(state).create(UUID, "1.35.4", PORTS, PROGRAMS)
    assert main(["cluster", "join", "nowhere"]) == 1
    assert "there is no node 'nowhere'" in capsys.readouterr().err
