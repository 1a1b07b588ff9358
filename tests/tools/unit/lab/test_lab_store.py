# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab.errors import LabError
from ansible_collections.volcano.colocation.tests.lab.store import Store
from ansible_collections.volcano.colocation.tests.support.lab.paper_nodes import create


def test_a_stored_node_is_loaded_unchanged(tmp_path: Path) -> None:
    node = dataclasses.replace(
        create(tmp_path),
        boot_id="b",
        seconds=(("ssh", 20.1), ("pods", 60.0)),
        containers=(("guaranteed", "container", "/kubepods/x"),),
    )
    assert Store(tmp_path).save(node) == Store(tmp_path).load("one")


def test_unknown_fields_of_another_version_are_ignored(tmp_path: Path) -> None:
    node = create(tmp_path)
    file = node.directory / "node.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "of_another_version": 1}))
    assert Store(tmp_path).load("one") == node


def test_every_node_has_a_separate_subnet(tmp_path: Path) -> None:
    nodes = [create(tmp_path, name, port) for port, name in enumerate("abc", 2201)]
    assert len({node.address for node in nodes}) == 3
    assert all(node.address.startswith(f"10.0.{node.subnet}.") for node in nodes)
    Store(tmp_path).remove(nodes[1])
    assert create(tmp_path, "d", 2204).subnet == nodes[1].subnet


def test_an_unknown_node_is_reported_with_the_known_ones(tmp_path: Path) -> None:
    create(tmp_path)
    with pytest.raises(LabError, match=r"no node 'two'.*nodes: one"):
        Store(tmp_path).load("two")


def test_a_pid_of_another_process_is_not_the_nodes(tmp_path: Path) -> None:
    node = create(tmp_path)
    (node.directory / "machine.pid").write_text("2\n")
    assert node.pid is None
    assert node.facts()["running"] is False


def test_facts_contain_the_ssh_connection(tmp_path: Path) -> None:
    assert create(tmp_path).facts()["ssh"] == {
        "host": "127.0.0.1",
        "port": 2201,
        "user": "root",
        "key": str(tmp_path / "id_ed25519"),
    }


def test_files_that_are_removed_concurrently_are_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The network's program removes its socket when it ends."""
    node = create(tmp_path)
    (node.directory / "network.sock").touch()
    unlink = os.unlink

    def late(name: str, *, dir_fd: int | None = None) -> None:
        unlink(name, dir_fd=dir_fd)
        unlink(name, dir_fd=dir_fd)

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", late)
        Store(tmp_path).remove(node)
    assert not node.directory.exists()


def test_files_that_cannot_be_removed_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = create(tmp_path)

    def refused(name: str, *, dir_fd: int | None = None) -> None:
        raise PermissionError(name)

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", refused)
        with pytest.raises(PermissionError):
            Store(tmp_path).remove(node)
