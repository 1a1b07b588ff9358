# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Enters transactions in the ledger.

The updates are recorded in the journal before the commit and entered afterwards. After a crash between the two, the
next transaction, recovery or restore enters them first. Entering can be repeated.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from ..host import Host
from ..state import atomic_file, files, ledger
from ..state.files import Saved
from ..state.journal import Journal, State, committed_journals, in_state
from ..state.ledger import Kind, Ledger, Target
from ..state.plan_document import FileEdit, sha256
from ..state.store import Store
from .context import TransactionContext

KUBELET = "kubelet"


def stage_ledger(context: TransactionContext) -> None:
    """Store the new contents before any change, so that a full disk or a damaged ledger is detected first."""
    ledger.load(context.store)
    files.make_private_directory(ledger.originals(context.store))
    for index, edit in enumerate(context.plan.files):
        if edit.after is not None:
            files.write_private(os.path.join(context.backups, _after(index)), edit.after)


def record_changes(context: TransactionContext) -> None:
    """Record the ledger updates in the journal, as the last operation before the commit."""
    saved = {entry.path: entry for entry in context.journal.files}
    written = [_written(context, index, edit, saved[edit.path]) for index, edit in enumerate(context.plan.files)]
    moved = [
        _entry(KUBELET, Kind.CHECKPOINT, entry, None)
        for entry in context.journal.checkpoints
        if entry.path not in context.plan.forget
    ]
    forgotten = [{"path": path} for path in context.plan.forget]
    context.journal.keep_ledger([*written, *moved, *forgotten])


def enter_committed(host: Host, store: Store) -> None:
    """Enter the recorded updates of committed transactions that the ledger lacks. The caller holds the lock."""
    for journal in committed_journals(store):
        if journal.ledger is not None and not journal.entered:
            _enter(host, store, journal)


def transactions_without_ledger(store: Store) -> list[Journal]:
    """Committed transactions of a version of the collection without a ledger."""
    return [journal for journal in committed_journals(store) if journal.ledger is None]


def transactions_outside_ledger(store: Store) -> list[Journal]:
    """Transactions with changes that are not in the ledger: older than it, or with a failed roll-back."""
    return [*transactions_without_ledger(store), *in_state(store, State.ROLLBACK_FAILED)]


def _changed_path(journal: Journal, current: Saved) -> bool:
    """Whether the transaction wrote the path, and its content differs from the one before."""
    before = [saved.sha256 for saved in journal.files if saved.path == current.path]
    return current.path in journal.written and before != [current.sha256]


def _after(index: int) -> str:
    return f"after-{index}"


def _written(context: TransactionContext, index: int, edit: FileEdit, saved: Saved) -> dict[str, Any]:
    """The update for one file; the SELinux label of a new file is known only after it was created."""
    if edit.after_sha256 is None:
        now = replace(saved, backup=None, sha256=None, folders=[])
    else:
        attributes = edit.attributes or saved.attributes
        current = files.read_file(context.node.host, edit.path)
        if current is not None and sha256(current[0]) == edit.after_sha256:
            attributes = current[1]
        now = Saved(
            edit.path,
            _after(index),
            edit.after_sha256,
            attributes.mode,
            attributes.uid,
            attributes.gid,
            attributes.xattrs,
            [],
        )
    return _entry(edit.section, Kind.FILE, saved, now)


def _entry(section: str, kind: Kind, original: Saved, now: Saved | None) -> dict[str, Any]:
    return {
        "path": original.path,
        "section": section,
        "kind": kind.value,
        "original": original.document(),
        "committed": None if now is None else now.document(),
    }


def _enter(host: Host, store: Store, journal: Journal) -> None:
    current = ledger.load(store)
    if current.last == journal.id:
        ledger.prune(store, current)
    else:
        ledger.save(store, _remove_directories(host, _updated(store, current, journal)))
    journal.mark_entered()


def _updated(store: Store, before: Ledger, journal: Journal) -> Ledger:
    targets = dict(before.targets)
    for entry in journal.ledger or []:
        if "kind" not in entry:
            targets.pop(entry["path"], None)
            continue
        target = _target(store, journal, entry, targets.get(entry["path"]))
        if _is_original(target):
            targets.pop(target.path, None)
        else:
            targets[target.path] = target
    return Ledger(targets, journal.id, _made_directories(before, journal))


def _target(store: Store, journal: Journal, entry: dict[str, Any], known: Target | None) -> Target:
    """The updated target; the original state of a known target is kept."""
    last = entry["committed"]
    now = None if last is None else _store_original(store, journal, Saved.of(last))
    if known is not None:
        return replace(known, committed=now, last=journal.id)
    original = _store_original(store, journal, Saved.of(entry["original"]))
    earlier = tuple(other.id for other in transactions_outside_ledger(store) if _changed_path(other, original))
    return Target(original.path, entry["section"], Kind(entry["kind"]), original, now, journal.id, journal.id, earlier)


def _store_original(store: Store, journal: Journal, saved: Saved) -> Saved:
    """Link the content into originals/. A link needs no disk space; both directories are on the same file system."""
    if saved.backup is None or saved.sha256 is None:
        return saved
    directory = ledger.originals(store)
    files.make_private_directory(directory)
    try:
        os.link(store.path(journal.id, os.path.join("backups", saved.backup)), os.path.join(directory, saved.sha256))
        atomic_file.sync_directory(directory)
    except FileExistsError:
        pass
    return replace(saved, backup=saved.sha256)


def _is_original(target: Target) -> bool:
    """Whether the committed state equals the original one."""
    now, original = target.committed, target.original
    if now is None or now.backup is None or original.backup is None:
        return now is not None and now.backup is None and original.backup is None
    return (now.sha256, now.attributes) == (original.sha256, original.attributes)


def _made_directories(before: Ledger, journal: Journal) -> tuple[str, ...]:
    """Directories that this transaction and earlier ones created."""
    saved = [Saved.of(entry["original"]) for entry in journal.ledger or [] if "kind" in entry]
    return tuple(sorted({*before.directories, *(directory for state in saved for directory in state.folders)}))


def _remove_directories(host: Host, updated: Ledger) -> Ledger:
    """The ledger without directories that contain no target any more; the empty ones are deleted, innermost first."""
    required = [
        directory
        for directory in updated.directories
        if any(path.startswith(directory + "/") for path in updated.targets)
    ]
    for directory in sorted(set(updated.directories) - set(required), key=len, reverse=True):
        files.remove_empty_directory(host.path(directory))
    return replace(updated, directories=tuple(required))
