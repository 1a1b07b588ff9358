# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ledger: of each path, what was there before the collection first touched it, and what it committed there last.

/var/lib/volcano-colocation/ledger.json; the texts are in originals/ beside it, named by their hash.
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
    """A checkpoint is kubelet's own: it was moved aside, and kubelet has made another since."""

    FILE = "file"
    CHECKPOINT = "checkpoint"


@dataclass(frozen=True)
class Target:
    """One path. The ``backup`` of both values is the name of a text in originals; None: there was, or is, no file.

    ``committed`` is None of a checkpoint. ``earlier``: transactions that changed it and are in no ledger, because
    there was none yet or because they could not be undone: ``original`` is not what was there before the first of them.
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

    ``folders``: those that were made for targets, and go with the last target in them.
    """

    targets: Mapping[str, Target] = field(default_factory=dict)
    last: str = ""
    folders: tuple[str, ...] = ()


def load(store: Store) -> Ledger:
    """The ledger of a node, empty when there is none; ColocationError when it cannot be read."""
    try:
        document = json.loads(read_private(os.path.join(store.folder, NAME)).decode("utf-8"))
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
    targets = {path: _target(path, each) for path, each in document["targets"].items()}
    return Ledger(targets, document["last"], tuple(document["folders"]))


def _mismatched_targets(targets: dict[str, Any]) -> Iterator[str]:
    """Targets whose values are those of another path."""
    for path, each in targets.items():
        said = [value["path"] for value in (each["original"], each["committed"]) if value]
        if set(said) != {path}:
            yield f"targets.{path}"


def _damage_error(where: str = "") -> ColocationError:
    remedy = f"The originals are in {STATE_DIRECTORY}/{ORIGINALS}: put them back by hand, then move the ledger away"
    return ColocationError("it is damaged" + (f" ({where})" if where else ""), remedy, LEDGER_FILE)


def save(store: Store, ledger: Ledger) -> None:
    """Durably write the ledger, then drop the texts that it does not name any more."""
    targets = {path: _document(target) for path, target in ledger.targets.items()}
    document = {"schema": SCHEMA, "last": ledger.last, "folders": list(ledger.folders), "targets": targets}
    text = json.dumps(document, indent=1, sort_keys=True)
    write_private(os.path.join(store.folder, NAME), text.encode("utf-8"))
    prune(store, ledger)


def prune(store: Store, ledger: Ledger) -> None:
    """Drop the texts that the ledger does not name."""
    named = {each.backup for target in ledger.targets.values() for each in (target.original, target.committed) if each}
    folder = originals(store)
    try:
        found = os.listdir(folder)
    except FileNotFoundError:
        return
    for name in sorted(set(found) - named):
        atomic_file.remove_if_present(os.path.join(folder, name))


def originals(store: Store) -> str:
    """Path on this machine of the folder of texts."""
    return os.path.join(store.folder, ORIGINALS)


def text_of(store: Store, saved: Saved) -> bytes | None:
    """A text that the ledger names, None where there was no file; ColocationError when it is not what it was."""
    if saved.backup is None:
        return None
    name = f"{STATE_DIRECTORY}/{ORIGINALS}/{saved.backup}"
    try:
        text = read_private(os.path.join(originals(store), saved.backup))
    except OSError as error:
        raise file_error(error, name, "read it") from error
    if sha256(text) != saved.sha256:
        raise ColocationError(f"it is damaged, and it is what {saved.path} was", "Restore it from elsewhere", name)
    return text


class FileStatus(Enum):
    """What lies at a path now: the original, what we committed, or what somebody else has made of it."""

    ORIGINAL = "original"
    COMMITTED = "committed"
    FOREIGN = "foreign"


def file_status(target: Target, found: tuple[bytes, FileAttributes] | None) -> FileStatus:
    """``found``: text and nature of what lies there, None for nothing. Of a checkpoint only the original is known."""
    if is_as_saved(found, target.original):
        return FileStatus.ORIGINAL
    committed = target.committed
    return FileStatus.COMMITTED if committed is None or is_as_saved(found, committed) else FileStatus.FOREIGN


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
