# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about the collection's own records: open transactions, and records that cannot be read."""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, Iterator

from ..errors import ColocationError
from ..host import Host
from ..settings import record
from ..state import image_record, ledger
from ..state.files import Saved
from ..state.journal import ENDS, Journal
from ..state.store import RESULT, STATE_DIRECTORY, Store, require_directories


def unfinished_transactions(host: Host) -> list[str]:
    """IDs of transactions that changed something and have not ended: still running, or interrupted.

    Transactions with an unreadable journal are in ``record_problems``.
    """
    try:
        store = Store(host)
        return [transaction for transaction in reversed(store.transactions()) if _is_unfinished(store, transaction)]
    except ColocationError:
        return []


def _is_unfinished(store: Store, transaction: str) -> bool:
    try:
        journal = Journal.load(store, transaction)
    except ColocationError:
        return False
    return journal is not None and journal.state not in ENDS


def ledger_problem(host: Host) -> dict[str, Any] | None:
    """Why the ledger cannot be read, which stops every transaction before it begins; None if it can be read."""
    try:
        ledger.load(Store(host))
    except ColocationError as error:
        return {"file": error.file, "message": error.message, "remedy": error.remedy}
    return None


DIRECTORY, JOURNAL, TRANSACTION_RESULT, ORIGINAL, SETTINGS, IMAGES = RECORDS = (
    "directory",
    "journal",
    "answer",
    "original",
    "settings",
    "images",
)
"""Kinds of records. The ledger has a separate key in the snapshot."""
BLOCKING = (DIRECTORY, JOURNAL)
"""If one of these cannot be read, a change may have been interrupted."""


def record_problems(host: Host) -> list[dict[str, Any]]:
    """``[{record, file, message, remedy}]``; empty if all existing records can be read.

    A directory that cannot be read is the only problem: other records are not checked then.
    """
    blocked = _problem(DIRECTORY, partial(require_directories, host))
    return [blocked] if blocked else list(filter(None, _of_files(host)))


def _of_files(host: Host) -> Iterator[dict[str, Any] | None]:
    store = Store(host)
    for transaction in store.transactions():
        yield _problem(JOURNAL, partial(Journal.load, store, transaction))
        yield _problem(TRANSACTION_RESULT, partial(store.read, transaction, RESULT))
    for saved in _originals(store):
        yield _problem(ORIGINAL, partial(ledger.text_of, store, saved))
    yield _problem(SETTINGS, partial(record.load, host))
    yield _problem(IMAGES, partial(image_record.load, host))


def _originals(store: Store) -> list[Saved]:
    """The saved contents that the ledger names, if it can be read."""
    try:
        targets = ledger.load(store).targets
    except ColocationError:
        return []
    return [saved for path in sorted(targets) for saved in (targets[path].original, targets[path].committed) if saved]


def _problem(kind: str, look: Callable[[], Any]) -> dict[str, Any] | None:
    try:
        look()
    except ColocationError as error:
        return {"record": kind, "file": error.file or STATE_DIRECTORY, "message": error.message, "remedy": error.remedy}
    return None
