# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the collection keeps on a node for itself, and taking that away when nothing is left to be put back."""

from __future__ import annotations

import os
import shutil

from ..host import Clock, Host
from ..settings import record
from ..state import atomic_file, installed_engine, ledger
from ..state.journal import Journal, State, committed_journals
from ..state.node_lock import hold
from ..state.store import RESULT, STATE_DIRECTORY, Store
from ..transaction import abandoned
from .managed_slices import managed_files

DISCARDED = "discarded"
"""A transaction on its way out: half of one would be taken for one that is about to begin."""
TRANSACTIONS = "transactions"
FILES = (ledger.NAME, *map(os.path.basename, (record.FILE, record.LOCK)), "lock")
"""In the order in which they go: who waits for the lock begins with an empty directory."""


def _temporary(name: str) -> str:
    """What a write that was cut off leaves beside a file of ours."""
    return os.path.basename(atomic_file.temporary_path("", name))


OWN_NAMES = frozenset((*FILES, *map(_temporary, FILES), ledger.ORIGINALS, DISCARDED))
"""Beside the transactions, what is in the state directory."""
FOREIGN = "foreign-"
"""Beginning of the names of texts of somebody else that a roll-back kept: steps.py, _restore_file."""
LOCK_TIMEOUT = 5.0
"""Seconds to wait for the lock."""


def preserved_transactions(host: Host) -> dict[str, str]:
    """{path: why it stays} of transactions whose backups somebody may still need."""
    store = Store(host)
    found = {}
    for transaction in store.transactions():
        reason = _reason(store, transaction)
        if reason:
            found[f"{STATE_DIRECTORY}/transactions/{transaction}"] = reason
    return found


def removable_directories(host: Host) -> list[str]:
    """Directories of ours that hold anything which nobody needs once all is put back; none while a transaction is open."""
    store = Store(host)
    if _open_transactions(store):
        return []
    found = [installed_engine.ENGINE_DIRECTORY] if host.is_directory(installed_engine.ENGINE_DIRECTORY) else []
    ours = set(host.list(STATE_DIRECTORY)) & OWN_NAMES
    spared = {os.path.basename(path) for path in preserved_transactions(host)}
    if ours or set(store.transactions()) - spared or _has_empty_directories(host):
        found.insert(0, STATE_DIRECTORY)
    return found


def _has_empty_directories(host: Host) -> bool:
    """Whether directories are left that a removal which was cut off has emptied."""
    names = host.list(STATE_DIRECTORY)
    if not names:
        return host.is_directory(STATE_DIRECTORY)
    return TRANSACTIONS in names and not host.list(f"{STATE_DIRECTORY}/{TRANSACTIONS}")


def is_all_restored(host: Host) -> bool:
    """Whether ledger, QoS record and slices are empty, and every transaction has ended."""
    store = Store(host)
    if _open_transactions(store) or any(
        each.ledger is not None and not each.entered for each in committed_journals(store)
    ):
        return False
    return not (ledger.load(store).targets or record.load(host) or managed_files(host))


def clean_up(host: Host) -> list[str]:
    """Remove all of it that nobody needs; the directories that were removed from. Nothing while something is left."""
    wanted = removable_directories(host)
    if not wanted or not is_all_restored(host):
        return []
    store, clock = Store(host), Clock()
    if not os.path.isdir(store.directory):
        shutil.rmtree(host.path(installed_engine.ENGINE_DIRECTORY))
        return wanted
    # qos.lock as well: the unit that applies settings again takes that one alone.
    with hold(store.lock_path, "restore", clock, LOCK_TIMEOUT), record.hold_record(host, clock):
        # Looked at once more: from here on nobody begins anything.
        if not is_all_restored(host):
            return []
        _remove_state(host, store)
    return wanted


def _remove_state(host: Host, store: Store) -> None:
    spared = {os.path.basename(path) for path in preserved_transactions(host)}
    discarded = os.path.join(store.directory, DISCARDED)
    shutil.rmtree(discarded, ignore_errors=True)
    for transaction in set(store.transactions()) - spared:
        os.rename(store.path(transaction), discarded)
        shutil.rmtree(discarded)
    shutil.rmtree(ledger.originals(store), ignore_errors=True)
    shutil.rmtree(host.path(installed_engine.ENGINE_DIRECTORY), ignore_errors=True)
    for name in (*map(_temporary, FILES), *FILES):
        atomic_file.remove_if_present(os.path.join(store.directory, name))
    for directory in (os.path.join(store.directory, TRANSACTIONS), store.directory):
        _remove_empty(directory)


def _remove_empty(directory: str) -> None:
    try:
        os.rmdir(directory)
    except OSError:
        # What is kept is in it, or somebody else's.
        return
    atomic_file.sync_directory(os.path.dirname(directory))


def _open_transactions(store: Store) -> list[str]:
    """Transactions that have no answer yet: at work, cut off, or about to begin; not those that were left behind."""
    now = Clock().wall()
    unanswered = [each for each in store.transactions() if store.read(each, RESULT) is None]
    return [each for each in unanswered if not abandoned.is_abandoned(store, each, now)]


def _reason(store: Store, transaction: str) -> str:
    journal = Journal.load(store, transaction)
    if journal is None:
        return ""
    if journal.state is State.ROLLBACK_FAILED:
        return "it could not be undone entirely, and its backups are what is left of the node as it was"
    if journal.state is State.COMMITTED and journal.ledger is None:
        return "a version of the collection without a ledger wrote it: its backups are all there is of what was before"
    backups = store.path(transaction, "backups")
    if os.path.isdir(backups) and any(name.startswith(FOREIGN) for name in os.listdir(backups)):
        return "it holds texts of somebody else, which its roll-back found in the place of its own"
    return ""
