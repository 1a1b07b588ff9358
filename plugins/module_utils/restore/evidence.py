# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""All that a restore would put back, taken without changing anything, as one JSON document."""

from __future__ import annotations

from typing import Any

from ..errors import ColocationError
from ..host import Host
from ..snapshot.collect import collect
from ..snapshot.system import identity
from ..transaction import ledger_entry
from ..transaction.journal import committed, unfinished
from ..transaction.store import Store
from . import qos, remains, slices
from .targets import store_path, targets

SCHEMA = 1
QOS, SLICES = "qos", "slices"


def evidence(host: Host) -> dict[str, Any]:
    """``snapshot`` is None where neither a file nor a slice is to be put back. File texts are unredacted."""
    store = Store(host)
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


def _qos(host: Host) -> dict[str, Any]:
    try:
        return {**qos.described(qos.withdrawals(host)), "error": None}
    except ColocationError as error:
        return {**qos.described(()), "error": str(error)}
