# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files on the controller: snapshots of one run and recorded ones, read with suspicion, and reports."""

from __future__ import annotations

import json
import os
import re
import secrets
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...module_utils.safe_text import printable_result
from ...module_utils.snapshot.packing import SIZE_LIMIT
from ..assessment.profile_comparison import assess
from ..facts.interpreter import SnapshotError
from ..report.redact import redact_snapshot
from .evidence_schema import checked_snapshot, snapshot_errors

_DIRECTORY = "volcano-colocation"
_ID = re.compile(r"[0-9a-f]{16}")


def keep_snapshot(local_tmp: str, snapshot: dict[str, Any]) -> str:
    """Keep a snapshot in Ansible's private temporary directory (0700, removed when Ansible ends); returns its id."""
    directory = Path(local_tmp) / _DIRECTORY
    directory.mkdir(mode=0o700, exist_ok=True)
    identity = secrets.token_hex(8)
    handle = os.open(directory / identity, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape") as stream:
        json.dump(snapshot, stream)
    return identity


def take_snapshot(local_tmp: str, identity: str | None) -> dict[str, Any] | None:
    """The snapshot of an id, once: it is removed. None when there is none, so that a new one is taken."""
    if not identity or not _ID.fullmatch(identity):
        return None
    path = Path(local_tmp) / _DIRECTORY / identity
    try:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        path.unlink()
    except FileNotFoundError:
        return None
    found: dict[str, Any] = json.loads(text)
    return found


SUFFIX = ".snapshot.json"


def file_name(node: str) -> str:
    """The name of a node as part of a file's name."""
    return node.replace("/", "_").replace("\0", "_")


def replace_file(path: Path, text: str) -> None:
    """Write a file with mode 0600 in one step. The temporary name is random and created exclusively.

    A link that a user planted under either name is replaced, never followed.
    """
    handle, partial = tempfile.mkstemp(prefix=".", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.replace(partial, path)
    except BaseException:
        os.unlink(partial)
        raise


def write_report(directory: Path, node: str, facts: Mapping[str, Any]) -> Path:
    """Write a node's report. It holds no secrets, but it names hosts, pods and files."""
    return _write(directory, f"{file_name(node)}.json", json.dumps(printable_result(facts), indent=2, sort_keys=True))


def save_snapshot(directory: Path, node: str, snapshot: Mapping[str, Any]) -> Path:
    """Keep a node's evidence, redacted."""
    document = {**redact_snapshot(snapshot), "redacted": True}
    # Not sorted: some facts name the first of several containers, and a replay has to name the same.
    return _write(directory, file_name(node) + SUFFIX, json.dumps(document, indent=1))


def _write(directory: Path, name: str, text: str) -> Path:
    """Replace a file about a node; a directory that is created for it is its owner's alone."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = directory / name
    replace_file(path, text + "\n")
    return path


def read_snapshot(path: str) -> dict[str, Any]:
    """The document in a file, whose shape has been checked; SnapshotError names the file and the place."""
    try:
        found = json.loads(_content(path))
    except OSError as error:
        raise SnapshotError(f"{path}: {error.strerror}") from error
    except RecursionError as error:
        raise SnapshotError(f"{path}: not a snapshot document: nested too deeply") from error
    except ValueError as error:
        raise SnapshotError(f"{path}: not a JSON document: {error}") from error
    return checked_snapshot(found, path)


def _content(path: str) -> str:
    # O_NONBLOCK: a FIFO among the files must not hang us.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as stream:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise SnapshotError(f"{path}: not a regular file")
        if status.st_size > SIZE_LIMIT:
            raise SnapshotError(
                f"{path}: {status.st_size} bytes are more than a snapshot has, the limit is {SIZE_LIMIT}."
                " Record the node again, or take the file out of the folder"
            )
        return stream.read(SIZE_LIMIT).decode("utf-8", "surrogateescape")


def assess_recorded(path: str, snapshot: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The facts document of what ``path``, a file or a node, gave. Whatever is wrong with it is a SnapshotError."""
    with snapshot_errors(path, "snapshot"):
        return assess(snapshot, arguments)


def recorded_snapshots(place: Path) -> Iterator[tuple[str, str]]:
    """(node, path) of each snapshot in a directory, by name; a file is a directory of one. SnapshotError if there is none."""
    try:
        names = sorted(each.name for each in os.scandir(place) if each.name.endswith(".json") and each.name[0] != ".")
        paths = [place / name for name in names]
    except NotADirectoryError:
        paths = [place]
    except OSError as error:
        raise SnapshotError(f"{place}: {error.strerror}") from error
    if not paths:
        raise SnapshotError(f"{place}: no snapshot in it (no file whose name ends with .json)")
    for path in paths:
        yield path.name.removesuffix(".json").removesuffix(".snapshot"), str(path)
