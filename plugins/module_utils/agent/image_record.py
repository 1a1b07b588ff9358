# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which images were imported on a node by the collection: /var/lib/volcano-colocation/images.json."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Sequence

from ..errors import ColocationError
from ..host import Host
from ..transaction import shape
from ..transaction.durable import sync_folder, unlink_if_there
from ..transaction.files import private_folder, read_private, refused, write_private
from ..transaction.store import STATE_FOLDER, require_own

FILE = f"{STATE_FOLDER}/images.json"
SCHEMA = 1
SHAPE = {"images": [{"name": shape.text, "id": shape.text}]}


@dataclass(frozen=True)
class Entry:
    """One image that was not there before: the name it was imported under, and its id."""

    name: str
    id: str


def load(host: Host) -> tuple[Entry, ...]:
    """What was imported; ColocationError for a record that cannot be relied on."""
    require_own(host, STATE_FOLDER)
    try:
        document = json.loads(read_private(host.path(FILE)).decode("utf-8"))
        schema = document["schema"]
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        raise refused(error, FILE, "read it") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damaged() from error
    if schema != SCHEMA:
        raise ColocationError(
            f"it has schema {schema!r}, and this version reads {SCHEMA}",
            "Use the version of volcano.colocation that wrote it",
            FILE,
        )
    where = shape.wrong(document, SHAPE)
    if where:
        raise _damaged(where)
    return tuple(Entry(each["name"], each["id"]) for each in document["images"])


def save(host: Host, entries: Sequence[Entry]) -> None:
    """Durably write the record; an empty one has no file."""
    path, folder = host.path(FILE), host.path(STATE_FOLDER)
    try:
        private_folder(folder)
        if not entries:
            if unlink_if_there(path):
                sync_folder(folder)
            return
        images = [{"name": each.name, "id": each.id} for each in entries]
        write_private(path, json.dumps({"schema": SCHEMA, "images": images}, indent=1).encode("utf-8"))
    except OSError as error:
        raise refused(error, FILE, "keep what was imported there") from error


def _damaged(where: str = "") -> ColocationError:
    said = "it is damaged" + (f" ({where})" if where else "")
    return ColocationError(said, "Move it away: images that were imported then stay on the node", FILE)
