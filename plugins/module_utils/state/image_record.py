# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which images were imported on a node by the collection: /var/lib/volcano-colocation/images.json."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Sequence

from ..errors import ColocationError
from ..host import Host
from . import document_schema
from .atomic_file import remove_if_present, sync_directory
from .files import file_error, make_private_directory, read_private, write_private
from .store import STATE_DIRECTORY, require_own_directory

FILE = f"{STATE_DIRECTORY}/images.json"
SCHEMA = 1
SHAPE = {"images": [{"name": document_schema.text, "id": document_schema.text}]}


@dataclass(frozen=True)
class ImportedImage:
    """One image that was not there before: the name it was imported under, and its id."""

    name: str
    id: str


def load(host: Host) -> tuple[ImportedImage, ...]:
    """What was imported; ColocationError for a record that cannot be relied on."""
    require_own_directory(host, STATE_DIRECTORY)
    try:
        document = json.loads(read_private(host.path(FILE)).decode("utf-8"))
        schema = document["schema"]
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        raise file_error(error, FILE, "read it") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damage_error() from error
    if schema != SCHEMA:
        raise ColocationError(
            f"it has schema {schema!r}, and this version reads {SCHEMA}",
            "Use the version of volcano.colocation that wrote it",
            FILE,
        )
    where = document_schema.find_mismatch(document, SHAPE)
    if where:
        raise _damage_error(where)
    return tuple(ImportedImage(each["name"], each["id"]) for each in document["images"])


def save(host: Host, entries: Sequence[ImportedImage]) -> None:
    """Durably write the record; an empty one has no file."""
    path, folder = host.path(FILE), host.path(STATE_DIRECTORY)
    try:
        make_private_directory(folder)
        if not entries:
            if remove_if_present(path):
                sync_directory(folder)
            return
        images = [{"name": each.name, "id": each.id} for each in entries]
        write_private(path, json.dumps({"schema": SCHEMA, "images": images}, indent=1).encode("utf-8"))
    except OSError as error:
        raise file_error(error, FILE, "keep what was imported there") from error


def _damage_error(where: str = "") -> ColocationError:
    said = "it is damaged" + (f" ({where})" if where else "")
    return ColocationError(said, "Move it away: images that were imported then stay on the node", FILE)
