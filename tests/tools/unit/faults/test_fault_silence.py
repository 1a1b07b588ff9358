# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run that waits for a node that stopped responding is ended."""

from __future__ import annotations

import subprocess
import time
from concurrent.futures import Future
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.faults import node as fault_node
from ansible_collections.volcano.colocation.tests.faults.injection import Injection
from ansible_collections.volcano.colocation.tests.faults.node import FaultNode
from ansible_collections.volcano.colocation.tests.faults.rows import ROWS
from ansible_collections.volcano.colocation.tests.lab.silence import NodeSilent, Silence
from ansible_collections.volcano.colocation.tests.system import node
from ansible_collections.volcano.colocation.tests.system.node import Node, Run


def test_what_a_look_raises_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    playbook = tmp_path / "ansible-playbook"
    playbook.write_text("#!/bin/sh\nexec sleep 60\n")
    playbook.chmod(0o755)
    monkeypatch.setattr(node, "BIN", tmp_path)
    monkeypatch.setattr(node, "LOOK_SECONDS", 0.05)
    looks = iter((None, NodeSilent("it went silent")))

    def look() -> None:
        if error := next(looks):
            raise error

    began = time.monotonic()
    with pytest.raises(NodeSilent):
        node.ansible_process("x", tmp_path, look=look)
    assert time.monotonic() - began < 30


def test_a_run_that_is_looked_at_loses_nothing_of_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    playbook = tmp_path / "ansible-playbook"
    playbook.write_text("#!/bin/sh\necho begun\nsleep 0.3\necho ended\nexit 2\n")
    playbook.chmod(0o755)
    monkeypatch.setattr(node, "BIN", tmp_path)
    monkeypatch.setattr(node, "LOOK_SECONDS", 0.05)
    assert node.ansible_process("x", tmp_path, look=lambda: None) == Run(2, "begun\nended\n")


@pytest.mark.parametrize(("answers", "error"), [(False, NodeSilent), (True, subprocess.CalledProcessError)])
def test_a_node_that_does_not_come_back_is_silent_unless_it_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: bool, error: type[Exception]
) -> None:
    def lab(*arguments: str) -> str:
        raise subprocess.CalledProcessError(1, arguments)

    monkeypatch.setattr(fault_node, "lab", lab)
    with pytest.raises(error):
        FaultNode(Node("faults-v1", "", tmp_path), Silence(lambda: answers)).reset()


def test_a_run_that_ended_in_silence_says_so_where_its_moment_is_waited_for(tmp_path: Path) -> None:
    run: Future[Run] = Future()
    run.set_exception(NodeSilent("it went silent"))
    injection = Injection(ROWS[0], FaultNode(Node("faults-v1", "", tmp_path), Silence(lambda: True)))
    with pytest.raises(NodeSilent):
        injection.end_run(run)
