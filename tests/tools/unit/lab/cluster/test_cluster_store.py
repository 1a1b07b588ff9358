# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab.cluster.store import ClusterStore
from ansible_collections.volcano.colocation.tests.lab.errors import LabError
from ansible_collections.volcano.colocation.tests.lab.store import Store
from ansible_collections.volcano.colocation.tests.support.lab.paper_nodes import create
from ansible_collections.volcano.colocation.tests.tools.unit.lab.cluster.paper_plane import PORTS, PROGRAMS, UUID


def test_a_stored_control_plane_is_loaded(tmp_path: Path) -> None:
    created = ClusterStore(tmp_path).create(UUID, "1.35.4", PORTS, PROGRAMS)
    assert ClusterStore(tmp_path).load() == created
    assert created.url == "https://127.0.0.1:1001"
    assert created.directory.stat().st_mode & 0o777 == 0o700


def test_without_a_control_plane(tmp_path: Path) -> None:
    assert ClusterStore(tmp_path).find() is None
    with pytest.raises(LabError, match="cluster up"):
        ClusterStore(tmp_path).load()


@pytest.mark.parametrize("text", ["{", "{}", "[]", '{"programs": [], "uuid": "1", "release": "1.35.4", "ports": {}}'])
def test_a_file_that_cannot_be_read_is_named(text: str, tmp_path: Path) -> None:
    created = ClusterStore(tmp_path).create(UUID, "1.35.4", PORTS, PROGRAMS)
    (created.directory / "control_plane.json").write_text(text)
    with pytest.raises(LabError, match=r"control_plane\.json cannot be read"):
        ClusterStore(tmp_path).find()


def test_removal_deletes_all_files_and_keeps_nodes(tmp_path: Path) -> None:
    known = ClusterStore(tmp_path)
    known.create(UUID, "1.35.4", PORTS, PROGRAMS)
    create(tmp_path, "one")
    assert Store(tmp_path).names() == ["one"]
    known.remove()
    known.remove()
    assert [path.name for path in tmp_path.iterdir()] == ["one"]
