# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The directory in which a node stores transactions.

/var/lib/volcano-colocation/          0700
    lock                              the process that changes this node now
    ledger.json                       the original state of each path, and the last committed one
    originals/SHA256                  the contents that the ledger names
    transactions/ID/plan.json         until the end of the transaction; it holds file contents
    transactions/ID/journal.json      the steps that began, and how to undo them
    transactions/ID/backups/          originals of files and checkpoints
    transactions/ID/candidates/       during the validation: the new contents
    transactions/ID/launches.json     until the end: how often the engine was restarted after it ended without a result
    transactions/ID/reserve           until the end: disk space for the journal in case the disk fills up
    transactions/ID/result.json       the result, after the end
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
"""Files in them are deleted, so none may be a link to a foreign directory."""
LOCK = f"{STATE_DIRECTORY}/lock"
PLAN = "plan.json"
RESULT = "result.json"
RESERVE = "reserve"
LAUNCHES = "launches.json"
CANDIDATES = "candidates"
RESERVE_SIZE = 1 << 18
"""Bytes reserved for the journal and the result of a transaction in case the disk fills up."""


def require_own_directory(host: Host, directory: str) -> None:
    """FileRefused if a directory of the collection is a link, or below a link that other users can change."""
    if _is_link(host, directory):
        destination = host.readlink(directory)
        raise FileRefused(f"it is a symbolic link to {destination}", "Replace the link with a directory", directory)
    require_safe_path(host, f"{directory}/{PLAN}")


def _is_link(host: Host, directory: str) -> bool:
    try:
        return stat.S_ISLNK(host.lstat(directory).st_mode)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise file_error(error, directory, "look at it") from error
        return False


INDENT = 1
"""The documents are read by people too."""


class Store:
    """The state directory of one node."""

    def __init__(self, host: Host) -> None:
        self._host = host
        for directory in OWN_DIRECTORIES:
            require_own_directory(host, directory)

    @property
    def directory(self) -> str:
        """Path on this machine of the state directory; OSError if a parent is a dangling link in an image."""
        return self._host.path(STATE_DIRECTORY)

    @property
    def lock_path(self) -> str:
        """Path on this machine of the lock file."""
        return self._host.path(LOCK)

    def path(self, transaction: str, name: str = "") -> str:
        """Path on this machine of a file in a transaction's directory."""
        return os.path.join(self.directory, "transactions", transaction, name).rstrip("/")

    def open(self, transaction: str, plan: str) -> None:
        """Create the directory of a new transaction and write its plan."""
        try:
            make_private_directory(self.path(transaction, "backups"))
            write_private(self.path(transaction, RESERVE), b"\0" * RESERVE_SIZE)
            write_private(self.path(transaction, PLAN), plan.encode("utf-8", "surrogateescape"))
        except OSError as error:
            shutil.rmtree(self.path(transaction), ignore_errors=True)
            raise file_error(error, STATE_DIRECTORY, "store a transaction there") from error

    def require_directory(self, transaction: str) -> None:
        """FileRefused if ``open`` could not create the directory of a transaction; nothing is created."""
        place = self.path(transaction)
        while not os.path.lexists(place):
            place = os.path.dirname(place)
        if not os.path.isdir(place):
            error = NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            raise file_error(error, STATE_DIRECTORY, "store a transaction there")

    def exists(self, transaction: str) -> bool:
        """True if the transaction was opened before."""
        try:
            return os.path.isdir(self.path(transaction))
        except OSError as error:
            raise file_error(error, STATE_DIRECTORY, "store a transaction there") from error

    def plan_text(self, transaction: str) -> str:
        """The plan as the controller sent it."""
        return read_private(self.path(transaction, PLAN)).decode("utf-8", "surrogateescape")

    def transactions(self) -> list[str]:
        """Ids of all transactions, oldest first if ids begin with the time."""
        try:
            return sorted(os.listdir(os.path.join(self.directory, "transactions")))
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise file_error(error, f"{STATE_DIRECTORY}/transactions", "list it") from error

    def read(self, transaction: str, name: str) -> Any:
        """A JSON document in a transaction's directory; None if it does not exist."""
        try:
            document = json.loads(read_private(self.path(transaction, name)).decode("utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise file_error(error, self.place(transaction, name), "read it") from error
        except (ValueError, RecursionError):
            raise self.damage_error(transaction, name) from None
        if not isinstance(document, dict):
            raise self.damage_error(transaction, name)
        return document

    def place(self, transaction: str, name: str) -> str:
        """Path on the node of a file in a transaction's directory."""
        return f"{STATE_DIRECTORY}/transactions/{transaction}/{name}"

    def damage_error(self, transaction: str, name: str, where: str = "") -> ColocationError:
        """The error for a damaged document."""
        return ColocationError(
            "it is damaged" + (f" ({where})" if where else ""),
            "Compare the files that it names with its backups by hand, then move its directory away",
            self.place(transaction, name),
        )

    def write(self, transaction: str, name: str, document: Any) -> None:
        """Durably write a JSON document in a transaction's directory, using the reserve if the disk is full."""
        text = json.dumps(document, indent=INDENT, sort_keys=True).encode("utf-8")
        try:
            write_private(self.path(transaction, name), text)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT) or not self.remove(transaction, RESERVE):
                raise
            write_private(self.path(transaction, name), text)

    def remove(self, transaction: str, name: str) -> bool:
        """Delete a file of a transaction; False if it did not exist."""
        try:
            os.unlink(self.path(transaction, name))
        except FileNotFoundError:
            return False
        return True

    def finish(self, transaction: str, result: dict[str, Any]) -> None:
        """Write the result and delete the files that are no longer needed."""
        self.write(transaction, RESULT, result)
        self.drop(transaction)

    def drop(self, transaction: str) -> None:
        """Delete files that are needed only until the result exists: the plan and candidates have file contents."""
        for name in (PLAN, RESERVE, LAUNCHES):
            self.remove(transaction, os.path.basename(atomic_file.temporary_path("", name)))
            self.remove(transaction, name)
        shutil.rmtree(self.path(transaction, CANDIDATES), ignore_errors=True)


def require_directories(host: Host) -> None:
    """FileRefused if a directory of the collection cannot be listed, or something else exists at its path."""
    Store(host)
    for directory in OWN_DIRECTORIES:
        try:
            if not stat.S_ISDIR(host.lstat(directory).st_mode):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), directory)
            os.listdir(host.path(directory))
        except FileNotFoundError:
            continue
        except OSError as error:
            raise file_error(error, directory, "list it") from error
