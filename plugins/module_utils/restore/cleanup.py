# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removes the collection's own files from a node after everything is restored."""

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
"""Name of a transaction during its deletion: a partly deleted one would look as if it were about to begin."""
TRANSACTIONS = "transactions"
FILES = (ledger.NAME, *map(os.path.basename, (record.FILE, record.LOCK)), "lock")
"""In deletion order: the lock is last, so a process that waits for it starts with an empty directory."""


def _temporary(name: str) -> str:
    """The temporary file that an interrupted write leaves beside a file."""
    return os.path.basename(atomic_file.temporary_path("", name))


OWN_NAMES = frozenset((*FILES, *map(_temporary, FILES), ledger.ORIGINALS, DISCARDED))
"""Names in the state directory, except the directory of transactions."""
FOREIGN = "foreign-"
"""File name prefix of foreign contents that a roll-back saved: transaction/steps.py, _restore_file."""
LOCK_TIMEOUT = 5.0
"""Seconds to wait for the lock."""


def preserved_transactions(host: Host) -> dict[str, str]:
    """{path: reason} of transactions whose backups may still be needed."""
    store = Store(host)
    preserved = {}
    for transaction in store.transactions():
        reason = _reason(store, transaction)
        if reason:
            preserved[f"{STATE_DIRECTORY}/transactions/{transaction}"] = reason
    return preserved


def removable_directories(host: Host) -> list[str]:
    """Directories with files that are not needed after a full restore; empty while a transaction is open."""
    store = Store(host)
    if _open_transactions(store):
        return []
    directories = [installed_engine.ENGINE_DIRECTORY] if host.is_directory(installed_engine.ENGINE_DIRECTORY) else []
    own_files = set(host.list(STATE_DIRECTORY)) & OWN_NAMES
    preserved = {os.path.basename(path) for path in preserved_transactions(host)}
    if own_files or set(store.transactions()) - preserved or _has_empty_directories(host):
        directories.insert(0, STATE_DIRECTORY)
    return directories


def _has_empty_directories(host: Host) -> bool:
    """Whether an interrupted removal left empty directories."""
    names = host.list(STATE_DIRECTORY)
    if not names:
        return host.is_directory(STATE_DIRECTORY)
    return TRANSACTIONS in names and not host.list(f"{STATE_DIRECTORY}/{TRANSACTIONS}")


def is_all_restored(host: Host) -> bool:
    """Whether ledger, QoS record and slices are empty, and every transaction has ended."""
    store = Store(host)
    if _open_transactions(store) or any(
        journal.ledger is not None and not journal.entered for journal in committed_journals(store)
    ):
        return False
    return not (ledger.load(store).targets or record.load(host) or managed_files(host))


def clean_up(host: Host) -> list[str]:
    """Remove the unneeded files if everything is restored; returns the affected directories."""
    directories = removable_directories(host)
    if not directories or not is_all_restored(host):
        return []
    store, clock = Store(host), Clock()
    if not os.path.isdir(store.directory):
        shutil.rmtree(host.path(installed_engine.ENGINE_DIRECTORY))
        return directories
    # Also take qos.lock, the only lock of the unit that applies settings again.
    with hold(store.lock_path, "restore", clock, LOCK_TIMEOUT), record.hold_record(host, clock):
        # Check again: with the locks held, no other process can begin a change.
        if not is_all_restored(host):
            return []
        _remove_state(host, store)
    return directories


def _remove_state(host: Host, store: Store) -> None:
    preserved = {os.path.basename(path) for path in preserved_transactions(host)}
    discarded = os.path.join(store.directory, DISCARDED)
    shutil.rmtree(discarded, ignore_errors=True)
    for transaction in set(store.transactions()) - preserved:
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
        # It still contains preserved or foreign files.
        return
    atomic_file.sync_directory(os.path.dirname(directory))


def _open_transactions(store: Store) -> list[str]:
    """Transactions without a result: running, interrupted, or about to begin, but not abandoned ones."""
    now = Clock().wall()
    without_result = [name for name in store.transactions() if store.read(name, RESULT) is None]
    return [name for name in without_result if not abandoned.is_abandoned(store, name, now)]


def _reason(store: Store, transaction: str) -> str:
    journal = Journal.load(store, transaction)
    if journal is None:
        return ""
    if journal.state is State.ROLLBACK_FAILED:
        return "its roll-back failed, and only its backups have the previous state of the node"
    if journal.state is State.COMMITTED and journal.ledger is None:
        return "a version of the collection without a ledger wrote it, and only its backups have the previous state"
    backups = store.path(transaction, "backups")
    if os.path.isdir(backups) and any(name.startswith(FOREIGN) for name in os.listdir(backups)):
        return "its backups include content of someone else, which its roll-back replaced"
    return ""
