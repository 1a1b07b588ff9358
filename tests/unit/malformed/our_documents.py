# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Damaged records of the collection on a node: its state directory, a journal, the ledger and its backups."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.tests.support.tasks.in_process import run
from ansible_collections.volcano.colocation.tests.support.tasks.node_image import KUBELET, STATE
from ansible_collections.volcano.colocation.tests.unit.malformed.case import Case

PATH = f"/{KUBELET}"
LEDGER = f"{STATE}/ledger.json"
Spoil = Callable[[Path], Any]


def _provisioned(root: Path) -> None:
    """A real transaction changes the file."""
    result = run("kubelet_config", {"root": str(root), "cgroup_driver": "systemd"})
    assert result["changed"], result


def _journal(root: Path) -> Path:
    (document,) = (root / STATE / "transactions").glob("*/journal.json")
    return document


@contextmanager
def _document(path: Path) -> Iterator[Any]:
    """Read a document, let the caller change it, and write it again."""
    document = json.loads(path.read_text())
    yield document
    path.write_text(json.dumps(document))


def _behind(spoil: Spoil) -> Spoil:
    def spoiled(root: Path) -> None:
        _provisioned(root)
        spoil(root)

    return spoiled


def _ledger(message: str, spoil: Spoil) -> Case:
    return Case("node_restore", {}, (f"/{LEDGER}: {message}", "ledger"), spoil=_behind(spoil))


def _in_ledger(where: str, change: Callable[[Any], Any]) -> Case:
    def spoil(root: Path) -> None:
        with _document(root / LEDGER) as document:
            change(document)

    return _ledger(f"it is damaged ({where}). The originals are in", spoil)


def _of_target(where: str, change: Callable[[Any], Any]) -> Case:
    return _in_ledger(f"targets.{PATH}{where}", lambda document: change(document["targets"][PATH]))


def _in_journal(where: str, **changes: Any) -> Case:
    """An open transaction, whose rollback depends on this journal."""

    def spoil(root: Path) -> None:
        with _document(_journal(root)) as document:
            document.update(state="applying")
            document.update(changes)

    says = (f"/journal.json: it is damaged ({where})", "Compare the files that it names with its backups by hand")
    return Case("kubelet_config", {"pod_pids_limit": 5}, says, spoil=_behind(spoil))


BEFORE = {"kubelet_runs": False, "runtime_runs": False, "kubelet_healthy": False, "pods": {}}


def _of_file(where: str, **changes: Any) -> Case:
    def spoil(root: Path) -> None:
        with _document(_journal(root)) as document:
            document.update(state="applying")
            document["files"][0].update(changes)

    says = (f"/journal.json: it is damaged (files[0].{where})", "Compare the files")
    return Case("node_restore", {}, says, spoil=_behind(spoil))


def _whole_journal(module: str, text: str | bytes, message: str = "it is damaged. Compare the files") -> Case:
    def spoil(root: Path) -> None:
        _journal(root).write_bytes(text if isinstance(text, bytes) else text.encode())

    return Case(module, {}, ("/journal.json: ", message), spoil=_behind(spoil))


def _write(path: str, text: str | bytes) -> Spoil:
    return lambda root: (root / path).write_bytes(text if isinstance(text, bytes) else text.encode())


def _cut_off(root: Path) -> None:
    os.truncate(root / LEDGER, 100)


def _ledger_linked(root: Path) -> None:
    (root / LEDGER).rename(root / "ledger.json")
    (root / LEDGER).symlink_to(root / "ledger.json")


def _ledger_directory(root: Path) -> None:
    (root / LEDGER).unlink()
    (root / LEDGER).mkdir()


def _originals(spoil: Callable[[Path], Any]) -> Spoil:
    def spoil_each(root: Path) -> None:
        for path in (root / STATE / "originals").iterdir():
            spoil(path)

    return _behind(spoil_each)


def _original_linked(path: Path) -> None:
    path.rename(path.parent.parent.parent / path.name)
    path.symlink_to(path.parent.parent.parent / path.name)


def _state_linked(root: Path) -> None:
    (root / STATE).parent.mkdir(parents=True, exist_ok=True)
    (root.parent / "elsewhere").mkdir()
    (root / STATE).symlink_to(root.parent / "elsewhere")


def _state_linked_within(root: Path) -> None:
    (root / STATE).rename(root / "elsewhere")
    (root / STATE).symlink_to(root / "elsewhere")


def _state_a_file(root: Path) -> None:
    shutil.rmtree(root / STATE)
    (root / STATE).write_text("x")


def _saved(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda target: change(target["original"])


CASES = {
    "ledger cut off": _ledger("it is damaged. The originals are in", _cut_off),
    "ledger empty": _ledger("it is damaged. The originals are in", _write(LEDGER, "")),
    "ledger of bytes": _ledger("it is damaged. The originals are in", _write(LEDGER, bytes(range(256)))),
    "ledger of lists without end": _ledger("it is damaged. The originals are in", _write(LEDGER, "[" * 100_000)),
    "ledger is a list": _ledger("it is damaged (the document)", _write(LEDGER, "[]")),
    "ledger of another version": Case(
        "node_restore",
        {},
        (f"/{LEDGER}: it has schema 2, and this version reads 1", "Use the version"),
        spoil=_behind(_write(LEDGER, '{"schema": 2}')),
    ),
    "ledger is a link": Case(
        "node_restore",
        {},
        (f"/{LEDGER}: cannot read it", "Replace the link with the file itself"),
        spoil=_behind(_ledger_linked),
    ),
    "ledger is a directory": Case(
        "node_restore", {}, (f"/{LEDGER}: cannot read it: Is a directory",), spoil=_behind(_ledger_directory)
    ),
    "ledger cut off before another change": Case(
        "kubelet_config",
        {"pod_pids_limit": 5},
        (f"Nothing was changed. /{LEDGER}: it is damaged. The originals are in",),
        spoil=_behind(_cut_off),
    ),
    "ledger of another version before another change": Case(
        "containerd_config",
        {"cgroup_driver": "systemd"},
        (f"Nothing was changed. /{LEDGER}: it has schema 2, and this version reads 1. Use the version",),
        spoil=_behind(_write(LEDGER, '{"schema": 2}')),
    ),
    "no targets": _in_ledger("targets", lambda document: document.pop("targets")),
    "targets are a list": _in_ledger("targets", lambda document: document.update(targets=[])),
    "directories are a text": _in_ledger("folders", lambda document: document.update(folders="/etc")),
    "directory is relative": _in_ledger("folders[0]", lambda document: document.update(folders=["etc"])),
    "directory through ..": _in_ledger("folders[0]", lambda document: document.update(folders=["/etc/../home"])),
    "target of another path": _in_ledger(
        "targets./etc/shadow",
        lambda document: document["targets"].update({"/etc/shadow": document["targets"].pop(PATH)}),
    ),
    "original of another path": _of_target("", _saved(lambda saved: saved.update(path="/etc/shadow"))),
    "original through ..": _of_target(".original.path", _saved(lambda saved: saved.update(path="/etc/../x"))),
    "text outside of the directory": _of_target(
        ".original.backup", _saved(lambda saved: saved.update(backup="../../x"))
    ),
    "text anywhere": _of_target(".original.backup", _saved(lambda saved: saved.update(backup="/etc/shadow"))),
    "text of a number": _of_target(".original.backup", _saved(lambda saved: saved.update(backup=5))),
    "hash of a word": _of_target(".original.sha256", _saved(lambda saved: saved.update(sha256="x"))),
    "mode of a text": _of_target(".original.mode", _saved(lambda saved: saved.update(mode="0644"))),
    "mode beyond all": _of_target(".original.mode", _saved(lambda saved: saved.update(mode=10**30))),
    "owner of a name": _of_target(".original.uid", _saved(lambda saved: saved.update(uid="root"))),
    "owner below 0": _of_target(".original.gid", _saved(lambda saved: saved.update(gid=-1))),
    "attribute of no bytes": _of_target(".original.xattrs.user.x", _saved(lambda s: s.update(xattrs={"user.x": "z"}))),
    "attributes are a list": _of_target(".original.xattrs", _saved(lambda saved: saved.update(xattrs=["a"]))),
    "no original": _of_target(".original", lambda target: target.update(original=None)),
    "unknown section": _of_target(".section", lambda target: target.update(section="bogus")),
    "unknown kind": _of_target(".kind", lambda target: target.update(kind="bogus")),
    "earlier is a number": _of_target(".earlier[0]", lambda target: target.update(earlier=[5])),
    "original gone": Case(
        "node_restore", {}, ("/originals/", "cannot read it: No such file"), spoil=_originals(Path.unlink)
    ),
    "original another": Case(
        "node_restore",
        {},
        ("/originals/", "it is damaged; it is the saved content of", "Restore that file from elsewhere"),
        spoil=_originals(lambda path: path.write_text("x")),
    ),
    "original a link": Case(
        "node_restore",
        {},
        ("/originals/", "cannot read it", "Replace the link with the file itself"),
        spoil=_originals(_original_linked),
    ),
    "journal cut off": _whole_journal("kubelet_config", '{"schema": 1, "id"'),
    "journal empty": _whole_journal("node_restore", ""),
    "journal of bytes": _whole_journal("containerd_config", bytes(range(256))),
    "journal is a list": _whole_journal("crio_config", "[]"),
    "journal of lists without end": _whole_journal("kubelet_config", "[" * 100_000),
    "journal of another version": _whole_journal("node_restore", '{"schema": 9}', "it has schema 9, and this version"),
    "unknown state": _in_journal("state", state="bogus"),
    "state of a number": _in_journal("state", state=5),
    "id of another": _in_journal("id", id="t-2"),
    "id through ..": _in_journal("id", id="../t-2"),
    "plan of a text": _in_journal("plan", plan="x"),
    "plan that is none": _in_journal("the plan is not valid: schema: expected 1", plan={}),
    "files of a text": _in_journal("files", files="x"),
    "steps of a number": _in_journal("begun", begun=5),
    "nothing before": _in_journal("before", before=None),
    "node before of a text": _in_journal("before.node", before={**BEFORE, "node": "ready"}),
    "node before without a reason": _in_journal("before.node.reason", before={**BEFORE, "node": {"ready": True}}),
    "backup outside of the directory": _of_file("backup", backup="../../x"),
    "file through ..": _of_file("path", path="/etc/../x"),
    "file with the mode of a text": _of_file("mode", mode="0644"),
    "state directory leads out": Case(
        "kubelet_config",
        {"pod_pids_limit": 5},
        (f"/{STATE}: it is a symbolic link", "Replace the link with a directory"),
        spoil=_state_linked,
    ),
    "state directory is a link": Case(
        "node_restore",
        {},
        (f"/{STATE}: it is a symbolic link", "Replace the link with a directory"),
        spoil=_behind(_state_linked_within),
    ),
}
