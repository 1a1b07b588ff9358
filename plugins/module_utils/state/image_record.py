# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of images that the collection imported on a node: /var/lib/volcano-colocation/images.json."""

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
SHAPE = {"images": [{"name": document_schema.text, "id": document_schema.text, "?owner": document_schema.text}]}
AGENT = "agent"
"""The owner of an image whose record has none."""


@dataclass(frozen=True)
class ImportedImage:
    """One imported image that did not exist before: the name used for the import, its id, and the role it is for."""

    name: str
    id: str
    owner: str = AGENT

    def to_record(self) -> dict[str, str]:
        owner = {} if self.owner == AGENT else {"owner": self.owner}
        return {"name": self.name, "id": self.id, **owner}


def load(host: Host) -> tuple[ImportedImage, ...]:
    """The imported images; ColocationError if the record is damaged."""
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
    return tuple(ImportedImage(image["name"], image["id"], image.get("owner", AGENT)) for image in document["images"])


def save(host: Host, entries: Sequence[ImportedImage]) -> None:
    """Durably write the record; without entries, delete the file."""
    path, directory = host.path(FILE), host.path(STATE_DIRECTORY)
    try:
        make_private_directory(directory)
        if not entries:
            if remove_if_present(path):
                sync_directory(directory)
            return
        images = [image.to_record() for image in entries]
        write_private(path, json.dumps({"schema": SCHEMA, "images": images}, indent=1).encode("utf-8"))
    except OSError as error:
        raise file_error(error, FILE, "record the imported images there") from error


def _damage_error(where: str = "") -> ColocationError:
    problem = "it is damaged" + (f" ({where})" if where else "")
    return ColocationError(problem, "Move it away: the imported images then stay on the node", FILE)
