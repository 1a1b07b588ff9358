# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where transactions are kept on a node.

/var/lib/volcano-colocation/          0700
    lock                              who works on this node at the moment
    ledger.json                       what was there before the collection first came, and what it committed last
    originals/SHA256                  the texts that the ledger names
    transactions/ID/plan.json         until the end of the transaction; it holds file contents
    transactions/ID/journal.json      what was begun and how to undo it
    transactions/ID/backups/          originals of files and checkpoints
    transactions/ID/candidates/       while they are validated: the new texts
    transactions/ID/launches.json     until the end: how often an engine was started again that ended without an answer
    transactions/ID/reserve           until the end: room for the journal on a disk that fills up
    transactions/ID/result.json       the answer, once there is one
Every file is 0600.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
from typing import Any

from ..errors import ColocationError
from ..host import Host
from . import atomic_file
from .files import FileRefused, file_error, make_private_directory, read_private, require_safe_path, write_private

STATE_DIRECTORY = "/var/lib/volcano-colocation"
OWN_DIRECTORIES = (STATE_DIRECTORY, f"{STATE_DIRECTORY}/transactions", f"{STATE_DIRECTORY}/originals")
"""What is not needed any more is removed from them, so that none may be a link to a folder that is not ours."""
LOCK = f"{STATE_DIRECTORY}/lock"
PLAN = "plan.json"
RESULT = "result.json"
RESERVE = "reserve"
LAUNCHES = "launches.json"
CANDIDATES = "candidates"
RESERVE_SIZE = 1 << 18
"""Bytes; room for the journal and the answer of a transaction during which the disk fills up."""


def require_own_directory(host: Host, folder: str) -> None:
    """FileRefused where a folder of ours is a link, or behind one that others can change."""
    if _is_link(host, folder):
        destination = host.readlink(folder)
        raise FileRefused(f"it is a symbolic link to {destination}", "Put a folder in the place of the link", folder)
    require_safe_path(host, f"{folder}/{PLAN}")


def _is_link(host: Host, folder: str) -> bool:
    try:
        return stat.S_ISLNK(host.lstat(folder).st_mode)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise file_error(error, folder, "look at it") from error
        return False


INDENT = 1
"""The documents are read by people too."""


class Store:
    """The state folder of one node."""

    def __init__(self, host: Host) -> None:
        self._host = host
        for folder in OWN_DIRECTORIES:
            require_own_directory(host, folder)

    @property
    def folder(self) -> str:
        """Path on this machine of the state folder; OSError where an image has a link to nothing on the way to it."""
        return self._host.path(STATE_DIRECTORY)

    @property
    def lock_path(self) -> str:
        """Path on this machine of the lock file."""
        return self._host.path(LOCK)

    def path(self, transaction: str, name: str = "") -> str:
        """Path on this machine of something in a transaction's folder."""
        return os.path.join(self.folder, "transactions", transaction, name).rstrip("/")

    def open(self, transaction: str, plan: str) -> None:
        """Make the folder of a new transaction and lay its plan down."""
        try:
            make_private_directory(self.path(transaction, "backups"))
            write_private(self.path(transaction, RESERVE), b"\0" * RESERVE_SIZE)
            write_private(self.path(transaction, PLAN), plan.encode("utf-8", "surrogateescape"))
        except OSError as error:
            shutil.rmtree(self.path(transaction), ignore_errors=True)
            raise file_error(error, STATE_DIRECTORY, "keep a transaction there") from error

    def require_directory(self, transaction: str) -> None:
        """FileRefused where ``open`` could not make the folder of a transaction; nothing is made."""
        place = self.path(transaction)
        while not os.path.lexists(place):
            place = os.path.dirname(place)
        if not os.path.isdir(place):
            error = NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            raise file_error(error, STATE_DIRECTORY, "keep a transaction there")

    def exists(self, transaction: str) -> bool:
        """True for a transaction that was opened once."""
        try:
            return os.path.isdir(self.path(transaction))
        except OSError as error:
            raise file_error(error, STATE_DIRECTORY, "keep a transaction there") from error

    def plan_text(self, transaction: str) -> str:
        """The plan as the controller sent it."""
        return read_private(self.path(transaction, PLAN)).decode("utf-8", "surrogateescape")

    def transactions(self) -> list[str]:
        """Ids of all transactions, oldest first as long as ids begin with the time."""
        try:
            return sorted(os.listdir(os.path.join(self.folder, "transactions")))
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise file_error(error, f"{STATE_DIRECTORY}/transactions", "look into it") from error

    def read(self, transaction: str, name: str) -> Any:
        """A JSON document in a transaction's folder; None when it is not there."""
        try:
            found = json.loads(read_private(self.path(transaction, name)).decode("utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise file_error(error, self.place(transaction, name), "read it") from error
        except (ValueError, RecursionError):
            raise self.damage_error(transaction, name) from None
        if not isinstance(found, dict):
            raise self.damage_error(transaction, name)
        return found

    def place(self, transaction: str, name: str) -> str:
        """The path on the node of something in a transaction's folder."""
        return f"{STATE_DIRECTORY}/transactions/{transaction}/{name}"

    def damage_error(self, transaction: str, name: str, where: str = "") -> ColocationError:
        """The error for a document that cannot be relied on."""
        return ColocationError(
            "it is damaged" + (f" ({where})" if where else ""),
            "Compare the files it names with its backups by hand, then move its folder away",
            self.place(transaction, name),
        )

    def write(self, transaction: str, name: str, document: Any) -> None:
        """Durably write a JSON document in a transaction's folder, taking the reserve when the disk is full."""
        text = json.dumps(document, indent=INDENT, sort_keys=True).encode("utf-8")
        try:
            write_private(self.path(transaction, name), text)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT) or not self.remove(transaction, RESERVE):
                raise
            write_private(self.path(transaction, name), text)

    def remove(self, transaction: str, name: str) -> bool:
        """Remove a file of a transaction; False when it was not there."""
        try:
            os.unlink(self.path(transaction, name))
        except FileNotFoundError:
            return False
        return True

    def finish(self, transaction: str, result: dict[str, Any]) -> None:
        """Write the answer and drop what nobody needs any more."""
        self.write(transaction, RESULT, result)
        self.drop(transaction)

    def drop(self, transaction: str) -> None:
        """Drop what is of use until the answer only, above all file contents: the plan, what was being validated."""
        for name in (PLAN, RESERVE, LAUNCHES):
            self.remove(transaction, os.path.basename(atomic_file.temporary_path("", name)))
            self.remove(transaction, name)
        shutil.rmtree(self.path(transaction, CANDIDATES), ignore_errors=True)


def require_directories(host: Host) -> None:
    """FileRefused where a folder of ours cannot be looked into, or something else is in its place."""
    Store(host)
    for folder in OWN_DIRECTORIES:
        try:
            if not stat.S_ISDIR(host.lstat(folder).st_mode):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), folder)
            os.listdir(host.path(folder))
        except FileNotFoundError:
            continue
        except OSError as error:
            raise file_error(error, folder, "look into it") from error
