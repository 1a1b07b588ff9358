# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The collection's own files are removed after everything is restored, except backups that may be needed."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cri.node_access import Node
from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.restore import cleanup
from ansible_collections.volcano.colocation.plugins.module_utils.restore.restorable import restore_evidence
from ansible_collections.volcano.colocation.plugins.module_utils.state import image_record, ledger
from ansible_collections.volcano.colocation.plugins.module_utils.state.node_lock import LockHeld, hold
from ansible_collections.volcano.colocation.plugins.module_utils.state.plan_document import sha256
from ansible_collections.volcano.colocation.plugins.module_utils.state.store import Store
from ansible_collections.volcano.colocation.plugins.module_utils.transaction import abandoned, runner

STATE, ENGINE = "/var/lib/volcano-colocation", "/usr/local/lib/volcano-colocation"
FILE = "/etc/a/kubelet.yaml"


class Image:
    """An image that is changed by transactions."""

    def __init__(self, root: Path) -> None:
        self.host = Host(str(root))
        self.store = Store(self.host)
        self.write("/etc/keep", "keep\n")

    def write(self, path: str, text: str) -> None:
        target = Path(self.host.path(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def transact(self, name: str, *edits: dict[str, Any], **more: Any) -> str:
        for edit in edits:
            target = Path(self.host.path(edit["path"]))
            edit.setdefault("before_sha256", sha256(target.read_bytes()) if target.exists() else None)
        self.store.open(name, json.dumps({"schema": 1, "id": name, "files": list(edits), **more}))
        return str(runner.execute(Node(self.host), self.store, name, lambda line: None)["state"])

    def tree(self) -> list[str]:
        return sorted("/" + str(path.relative_to(self.host.root)) for path in Path(self.host.root).rglob("*"))


@pytest.fixture(name="image")
def _image(tmp_path: Path) -> Image:
    return Image(tmp_path / "image")


def test_an_unchanged_node_stays_unchanged(image: Image) -> None:
    before = image.tree()
    assert (
        cleanup.removable_directories(image.host),
        cleanup.preserved_transactions(image.host),
        cleanup.clean_up(image.host),
    ) == ([], {}, [])
    document = restore_evidence(image.host)
    assert (document["targets"], document["snapshot"], document["unfinished"]) == ([], None, [])
    assert image.tree() == before


def test_nothing_is_removed_while_the_ledger_has_entries(image: Image) -> None:
    image.transact("t-1", {"path": FILE, "after": "a\n"})
    before = image.tree()
    assert cleanup.removable_directories(image.host) == [STATE]
    assert cleanup.clean_up(image.host) == []
    assert image.tree() == before


def test_everything_is_removed_with_an_empty_ledger(image: Image) -> None:
    before = image.tree()
    image.transact("t-1", {"path": FILE, "after": "a\n"})
    image.write(f"{ENGINE}/0123/__main__.py", "")
    image.transact("t-2", {"path": FILE, "remove": True})
    assert cleanup.clean_up(image.host) == [STATE, ENGINE]
    # Directories that every system has.
    assert sorted(set(image.tree()) - {"/usr", "/usr/local", "/usr/local/lib", "/var", "/var/lib"}) == before
    assert cleanup.removable_directories(image.host) == []


def test_a_refused_transaction_is_removed(image: Image) -> None:
    assert image.transact("t-1", {"path": "/etc/keep", "after": "a\n", "before_sha256": "0" * 64}) == "refused"
    assert cleanup.clean_up(image.host) == [STATE]
    assert not os.path.exists(image.host.path(STATE))


def test_a_transaction_without_a_ledger_keeps_its_backups(image: Image) -> None:
    image.transact("t-1", {"path": "/etc/keep", "after": "a\n"})
    old = image.store.read("t-1", "journal.json")
    image.store.write("t-1", "journal.json", {key: old[key] for key in old if key not in ("ledger", "entered")})
    ledger.save(image.store, ledger.Ledger())

    assert list(cleanup.preserved_transactions(image.host)) == [f"{STATE}/transactions/t-1"]
    assert cleanup.clean_up(image.host) == [STATE]
    assert os.listdir(image.host.path(STATE)) == ["transactions"]
    assert Path(image.store.path("t-1", "backups/file-0")).read_text() == "keep\n"
    # The next run has nothing to do.
    assert cleanup.removable_directories(image.host) == []
    document = restore_evidence(image.host)
    assert [(entry["id"], entry["files"]) for entry in document["without_ledger"]] == [("t-1", ["/etc/keep"])]
    assert document["without_ledger"][0]["backups"] == f"{STATE}/transactions/t-1/backups"


def test_the_record_of_imported_images_stays_for_the_removal_of_the_agent(image: Image) -> None:
    image.transact("t-1", {"path": FILE, "after": "a\n"})
    image.transact("t-2", {"path": FILE, "remove": True})
    imported = image_record.ImportedImage("docker.io/volcanosh/vc-agent:v1.14.0", "sha256:" + "1" * 64)
    image_record.save(image.host, [imported])
    assert cleanup.clean_up(image.host) == [STATE]
    assert os.listdir(image.host.path(STATE)) == ["images.json"]
    assert image_record.load(image.host) == (imported,)
    assert cleanup.removable_directories(image.host) == []


def test_a_failed_roll_back_keeps_its_backups(image: Image) -> None:
    image.transact("t-1", {"path": FILE, "after": "a\n"})
    image.transact("t-2", {"path": FILE, "remove": True})
    old = image.store.read("t-1", "journal.json")
    image.store.write("t-1", "journal.json", {**old, "state": "rollback-failed"})
    cleanup.clean_up(image.host)
    assert image.store.transactions() == ["t-1"]


def test_foreign_content_stays(image: Image) -> None:
    image.transact("t-1", {"path": FILE, "after": "a\n"})
    image.transact("t-2", {"path": FILE, "remove": True})
    Path(image.store.path("t-1", "backups/foreign-0")).write_text("foreign\n")
    cleanup.clean_up(image.host)
    assert image.store.transactions() == ["t-1"]
    assert "content of someone else" in cleanup.preserved_transactions(image.host)[f"{STATE}/transactions/t-1"]


def test_an_open_transaction_keeps_all(image: Image) -> None:
    image.store.open("t-1", "{}")
    assert (cleanup.removable_directories(image.host), cleanup.clean_up(image.host)) == ([], [])
    assert image.store.transactions() == ["t-1"]


def test_a_transaction_that_never_began_is_removed(image: Image) -> None:
    image.store.open("t-1", "{}")
    long_ago = time.time() - abandoned.ABANDONED_AFTER - 60
    os.utime(image.store.path("t-1"), (long_ago, long_ago))
    assert (cleanup.removable_directories(image.host), cleanup.clean_up(image.host)) == ([STATE], [STATE])
    assert not os.path.exists(image.host.path(STATE))


def test_a_running_transaction_is_not_disturbed(image: Image, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cleanup, "LOCK_TIMEOUT", 0.0)
    image.transact("t-1", {"path": "/etc/keep", "after": "a\n", "before_sha256": "0" * 64})
    with hold(image.store.lock_path, "t-9"), pytest.raises(LockHeld, match="t-9"):
        cleanup.clean_up(image.host)
    assert image.store.transactions() == ["t-1"]


def test_a_foreign_file_stays(image: Image) -> None:
    image.transact("t-1", {"path": "/etc/keep", "after": "a\n", "before_sha256": "0" * 64})
    image.write(f"{STATE}/notes.txt", "foreign\n")
    cleanup.clean_up(image.host)
    assert os.listdir(image.host.path(STATE)) == ["notes.txt"]
    assert cleanup.removable_directories(image.host) == []


def test_the_evidence_of_a_file_has_its_original_committed_and_current_state(image: Image) -> None:
    image.write(FILE, "first\n")
    os.chmod(image.host.path(FILE), 0o600)
    image.transact("t-1", {"path": FILE, "after": "second\n"})
    image.transact("t-2", {"path": "/etc/b", "after": "b\n", "section": "runtime"})
    kubelet = next(target for target in restore_evidence(image.host)["targets"] if target["path"] == FILE)
    owner = f"{os.getuid()}:{os.getgid()}"
    assert kubelet["original"] == {"text": "first\n", "mode": "0600", "owner": owner, "xattrs": {}}
    assert kubelet["found"] == kubelet["committed"] == {**kubelet["original"], "text": "second\n"}
    assert (kubelet["section"], kubelet["standing"], kubelet["last"]) == ("kubelet", "committed", "t-1")
    assert Path(image.host.path(kubelet["original_file"])).read_text() == "first\n"

    os.unlink(image.host.path(FILE))
    os.symlink("/etc/keep", image.host.path(FILE))
    document = restore_evidence(image.host)
    kubelet = next(target for target in document["targets"] if target["path"] == FILE)
    assert "symbolic link to /etc/keep" in kubelet["error"]
    assert next(target for target in document["targets"] if target["path"] == "/etc/b")["section"] == "runtime"
