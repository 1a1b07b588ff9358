# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""All that a restore would restore, as one JSON document; nothing is changed. File texts are unredacted."""

from __future__ import annotations

import os
from typing import Any

from ..errors import ColocationError
from ..host import Host
from ..settings import record
from ..snapshot.collect import collect
from ..snapshot.machine_evidence import identity
from ..state import files, ledger
from ..state.document_reader import FileAttributes
from ..state.files import Saved
from ..state.journal import committed_journals, unfinished_journals
from ..state.ledger import FileStatus, Target
from ..state.node_lock import require_lockable
from ..state.store import LOCK, STATE_DIRECTORY, Store, require_directories
from ..transaction import ledger_update
from . import cleanup, managed_slices, recorded_settings


def ledger_targets(host: Host, store: Store) -> list[dict[str, Any]]:
    """One entry a path, sorted; ColocationError when the ledger or a text of it cannot be read."""
    found = ledger.load(store).targets
    return [_target_document(host, store, found[path]) for path in sorted(found)]


def _target_document(host: Host, store: Store, target: Target) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "path": target.path,
        "section": target.section,
        "kind": target.kind.value,
        "original": _value(store, target.original),
        "committed": _value(store, target.committed),
        "original_file": f"{STATE_DIRECTORY}/{ledger.ORIGINALS}/{target.original.backup}",
        "first": target.first,
        "last": target.last,
        "earlier": [{"id": each, "backups": store_path(store, each)} for each in target.earlier],
        "found": None,
        "standing": FileStatus.FOREIGN.value,
        "error": None,
    }
    try:
        found = files.read_file(host, target.path)
    except ColocationError as error:
        return {**entry, "error": str(error)}
    entry["standing"] = ledger.file_status(target, found).value
    return {**entry, "found": None if found is None else _content_document(*found)}


def store_path(store: Store, transaction: str) -> str:
    """The directory of a transaction's backups, as a path of the node."""
    return os.path.join(STATE_DIRECTORY, os.path.relpath(store.path(transaction, "backups"), store.directory))


def _value(store: Store, saved: Saved | None) -> dict[str, Any] | None:
    text = None if saved is None else ledger.text_of(store, saved)
    return None if saved is None or text is None else _content_document(text, saved.attributes)


def _content_document(text: bytes, nature: FileAttributes) -> dict[str, Any]:
    return {
        "text": text.decode("utf-8", "surrogateescape"),
        "mode": f"{nature.mode:04o}",
        "owner": f"{nature.uid}:{nature.gid}",
        "xattrs": nature.xattrs,
    }


SCHEMA = 1
QOS, SLICES = "qos", "slices"


def restore_evidence(host: Host) -> dict[str, Any]:
    """``snapshot`` is None where neither a file nor a slice is restored. File texts are unredacted.

    ColocationError where a restore could not be begun.
    """
    require_directories(host)
    store = Store(host)
    _require_lockable(host)
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "unfinished": [journal.id for journal in unfinished_journals(store)],
        "unsettled": [each.id for each in committed_journals(store) if each.ledger is not None and not each.entered],
        "without_ledger": [
            {"id": each.id, "files": each.written, "backups": store_path(store, each.id)}
            for each in ledger_update.transactions_without_ledger(store)
        ],
        "targets": ledger_targets(host, store),
        SLICES: managed_slices.restore_result(host, managed_slices.find_slices(host)),
        QOS: _qos(host),
        "removable": cleanup.removable_directories(host),
        "kept": cleanup.preserved_transactions(host),
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
        return {**recorded_settings.restore_result(recorded_settings.plan_restores(host)), "error": None}
    except ColocationError as error:
        return {**recorded_settings.restore_result(()), "error": str(error)}
