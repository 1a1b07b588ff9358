# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""All that a restore would put back, taken without changing anything, as one JSON document."""

from __future__ import annotations

from typing import Any

from ..errors import ColocationError
from ..host import Host
from ..qos import record
from ..snapshot.collect import collect
from ..snapshot.system import identity
from ..transaction import ledger_entry
from ..transaction.journal import committed, unfinished
from ..transaction.lock import require_lockable
from ..transaction.store import LOCK, Store, require_directories
from . import qos, remains, slices
from .targets import store_path, targets

SCHEMA = 1
QOS, SLICES = "qos", "slices"


def evidence(host: Host) -> dict[str, Any]:
    """``snapshot`` is None where neither a file nor a slice is restored. File texts are unredacted.

    ColocationError where a restore could not be begun.
    """
    require_directories(host)
    store = Store(host)
    _require_lockable(host)
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "unfinished": [journal.id for journal in unfinished(store)],
        "unsettled": [each.id for each in committed(store) if each.ledger is not None and not each.entered],
        "without_ledger": [
            {"id": each.id, "files": each.written, "backups": store_path(store, each.id)}
            for each in ledger_entry.without_ledger(store)
        ],
        "targets": targets(host, store),
        SLICES: slices.described(host, slices.found(host)),
        QOS: _qos(host),
        "removable": remains.removable(host),
        "kept": remains.kept(host),
        "identity": identity(host),
        "snapshot": None,
    }
    if document["targets"] or document[SLICES]["slices"]:
        document["snapshot"] = collect(host)
    return document


def _require_lockable(host: Host) -> None:
    for path in (LOCK, record.LOCK):
        try:
            require_lockable(host.path(path))
        except (FileNotFoundError, NotADirectoryError):
            # A link to nothing is on the way there, in an image: nothing of ours is there.
            return


def _qos(host: Host) -> dict[str, Any]:
    try:
        return {**qos.described(qos.withdrawals(host)), "error": None}
    except ColocationError as error:
        return {**qos.described(()), "error": str(error)}
