# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ledger: for each path, the state before the first change by the collection, and the last committed state.

File: /var/lib/volcano-colocation/ledger.json. The contents are in originals/ beside it, named by their hash.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Iterator, Mapping

from ..errors import ColocationError
from . import atomic_file, document_schema
from .document_reader import FileAttributes
from .files import Saved, file_error, is_as_saved, read_private, write_private
from .plan_document import sha256
from .store import STATE_DIRECTORY, Store

SCHEMA = 1
NAME = "ledger.json"
ORIGINALS = "originals"
LEDGER_FILE = f"{STATE_DIRECTORY}/{NAME}"


class Kind(Enum):
    """CHECKPOINT: a file of kubelet, which was moved aside and which kubelet has created again since."""

    FILE = "file"
    CHECKPOINT = "checkpoint"


@dataclass(frozen=True)
class Target:
    """One path. ``backup`` of both states is the name of a file in originals/; None: the path did not exist.

    ``committed`` is None for a checkpoint. ``earlier``: transactions that changed the path but are not in the ledger,
    because they are older than the ledger or their roll-back failed: ``original`` is not the state before the first
    of them.
    """

    path: str
    section: str
    kind: Kind
    original: Saved
    committed: Saved | None
    first: str
    last: str
    earlier: tuple[str, ...] = ()


SHAPE = {
    "last": document_schema.text,
    "folders": [document_schema.path],
    "targets": {
        document_schema.ANY: {
            "section": document_schema.section,
            "kind": lambda value: value in [kind.value for kind in Kind],
            "original": document_schema.SAVED,
            "committed": (document_schema.SAVED, None),
            "first": document_schema.transaction,
            "last": document_schema.transaction,
            "earlier": [document_schema.transaction],
        }
    },
}


@dataclass(frozen=True)
class Ledger:
    """All targets by path; ``last`` is the transaction that was entered last.

    ``directories`` were created for targets; each is removed with its last target.
    """

    targets: Mapping[str, Target] = field(default_factory=dict)
    last: str = ""
    directories: tuple[str, ...] = ()


def load(store: Store) -> Ledger:
    """The ledger of a node, empty if the file does not exist; ColocationError if it cannot be read."""
    try:
        document = json.loads(read_private(os.path.join(store.directory, NAME)).decode("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return Ledger()
    except OSError as error:
        raise file_error(error, LEDGER_FILE, "read it") from error
    except (ValueError, RecursionError) as error:
        raise _damage_error() from error
    schema = document.get("schema") if isinstance(document, dict) else SCHEMA
    if schema != SCHEMA:
        raise ColocationError(
            f"it has schema {schema!r}, and this version reads {SCHEMA}",
            "Use the version of volcano.colocation that wrote it",
            LEDGER_FILE,
        )
    where = document_schema.find_mismatch(document, SHAPE) or next(_mismatched_targets(document["targets"]), "")
    if where:
        raise _damage_error(where)
    targets = {path: _target(path, entry) for path, entry in document["targets"].items()}
    return Ledger(targets, document["last"], tuple(document["folders"]))


def _mismatched_targets(targets: dict[str, Any]) -> Iterator[str]:
    """Targets whose states name another path."""
    for path, target in targets.items():
        paths = [state["path"] for state in (target["original"], target["committed"]) if state]
        if set(paths) != {path}:
            yield f"targets.{path}"


def _damage_error(where: str = "") -> ColocationError:
    remedy = f"The originals are in {STATE_DIRECTORY}/{ORIGINALS}: restore them by hand, then move the ledger away"
    return ColocationError("it is damaged" + (f" ({where})" if where else ""), remedy, LEDGER_FILE)


def save(store: Store, ledger: Ledger) -> None:
    """Durably write the ledger, then delete the contents that it no longer names."""
    targets = {path: _document(target) for path, target in ledger.targets.items()}
    document = {"schema": SCHEMA, "last": ledger.last, "folders": list(ledger.directories), "targets": targets}
    text = json.dumps(document, indent=1, sort_keys=True)
    write_private(os.path.join(store.directory, NAME), text.encode("utf-8"))
    prune(store, ledger)


def prune(store: Store, ledger: Ledger) -> None:
    """Delete the contents that the ledger does not name."""
    named = {
        state.backup for target in ledger.targets.values() for state in (target.original, target.committed) if state
    }
    directory = originals(store)
    try:
        names = os.listdir(directory)
    except FileNotFoundError:
        return
    for name in sorted(set(names) - named):
        atomic_file.remove_if_present(os.path.join(directory, name))


def originals(store: Store) -> str:
    """Path on this machine of the directory of contents."""
    return os.path.join(store.directory, ORIGINALS)


def text_of(store: Store, saved: Saved) -> bytes | None:
    """A content that the ledger names, None if the file did not exist; ColocationError if its hash differs."""
    if saved.backup is None:
        return None
    name = f"{STATE_DIRECTORY}/{ORIGINALS}/{saved.backup}"
    try:
        text = read_private(os.path.join(originals(store), saved.backup))
    except OSError as error:
        raise file_error(error, name, "read it") from error
    if sha256(text) != saved.sha256:
        raise ColocationError(
            f"it is damaged; it is the saved content of {saved.path}", "Restore that file from elsewhere", name
        )
    return text


class FileStatus(Enum):
    """The current content of a path: the original, the committed one, or one that another process wrote."""

    ORIGINAL = "original"
    COMMITTED = "committed"
    FOREIGN = "foreign"


def file_status(target: Target, current: tuple[bytes, FileAttributes] | None) -> FileStatus:
    """``current``: content and attributes, None if the file does not exist. A checkpoint has only an original state."""
    if is_as_saved(current, target.original):
        return FileStatus.ORIGINAL
    committed = target.committed
    return FileStatus.COMMITTED if committed is None or is_as_saved(current, committed) else FileStatus.FOREIGN


def _document(target: Target) -> dict[str, Any]:
    return {
        "section": target.section,
        "kind": target.kind.value,
        "original": target.original.document(),
        "committed": None if target.committed is None else target.committed.document(),
        "first": target.first,
        "last": target.last,
        "earlier": list(target.earlier),
    }


def _target(path: str, document: dict[str, Any]) -> Target:
    committed = document["committed"]
    return Target(
        path,
        document["section"],
        Kind(document["kind"]),
        Saved.of(document["original"]),
        None if committed is None else Saved.of(committed),
        document["first"],
        document["last"],
        tuple(document["earlier"]),
    )
