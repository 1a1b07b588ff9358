# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ledger has the original state, whatever happens between the commit and the ledger entry."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.errors import ColocationError
from ansible_collections.volcano.colocation.plugins.module_utils.state import files, ledger
from ansible_collections.volcano.colocation.plugins.module_utils.state.journal import Journal
from ansible_collections.volcano.colocation.plugins.module_utils.state.ledger import FileStatus, Kind
from ansible_collections.volcano.colocation.plugins.module_utils.state.plan_document import sha256
from ansible_collections.volcano.colocation.plugins.module_utils.state.store import STATE_DIRECTORY
from ansible_collections.volcano.colocation.plugins.module_utils.transaction import ledger_update, runner
from ansible_collections.volcano.colocation.tests.support.node.simulation import (
    CHECKPOINT,
    KUBELET_CONFIG,
    RUNTIME_CONFIG,
    Simulation,
    document,
)
from ansible_collections.volcano.colocation.tests.support.node.transaction_runs import run_transaction

NRI_FILE = "/etc/containerd/extra/nri.toml"
MEMORY = "/var/lib/kubelet/memory_manager_state"


class Crash(BaseException):
    """The process is gone."""


def files_only(simulation: Simulation, transaction: str, *edits: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A plan that only writes files; the current hashes are filled in."""
    for edit in edits:
        target = Path(simulation.host.path(edit["path"]))
        edit.setdefault("before_sha256", sha256(target.read_bytes()) if target.exists() else None)
    return {"schema": 1, "id": transaction, "files": list(edits), **more}


def edit(path: str, after: str, **more: Any) -> dict[str, Any]:
    return {"path": path, "after": after, **more}


def original_text(simulation: Simulation, path: str) -> str | None:
    """The original content of a path in the ledger."""
    text = ledger.text_of(simulation.store, ledger.load(simulation.store).targets[path].original)
    return None if text is None else text.decode()


def names(simulation: Simulation) -> list[str]:
    return sorted(os.listdir(ledger.originals(simulation.store)))


def test_a_transaction_enters_every_file_and_checkpoint(simulation: Simulation) -> None:
    before = simulation.tree()
    plan = document(simulation)
    assert run_transaction(simulation, plan)["state"] == "committed"

    targets = ledger.load(simulation.store).targets
    assert {path: target.kind for path, target in targets.items()} == {
        KUBELET_CONFIG: Kind.FILE,
        RUNTIME_CONFIG: Kind.FILE,
        NRI_FILE: Kind.FILE,
        CHECKPOINT: Kind.CHECKPOINT,
        MEMORY: Kind.CHECKPOINT,
    }
    assert original_text(simulation, KUBELET_CONFIG) == before[KUBELET_CONFIG][1]
    assert original_text(simulation, RUNTIME_CONFIG) == before[RUNTIME_CONFIG][1]
    assert original_text(simulation, CHECKPOINT) == '{"policyName": "none", "checksum": 1353318690}'
    assert original_text(simulation, NRI_FILE) is None
    assert original_text(simulation, MEMORY) is None
    assert targets[NRI_FILE].original.folders == ["/etc/containerd/extra"]
    assert targets[RUNTIME_CONFIG].original.mode == 0o640
    committed = targets[RUNTIME_CONFIG].committed
    assert committed is not None
    assert (committed.sha256, committed.mode) == (sha256(plan["files"][1]["after"].encode()), 0o640)
    assert ledger.text_of(simulation.store, committed) == plan["files"][1]["after"].encode()
    assert {target.first for target in targets.values()} == {"t-1"}


def test_only_root_can_read_the_ledger_and_its_contents(simulation: Simulation) -> None:
    run_transaction(simulation, document(simulation))
    directory = Path(simulation.host.path(STATE_DIRECTORY))
    private = [directory / "ledger.json", *(directory / "originals").iterdir()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in private} == {0o600}
    assert stat.S_IMODE((directory / "originals").stat().st_mode) == 0o700


def test_a_later_transaction_keeps_the_original(simulation: Simulation) -> None:
    original = simulation.read(KUBELET_CONFIG)
    run_transaction(simulation, files_only(simulation, "t-1", edit(KUBELET_CONFIG, "first\n")))
    run_transaction(simulation, files_only(simulation, "t-2", edit(KUBELET_CONFIG, "second\n")))

    target = ledger.load(simulation.store).targets[KUBELET_CONFIG]
    assert (target.first, target.last) == ("t-1", "t-2")
    assert original_text(simulation, KUBELET_CONFIG) == original
    assert names(simulation) == sorted(sha256(text.encode()) for text in (original, "second\n"))


def test_a_file_with_its_original_content_leaves_the_ledger(simulation: Simulation) -> None:
    original = simulation.read(KUBELET_CONFIG)
    run_transaction(
        simulation, files_only(simulation, "t-1", edit(KUBELET_CONFIG, "first\n"), edit(RUNTIME_CONFIG, "x\n"))
    )
    run_transaction(simulation, files_only(simulation, "t-2", edit(KUBELET_CONFIG, original)))

    assert list(ledger.load(simulation.store).targets) == [RUNTIME_CONFIG]
    assert sha256(original.encode()) not in names(simulation)


def test_the_same_text_with_another_mode_is_not_the_original(simulation: Simulation) -> None:
    original = simulation.read(KUBELET_CONFIG)
    run_transaction(simulation, files_only(simulation, "t-1", edit(KUBELET_CONFIG, "first\n")))
    os.chmod(simulation.host.path(KUBELET_CONFIG), 0o644)
    run_transaction(simulation, files_only(simulation, "t-2", edit(KUBELET_CONFIG, original)))
    assert KUBELET_CONFIG in ledger.load(simulation.store).targets

    attributes = {"mode": "0600", "owner": f"{os.getuid()}:{os.getgid()}"}
    run_transaction(simulation, files_only(simulation, "t-3", edit(KUBELET_CONFIG, original, nature=attributes)))
    assert ledger.load(simulation.store).targets == {}
    assert simulation.tree()[KUBELET_CONFIG] == ("-rw-------", original)


def test_a_removed_new_file_takes_its_new_directories_along(simulation: Simulation) -> None:
    before = simulation.tree()
    run_transaction(
        simulation, files_only(simulation, "t-1", edit("/etc/a/b/new.toml", "x\n"), edit("/etc/a/c.toml", "y\n"))
    )
    removals = [{"path": "/etc/a/b/new.toml", "remove": True}, {"path": "/etc/a/c.toml", "remove": True}]
    assert run_transaction(simulation, files_only(simulation, "t-2", *removals))["state"] == "committed"

    assert simulation.tree() == before
    assert ledger.load(simulation.store).targets == {}
    assert names(simulation) == []


def test_a_directory_with_foreign_files_stays(simulation: Simulation) -> None:
    run_transaction(simulation, files_only(simulation, "t-1", edit("/etc/a/new.toml", "x\n")))
    simulation.write("/etc/a/theirs.toml", "z\n")
    run_transaction(simulation, files_only(simulation, "t-2", {"path": "/etc/a/new.toml", "remove": True}))
    assert simulation.read("/etc/a/theirs.toml") == "z\n"
    assert not Path(simulation.host.path("/etc/a/new.toml")).exists()


def test_forgotten_paths_leave_the_ledger(simulation: Simulation) -> None:
    run_transaction(simulation, document(simulation))
    run_transaction(simulation, files_only(simulation, "t-2", forget=[CHECKPOINT, MEMORY]))
    assert sorted(ledger.load(simulation.store).targets) == sorted([KUBELET_CONFIG, RUNTIME_CONFIG, NRI_FILE])


def test_a_rolled_back_transaction_enters_nothing(simulation: Simulation) -> None:
    plan = document(simulation)
    plan["files"][0]["after"] += "refused: yes\n"
    assert run_transaction(simulation, plan)["state"] == "rolled-back"
    assert ledger.load(simulation.store).targets == {}
    run_transaction(simulation, files_only(simulation, "t-2"))
    assert names(simulation) == []


CUTS: dict[str, tuple[Any, str]] = {
    "before the ledger": (ledger, "load"),
    "between the texts and the ledger": (ledger, "save"),
    "before the texts that go": (ledger, "prune"),
    "before the journal knows": (Journal, "mark_entered"),
}


def crashing(_original: Callable[..., Any]) -> Callable[..., Any]:
    def crash(*_arguments: Any, **_named: Any) -> None:
        raise Crash

    return crash


@pytest.mark.parametrize("cut", CUTS)
def test_a_crash_between_commit_and_ledger_loses_nothing(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch, cut: str
) -> None:
    original = simulation.read(KUBELET_CONFIG)
    run_transaction(
        simulation, files_only(simulation, "t-1", edit(KUBELET_CONFIG, "first\n"), edit("/etc/a/new", "n\n"))
    )
    back = files_only(simulation, "t-2", edit(KUBELET_CONFIG, original), {"path": "/etc/a/new", "remove": True})
    with monkeypatch.context() as patched:
        settle = ledger_update.enter_committed

        def interrupted(host: Any, store: Any) -> None:
            # Crash in the call after the commit, not in the one before it.
            if store.read("t-2", "journal.json"):
                patched.setattr(*CUTS[cut], crashing(settle))
            settle(host, store)

        patched.setattr(ledger_update, "enter_committed", interrupted)
        with pytest.raises(Crash):
            run_transaction(simulation, back)
    # The controller asks again, or another transaction begins.
    assert runner.recover(simulation.node, simulation.store, lambda line: None) is None

    assert ledger.load(simulation.store).targets == {}
    assert names(simulation) == []
    assert not Path(simulation.host.path("/etc/a")).exists()
    assert run_transaction(simulation, back)["state"] == "committed"


def test_a_ledger_that_cannot_be_written_is_written_by_the_next_run(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_arguments: Any) -> None:
        raise OSError(28, "No space left on device", "ledger.json")

    original = simulation.read(KUBELET_CONFIG)
    with monkeypatch.context() as patched:
        patched.setattr(ledger, "save", full)
        result = run_transaction(simulation, files_only(simulation, "t-1", edit(KUBELET_CONFIG, "first\n")))
    assert result["state"] == "committed"
    assert "the ledger: ledger.json: cannot use it: No space left on device" in result["printed"]

    run_transaction(simulation, files_only(simulation, "t-2", edit(KUBELET_CONFIG, "second\n")))
    assert original_text(simulation, KUBELET_CONFIG) == original
    assert ledger.load(simulation.store).targets[KUBELET_CONFIG].first == "t-1"


def test_a_damaged_ledger_stops_a_transaction_before_it_begins(simulation: Simulation) -> None:
    simulation.write(f"{STATE_DIRECTORY}/ledger.json", "{")
    before = simulation.tree()
    result = run_transaction(simulation, files_only(simulation, "t-1", edit(KUBELET_CONFIG, "first\n")))
    assert (result["state"], result["error"]["node"]) == ("refused", "nothing was changed")
    assert "/var/lib/volcano-colocation/ledger.json: it is damaged" in result["error"]["message"]
    assert simulation.tree() == before


def test_a_file_of_an_earlier_version_names_its_transaction(simulation: Simulation) -> None:
    run_transaction(simulation, files_only(simulation, "t-1", edit(KUBELET_CONFIG, "first\n")))
    store = simulation.store
    old = store.read("t-1", "journal.json")
    # The journal of a version without a ledger.
    store.write("t-1", "journal.json", {key: old[key] for key in old if key not in ("ledger", "entered")})
    ledger.save(store, ledger.Ledger())

    run_transaction(
        simulation, files_only(simulation, "t-2", edit(KUBELET_CONFIG, "second\n"), edit(RUNTIME_CONFIG, "x\n"))
    )
    targets = ledger.load(store).targets
    assert targets[KUBELET_CONFIG].earlier == ("t-1",)
    assert targets[RUNTIME_CONFIG].earlier == ()
    assert [journal.id for journal in ledger_update.transactions_without_ledger(store)] == ["t-1"]


@pytest.mark.parametrize(("by_hand", "earlier"), [(False, ("t-1",)), (True, ())])
def test_a_failed_roll_back_is_not_an_original(simulation: Simulation, by_hand: bool, earlier: tuple[str, ...]) -> None:
    original = simulation.read(KUBELET_CONFIG)
    run_transaction(simulation, files_only(simulation, "t-1", edit(KUBELET_CONFIG, "what the failed one left\n")))
    store = simulation.store
    store.write("t-1", "journal.json", {**store.read("t-1", "journal.json"), "state": "rollback-failed"})
    ledger.save(store, ledger.Ledger())
    if by_hand:
        simulation.write(KUBELET_CONFIG, original, 0o600)

    run_transaction(simulation, files_only(simulation, "t-2", edit(KUBELET_CONFIG, "second\n")))
    assert ledger.load(store).targets[KUBELET_CONFIG].earlier == earlier


def test_the_status_of_a_file(simulation: Simulation) -> None:
    path, host = KUBELET_CONFIG, simulation.host
    original = simulation.read(path)
    run_transaction(simulation, files_only(simulation, "t-1", edit(path, "managed\n")))
    target = ledger.load(simulation.store).targets[path]

    def now() -> FileStatus:
        return ledger.file_status(target, files.read_file(host, path))

    assert now() is FileStatus.COMMITTED
    os.chmod(host.path(path), 0o640)
    assert now() is FileStatus.FOREIGN
    simulation.write(path, "foreign\n", 0o600)
    assert now() is FileStatus.FOREIGN
    simulation.write(path, original, 0o600)
    assert now() is FileStatus.ORIGINAL
    os.unlink(host.path(path))
    assert now() is FileStatus.FOREIGN


def test_a_damaged_original_is_not_restored(simulation: Simulation) -> None:
    run_transaction(simulation, files_only(simulation, "t-1", edit(KUBELET_CONFIG, "managed\n")))
    original = ledger.load(simulation.store).targets[KUBELET_CONFIG].original
    Path(ledger.originals(simulation.store), str(original.backup)).write_text("something else")
    with pytest.raises(ColocationError, match=r"damaged; it is the saved content of /var/lib/kubelet/config\.yaml"):
        ledger.text_of(simulation.store, original)


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"schema": 1}', '{"schema": 1, "last": "", "folders": [], "targets": {"/a": {}}}']
)
def test_a_damaged_ledger_is_named(simulation: Simulation, text: str) -> None:
    simulation.write(f"{STATE_DIRECTORY}/ledger.json", text)
    with pytest.raises(ColocationError, match=r"ledger\.json: it is damaged( \(.*\))?\. The originals are in"):
        ledger.load(simulation.store)


def test_a_ledger_of_another_version_is_refused(simulation: Simulation) -> None:
    simulation.write(f"{STATE_DIRECTORY}/ledger.json", json.dumps({"schema": 2, "last": "", "targets": {}}))
    with pytest.raises(ColocationError, match="it has schema 2, and this version reads 1"):
        ledger.load(simulation.store)
