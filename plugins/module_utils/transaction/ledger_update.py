# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a transaction gets into the ledger.

What is to be entered is noted in its journal before it is committed, and entered afterwards: a crash between the two
loses nothing, for the next transaction, recovery or restore enters it first. Entering can be repeated.
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


def stage_ledger(work: TransactionContext) -> None:
    """Keep the new texts before anything is touched: a full disk and a damaged ledger are noticed by now."""
    ledger.load(work.store)
    files.make_private_directory(ledger.originals(work.store))
    for index, edit in enumerate(work.plan.files):
        if edit.after is not None:
            files.write_private(os.path.join(work.backups, _after(index)), edit.after)


def note_changes(work: TransactionContext) -> None:
    """Note in the journal what the ledger has to be told: the last thing before the transaction is committed."""
    saved = {entry.path: entry for entry in work.journal.files}
    written = [_written(work, index, edit, saved[edit.path]) for index, edit in enumerate(work.plan.files)]
    moved = [
        _entry(KUBELET, Kind.CHECKPOINT, entry, None)
        for entry in work.journal.checkpoints
        if entry.path not in work.plan.forget
    ]
    forgotten = [{"path": path} for path in work.plan.forget]
    work.journal.keep_ledger([*written, *moved, *forgotten])


def enter_committed(host: Host, store: Store) -> None:
    """Enter what committed transactions noted and the ledger lacks. Whoever calls this holds the lock."""
    for journal in committed_journals(store):
        if journal.ledger is not None and not journal.entered:
            _enter(host, store, journal)


def transactions_without_ledger(store: Store) -> list[Journal]:
    """Committed transactions of a version of the collection that kept no ledger."""
    return [journal for journal in committed_journals(store) if journal.ledger is None]


def transactions_outside_ledger(store: Store) -> list[Journal]:
    """Transactions that changed something and are in no ledger: those without one, and those not undone entirely."""
    return [*transactions_without_ledger(store), *in_state(store, State.ROLLBACK_FAILED)]


def _left_different(journal: Journal, found: Saved) -> bool:
    """Whether a path that the transaction wrote is not what it was before that."""
    before = [saved.sha256 for saved in journal.files if saved.path == found.path]
    return found.path in journal.written and before != [found.sha256]


def _after(index: int) -> str:
    return f"after-{index}"


def _written(work: TransactionContext, index: int, edit: FileEdit, saved: Saved) -> dict[str, Any]:
    """What lies there now, if it is what we wrote: only now a new file shows which SELinux context it was born with."""
    if edit.after_sha256 is None:
        now = replace(saved, backup=None, sha256=None, directories=[])
    else:
        nature = edit.attributes or saved.attributes
        found = files.read_file(work.node.host, edit.path)
        if found is not None and sha256(found[0]) == edit.after_sha256:
            nature = found[1]
        now = Saved(edit.path, _after(index), edit.after_sha256, nature.mode, nature.uid, nature.gid, nature.xattrs, [])
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
    found = ledger.load(store)
    if found.last == journal.id:
        ledger.prune(store, found)
    else:
        ledger.save(store, _remove_directories(host, _with(store, found, journal)))
    journal.mark_entered()


def _with(store: Store, before: Ledger, journal: Journal) -> Ledger:
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
    """What was there before us stays what it was when we first came."""
    last = entry["committed"]
    now = None if last is None else _store_original(store, journal, Saved.of(last))
    if known is not None:
        return replace(known, committed=now, last=journal.id)
    original = _store_original(store, journal, Saved.of(entry["original"]))
    earlier = tuple(each.id for each in transactions_outside_ledger(store) if _left_different(each, original))
    return Target(original.path, entry["section"], Kind(entry["kind"]), original, now, journal.id, journal.id, earlier)


def _store_original(store: Store, journal: Journal, saved: Saved) -> Saved:
    """The value with its text in originals. A link takes no room, and the directories are on one file system."""
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
    """Whether what was committed is what was there before the collection."""
    now, original = target.committed, target.original
    if now is None or now.backup is None or original.backup is None:
        return now is not None and now.backup is None and original.backup is None
    return (now.sha256, now.attributes) == (original.sha256, original.attributes)


def _made_directories(before: Ledger, journal: Journal) -> tuple[str, ...]:
    """Directories that this transaction and those before it made."""
    saved = [Saved.of(entry["original"]) for entry in journal.ledger or [] if "kind" in entry]
    return tuple(sorted({*before.directories, *(directory for each in saved for directory in each.folders)}))


def _remove_directories(host: Host, entered: Ledger) -> Ledger:
    """The ledger without the directories that hold no target any more, the innermost first; they go if they are empty."""
    held = [directory for directory in entered.directories if any(path.startswith(directory + "/") for path in entered.targets)]
    for directory in sorted(set(entered.directories) - set(held), key=len, reverse=True):
        files.remove_empty_directory(host.path(directory))
    return replace(entered, directories=tuple(held))
