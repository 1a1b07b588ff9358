# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ledger held against what lies on the node, as evidence for the controller. File texts are unredacted."""

from __future__ import annotations

import os
from typing import Any

from ..errors import ColocationError
from ..host import Host
from ..transaction import files, ledger
from ..transaction.files import Saved
from ..transaction.ledger import Standing, Target
from ..transaction.nature import Nature
from ..transaction.store import STATE_FOLDER, Store


def targets(host: Host, store: Store) -> list[dict[str, Any]]:
    """One entry a path, sorted; ColocationError when the ledger or a text of it cannot be read."""
    found = ledger.load(store).targets
    return [_described(host, store, found[path]) for path in sorted(found)]


def _described(host: Host, store: Store, target: Target) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "path": target.path,
        "section": target.section,
        "kind": target.kind.value,
        "original": _value(store, target.original),
        "committed": _value(store, target.committed),
        "original_file": f"{STATE_FOLDER}/{ledger.ORIGINALS}/{target.original.backup}",
        "first": target.first,
        "last": target.last,
        "earlier": [{"id": each, "backups": store_path(store, each)} for each in target.earlier],
        "found": None,
        "standing": Standing.FOREIGN.value,
        "error": None,
    }
    try:
        found = files.observed(host, target.path)
    except ColocationError as error:
        return {**entry, "error": str(error)}
    entry["standing"] = ledger.standing(target, found).value
    return {**entry, "found": None if found is None else _shape(*found)}


def store_path(store: Store, transaction: str) -> str:
    """The folder of a transaction's backups, as a path of the node."""
    return os.path.join(STATE_FOLDER, os.path.relpath(store.path(transaction, "backups"), store.folder))


def _value(store: Store, saved: Saved | None) -> dict[str, Any] | None:
    text = None if saved is None else ledger.text_of(store, saved)
    return None if saved is None or text is None else _shape(text, saved.nature)


def _shape(text: bytes, nature: Nature) -> dict[str, Any]:
    return {
        "text": text.decode("utf-8", "surrogateescape"),
        "mode": f"{nature.mode:04o}",
        "owner": f"{nature.uid}:{nature.gid}",
        "xattrs": nature.xattrs,
    }
