# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Unreadable records: assess reports file, reason and remedy, and modules that need them change nothing."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.modules import cgroup_qos
from ansible_collections.volcano.colocation.tests.support.node.cgroup_tree import ROOT, Tree
from ansible_collections.volcano.colocation.tests.support.tasks.in_process import run
from ansible_collections.volcano.colocation.tests.support.tasks.node_image import KUBELET_TEXT, STATE, contents, grow
from ansible_collections.volcano.colocation.tests.unit.malformed.qos_settings import ENTRY, document

OTHER = {"pod_pids_limit": 5}
QOS = {"cgroup_root": ROOT, "slice": "system.slice", "settings": {"pids_max": 10}}
Damage = Callable[[Path], Any]


def _directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _linked(path: Path) -> None:
    elsewhere = path.parents[len(path.parts) - len(path.parts[: path.parts.index("image") + 1]) - 1] / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


DAMAGES: dict[str, Damage] = {
    "cut off": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "empty": lambda path: path.write_bytes(b""),
    "of bytes": lambda path: path.write_bytes(bytes(range(256))),
    "a list": lambda path: path.write_text("[]"),
    "of another schema": lambda path: path.write_text('{"schema": 99}'),
    "of another shape": lambda path: path.write_text('{"schema": 1}'),
    "a directory": _directory,
    "a link": _linked,
}
RECORDS = {
    "ledger": f"{STATE}/ledger.json",
    "journal": f"{STATE}/transactions/*/journal.json",
    "settings": f"{STATE}/qos.json",
    "images": f"{STATE}/images.json",
}
OF_JSON = {f"{record}, {damage}": (record, damage) for record in RECORDS for damage in DAMAGES}


@pytest.fixture(name="root")
def _root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A node that this collection has changed, with all its records."""
    root = Tree(tmp_path / "image", "v2", "systemd").directory
    grow(root, {})
    monkeypatch.setattr(cgroup_qos, "Host", lambda: Host(str(root)))
    assert run("kubelet_config", {"root": str(root), "cgroup_driver": "systemd"})["changed"]
    (root / STATE / "qos.json").write_text(document(ENTRY))
    (root / STATE / "images.json").write_text(json.dumps({"schema": 1, "images": [{"name": "a", "id": "b"}]}))
    return root


def place(root: Path, pattern: str) -> Path:
    (path,) = root.glob(pattern)
    return path


def findings(root: Path) -> list[dict[str, Any]]:
    before = contents(root)
    result = run("node_facts", {"root": str(root)})
    assert contents(root) == before
    assert not result.get("failed"), result
    facts = result["ansible_facts"]["colocation"]
    return [finding for finding in facts["findings"] if finding["code"] == "record-unreadable"]


def refused(root: Path, module: str, options: dict[str, Any]) -> str:
    """The message of check mode, which must equal that of the real run; neither changes anything."""
    before = contents(root)
    arguments = options if module == "cgroup_qos" else {"root": str(root), **options}
    messages = []
    for check in (True, False):
        result = run(module, arguments, check=check)
        assert result.get("failed"), result
        assert not result.get("changed")
        assert contents(root) == before
        messages.append(result["msg"])
    assert messages[0] == messages[1]
    return str(messages[0])


def test_good_records_are_no_finding(root: Path) -> None:
    assert findings(root) == []


@pytest.mark.parametrize("name", OF_JSON)
def test_a_record_that_cannot_be_read_is_a_finding(root: Path, name: str) -> None:
    record, damage = OF_JSON[name]
    path = place(root, RECORDS[record])
    DAMAGES[damage](path)
    (finding,) = findings(root)
    file = f"/{path.relative_to(root)}"
    assert finding["summary"].startswith(f"{file} cannot be used: ")
    assert finding["evidence"][0].startswith(f"{file}: ")
    assert len(finding["evidence"][0]) > len(f"{file}: ")
    assert finding["remedy"]
    assert finding["severity"] == ("error" if record == "journal" else "warning")


NEEDED_BY: dict[str, tuple[str, dict[str, Any]]] = {
    "ledger": ("kubelet_config", OTHER),
    "journal": ("kubelet_config", OTHER),
    "settings": ("cgroup_qos", QOS),
}


@pytest.mark.parametrize("name", [name for name, (record, _damage) in OF_JSON.items() if record in NEEDED_BY])
def test_what_needs_the_record_is_refused_and_the_node_stays(root: Path, name: str) -> None:
    record, damage = OF_JSON[name]
    path = place(root, RECORDS[record])
    DAMAGES[damage](path)
    assert f"/{path.relative_to(root)}: " in refused(root, *NEEDED_BY[record])


@pytest.mark.parametrize("module", ["kubelet_config", "containerd_config", "agent_sysctls"])
def test_a_change_that_may_be_half_done_stops_every_change_of_services(root: Path, module: str) -> None:
    """Also without changes: an interrupted transaction would have to be rolled back first."""
    DAMAGES["cut off"](place(root, RECORDS["journal"]))
    options: dict[str, Any] = {"sysctls": []} if module == "agent_sysctls" else {}
    assert "/journal.json: it is damaged. Compare the files" in refused(root, module, options)


@pytest.mark.parametrize("record", ["settings", "images"])
def test_a_record_that_a_module_does_not_need_stops_it_not(root: Path, record: str) -> None:
    DAMAGES["empty"](place(root, RECORDS[record]))
    assert run("kubelet_config", {"root": str(root), **OTHER})["changed"]


@pytest.mark.parametrize("damage", ["empty", "a directory", "gone"])
def test_an_original_that_is_lost_is_a_finding_before_it_is_needed(root: Path, damage: str) -> None:
    path = root / STATE / "originals" / hashlib.sha256(KUBELET_TEXT.encode()).hexdigest()
    {**DAMAGES, "gone": Path.unlink}[damage](path)
    (finding,) = findings(root)
    assert f"/{path.relative_to(root)}: " in finding["evidence"][0]
    assert f"/{path.relative_to(root)}: " in refused(root, "node_restore", {})


def test_an_answer_that_cannot_be_read_is_a_finding(root: Path) -> None:
    path = place(root, f"{STATE}/transactions/*/result.json")
    DAMAGES["cut off"](path)
    (finding,) = findings(root)
    assert f"/{path.relative_to(root)}: it is damaged" in finding["evidence"][0]
    assert f"/{path.relative_to(root)}: it is damaged" in refused(root, "node_restore", {})


DIRECTORIES = ("", "/transactions", "/originals")


@pytest.mark.parametrize("below", DIRECTORIES)
@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_lies_in_the_place_of_a_directory_of_ours_is_a_finding(root: Path, below: str, kind: str) -> None:
    path = root / f"{STATE}{below}"
    if kind == "link":
        _linked(path)
    else:
        shutil.rmtree(path)
        path.write_text("x")
    (finding,) = findings(root)
    assert finding["summary"].startswith(f"/{STATE}{below} cannot be used: ")
    assert finding["severity"] == "error"
    assert f"/{STATE}{below}: " in refused(root, "kubelet_config", OTHER)
    assert f"/{STATE}{below}: " in refused(root, "node_restore", {})


def test_every_damaged_record_is_named(root: Path) -> None:
    for pattern in RECORDS.values():
        DAMAGES["cut off"](place(root, pattern))
    named = {finding["evidence"][0].partition(":")[0] for finding in findings(root)}
    assert named == {f"/{place(root, pattern).relative_to(root)}" for pattern in RECORDS.values()}


def test_the_journal_of_an_open_transaction_counts_beside_a_damaged_one(root: Path) -> None:
    path = place(root, RECORDS["journal"])
    twin = path.parent.with_name("20990101T000000-ffffffff")
    shutil.copytree(path.parent, twin)
    text = json.loads(path.read_text())
    (twin / "journal.json").write_text(json.dumps({**text, "id": twin.name, "state": "applying"}))
    DAMAGES["empty"](path)
    result = run("node_facts", {"root": str(root)})
    codes = {finding["code"] for finding in result["ansible_facts"]["colocation"]["findings"]}
    assert {"record-unreadable", "unfinished-transaction"} <= codes
    assert f"/{path.relative_to(root)}: it is damaged" in refused(root, "kubelet_config", OTHER)


def _lock_a_directory(root: Path, name: str) -> None:
    (root / STATE / name).unlink(missing_ok=True)
    (root / STATE / name).mkdir()


@pytest.mark.parametrize("name", ["lock", "qos.lock"])
def test_a_lock_that_cannot_be_taken_is_refused_in_check_mode_too(root: Path, name: str) -> None:
    _lock_a_directory(root, name)
    assert f"/{STATE}/{name}: cannot lock this node" in refused(root, "cgroup_qos", QOS)
    assert f"/{STATE}/{name}: cannot lock this node" in refused(root, "node_restore", {})


def test_settings_behind_a_link_are_not_set(root: Path) -> None:
    _linked(root / STATE)
    assert f"/{STATE}: it is a symbolic link" in refused(root, "cgroup_qos", QOS)
