# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists everything that a restore would change as one JSON document. File contents are not redacted."""

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
    """One entry per path, sorted; ColocationError if the ledger or one of its contents cannot be read."""
    targets = ledger.load(store).targets
    return [_target_document(host, store, targets[path]) for path in sorted(targets)]


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
        "earlier": [{"id": name, "backups": store_path(store, name)} for name in target.earlier],
        "found": None,
        "standing": FileStatus.FOREIGN.value,
        "error": None,
    }
    try:
        current = files.read_file(host, target.path)
    except ColocationError as error:
        return {**entry, "error": str(error)}
    entry["standing"] = ledger.file_status(target, current).value
    return {**entry, "found": None if current is None else _content_document(*current)}


def store_path(store: Store, transaction: str) -> str:
    """Path on the node of a transaction's backups."""
    return os.path.join(STATE_DIRECTORY, os.path.relpath(store.path(transaction, "backups"), store.directory))


def _value(store: Store, saved: Saved | None) -> dict[str, Any] | None:
    text = None if saved is None else ledger.text_of(store, saved)
    return None if saved is None or text is None else _content_document(text, saved.attributes)


def _content_document(text: bytes, attributes: FileAttributes) -> dict[str, Any]:
    return {
        "text": text.decode("utf-8", "surrogateescape"),
        "mode": f"{attributes.mode:04o}",
        "owner": f"{attributes.uid}:{attributes.gid}",
        "xattrs": attributes.xattrs,
    }


SCHEMA = 1
QOS, SLICES = "qos", "slices"


def restore_evidence(host: Host) -> dict[str, Any]:
    """The document. ``snapshot`` is None if there are no files or slices to restore. File contents are not redacted.

    ColocationError if a restore could not begin.
    """
    require_directories(host)
    store = Store(host)
    _require_lockable(host)
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "unfinished": [journal.id for journal in unfinished_journals(store)],
        "unsettled": [
            journal.id for journal in committed_journals(store) if journal.ledger is not None and not journal.entered
        ],
        "without_ledger": [
            {"id": journal.id, "files": journal.written, "backups": store_path(store, journal.id)}
            for journal in ledger_update.transactions_without_ledger(store)
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
            # In an image, a parent is a dangling link, so the collection has no files there.
            return


def _qos(host: Host) -> dict[str, Any]:
    try:
        return {**recorded_settings.restore_result(recorded_settings.plan_restores(host)), "error": None}
    except ColocationError as error:
        return {**recorded_settings.restore_result(()), "error": str(error)}
