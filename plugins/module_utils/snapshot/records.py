# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about our own records on the node: those that cannot be relied on, each with the reason and the remedy."""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, Iterator

from ..agent import image_record
from ..errors import ColocationError
from ..host import Host
from ..qos import record
from ..transaction import ledger
from ..transaction.files import Saved
from ..transaction.journal import Journal
from ..transaction.store import RESULT, STATE_FOLDER, Store, require_directories

DIRECTORY, JOURNAL, ANSWER, ORIGINAL, SETTINGS, IMAGES = RECORDS = (
    "directory",
    "journal",
    "answer",
    "original",
    "settings",
    "images",
)
"""What a record is. The ledger has a key of its own in the snapshot: transactions.py."""
BLOCKING = (DIRECTORY, JOURNAL)
"""Behind these a change may lie that was cut off."""


def record_problems(host: Host) -> list[dict[str, Any]]:
    """``[{record, file, message, remedy}]``; empty where all that is there can be read.

    A directory that cannot be looked into is the only one: what is in it, or beside it, is not looked for.
    """
    blocked = _problem(DIRECTORY, partial(require_directories, host))
    return [blocked] if blocked else list(filter(None, _of_files(host)))


def _of_files(host: Host) -> Iterator[dict[str, Any] | None]:
    store = Store(host)
    for transaction in store.transactions():
        yield _problem(JOURNAL, partial(Journal.load, store, transaction))
        yield _problem(ANSWER, partial(store.read, transaction, RESULT))
    for saved in _originals(store):
        yield _problem(ORIGINAL, partial(ledger.text_of, store, saved))
    yield _problem(SETTINGS, partial(record.load, host))
    yield _problem(IMAGES, partial(image_record.load, host))


def _originals(store: Store) -> list[Saved]:
    """What the ledger names, if that can be read."""
    try:
        targets = ledger.load(store).targets
    except ColocationError:
        return []
    return [saved for path in sorted(targets) for saved in (targets[path].original, targets[path].committed) if saved]


def _problem(kind: str, look: Callable[[], Any]) -> dict[str, Any] | None:
    try:
        look()
    except ColocationError as error:
        return {"record": kind, "file": error.file or STATE_FOLDER, "message": error.message, "remedy": error.remedy}
    return None
