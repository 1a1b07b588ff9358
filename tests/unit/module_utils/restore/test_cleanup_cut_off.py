# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The last part of a restore removes slices and the collection's files; it is killed at every call that removes one.

The next run ends clean, also if it is killed and repeated.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cri.node_access import Node
from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.restore import cleanup, managed_slices
from ansible_collections.volcano.colocation.plugins.module_utils.slices import unit_result
from ansible_collections.volcano.colocation.plugins.module_utils.state import ledger
from ansible_collections.volcano.colocation.plugins.module_utils.state.files import write_private
from ansible_collections.volcano.colocation.plugins.module_utils.state.installed_engine import ENGINE_DIRECTORY
from ansible_collections.volcano.colocation.plugins.module_utils.state.store import STATE_DIRECTORY, Store
from ansible_collections.volcano.colocation.plugins.module_utils.transaction import runner
from ansible_collections.volcano.colocation.tests.support.node.directory_tree import Tree, tree_of, unpack
from ansible_collections.volcano.colocation.tests.support.node.interrupted_nodes import InterruptedNodes, no_disk
from ansible_collections.volcano.colocation.tests.support.node.kills import Moment, Watched

pytestmark = pytest.mark.exhaustive

FILE = "/etc/a/kubelet.yaml"
SYSTEM = {"/usr", "/usr/local", "/usr/local/lib", "/var", "/var/lib"}
"""Directories of every system."""


class Image(Watched):
    """An image after a restore, which still has the collection's own files."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.host = Host(str(root))

    def write(self, path: str, text: str) -> None:
        target = Path(self.host.path(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def transact(self, name: str, **edit: Any) -> None:
        store = Store(self.host)
        store.open(
            name, json.dumps({"schema": 1, "id": name, "files": [{"path": FILE, "before_sha256": None, **edit}]})
        )
        result = runner.execute(Node(self.host), store, name, lambda _line: None)
        assert result["state"] in ("committed", "refused")

    def slice(self, name: str) -> None:
        unit_result.execute(
            self.host,
            {**managed_slices.ABSENT, "name": name, "state": "present", "properties": {"MemoryHigh": 1 << 30}},
        )


class Images(InterruptedNodes[Image]):
    def untouched(self) -> Image:
        image = Image(self.new_directory())
        image.write("/etc/keep", "keep\n")
        image.write("/etc/systemd/system/foreign.slice", "[Slice]\n")
        return image

    def node(self, moment: Moment) -> Image:
        image = Image(self.new_directory())
        unpack(moment.tree, image.root)
        return image

    def restored(self) -> Image:
        """After a change, its restore, a refused transaction and an interrupted write."""
        image = self.untouched()
        image.transact("t-1", after="a\n")
        image.transact(
            "t-2", remove=True, before_sha256="87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7"
        )
        image.transact("t-3", after="b\n", before_sha256="0" * 64)
        image.write(f"{ENGINE_DIRECTORY}/0123/__main__.py", "")
        image.write(f"{ENGINE_DIRECTORY}/0123/volcano_colocation/__init__.py", "")
        write_private(f"{image.host.path(STATE_DIRECTORY)}/.{ledger.NAME}.volcano-colocation", b"{")
        image.slice("a.slice")
        image.slice("a-b.slice")
        image.slice("kubepods-besteffort.slice")
        return image


@pytest.fixture
def images(monkeypatch: pytest.MonkeyPatch) -> Iterator[Images]:
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    directory = Path(tempfile.mkdtemp(prefix="remains-", dir=memory))
    yield Images(directory, monkeypatch)
    shutil.rmtree(str(directory))


def cleans(image: Image) -> None:
    """Clean up like the last execution of a restore."""
    managed_slices.restore_slices(image.host, managed_slices.find_slices(image.host))
    cleanup.clean_up(image.host)


def foreign_files(tree: Tree) -> Tree:
    """Without empty directories of systemd, whose owner is no longer known."""
    hollow = {
        path for path in tree if path.endswith((".d", ".wants")) and not any(p.startswith(path + "/") for p in tree)
    }
    return {path: file for path, file in tree.items() if path not in SYSTEM | hollow}


def test_the_next_run_ends_clean_after_any_kill(images: Images) -> None:
    before = foreign_files(tree_of(images.untouched().root))

    def check(moment: Moment, image: Image) -> None:
        files = foreign_files(tree_of(image.root))
        assert not {*files} ^ {*before}, f"{moment.call}: {sorted({*files} ^ {*before})}"
        assert files == before, moment.call
        assert cleanup.removable_directories(image.host) == [], moment.call

    moments = images.moments(images.restored(), cleans, no_disk)
    assert len(moments) > 20
    assert images.recover_all(moments, cleans, check) >= len(moments)
