# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files on the controller: snapshots of the current run, recorded snapshots (untrusted), and reports."""

from __future__ import annotations

import json
import os
import re
import secrets
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...module_utils.safe_text import printable_result
from ...module_utils.snapshot.packing import SIZE_LIMIT
from ..assessment.profile_comparison import assess
from ..edit.syntax_messages import explain
from ..facts.interpreter import SnapshotError
from ..profile.validators import ProfileError
from ..report.redact import redact_snapshot
from .evidence_schema import checked_snapshot, snapshot_errors
from .output_files import provide_directory, provide_report_directory, replace_file

_DIRECTORY = "volcano-colocation"
_ID = re.compile(r"[0-9a-f]{16}")


def keep_snapshot(local_tmp: str, snapshot: dict[str, Any]) -> str:
    """Keep a snapshot in Ansible's private temporary directory (0700, removed when Ansible ends); returns its ID."""
    directory = Path(local_tmp) / _DIRECTORY
    directory.mkdir(mode=0o700, exist_ok=True)
    identity = secrets.token_hex(8)
    handle = os.open(directory / identity, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape") as stream:
        json.dump(snapshot, stream)
    return identity


def take_snapshot(local_tmp: str, identity: str | None) -> dict[str, Any] | None:
    """Load and delete the snapshot with an ID. None if there is none; the caller then takes a new one."""
    if not identity or not _ID.fullmatch(identity):
        return None
    path = Path(local_tmp) / _DIRECTORY / identity
    try:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        path.unlink()
    except FileNotFoundError:
        return None
    snapshot: dict[str, Any] = json.loads(text)
    return snapshot


SUFFIX = ".snapshot.json"
RECORD_AGAIN = "Record the node again, or move the file out of the directory"


def file_name(node: str) -> str:
    """A node's name as part of a file name."""
    return node.replace("/", "_").replace("\0", "_")


SET_SNAPSHOTS = "Set it to a directory of recorded snapshots on the controller, or to one file"


def write_report(directory: Path, node: str, facts: Mapping[str, Any]) -> Path:
    """Write a node's report. It has no secrets, but it names hosts, pods and files."""
    provide_report_directory(directory)
    return _write(directory, f"{file_name(node)}.json", json.dumps(printable_result(facts), indent=2, sort_keys=True))


def save_snapshot(directory: Path, node: str, snapshot: Mapping[str, Any]) -> Path:
    """Save a node's redacted snapshot."""
    document = {**redact_snapshot(snapshot), "redacted": True}
    # Not sorted: some facts name the first of several containers, and a replay must name the same one.
    return _write(directory, file_name(node) + SUFFIX, json.dumps(document, indent=1))


def _write(directory: Path, name: str, text: str) -> Path:
    """Replace a file about a node; a new directory is created with mode 0700."""
    provide_directory(directory)
    path = directory / name
    replace_file(path, text + "\n")
    return path


def read_snapshot(path: str) -> dict[str, Any]:
    """The validated document in a file; SnapshotError names the file and the place."""
    try:
        document = json.loads(_content(path))
    except OSError as error:
        raise SnapshotError(f"{path}: {error.strerror}") from error
    except RecursionError as error:
        raise SnapshotError(f"{path}: not a snapshot document: nested too deeply") from error
    except SnapshotError:
        raise
    except ValueError as error:
        reason = explain("JSON", getattr(error, "msg", "")).problem
        raise SnapshotError(
            f"{path}: not a JSON document, line {getattr(error, 'lineno', 1)}: {reason}. {RECORD_AGAIN}"
        ) from error
    return checked_snapshot(document, path)


def _content(path: str) -> str:
    # O_NONBLOCK: a FIFO among the files must not block.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as stream:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise SnapshotError(f"{path}: not a regular file")
        if status.st_size > SIZE_LIMIT:
            size = f"{status.st_size} bytes are more than a snapshot has, the limit is {SIZE_LIMIT}"
            raise SnapshotError(f"{path}: {size}. {RECORD_AGAIN}")
        return stream.read(SIZE_LIMIT).decode("utf-8", "surrogateescape")


def assess_recorded(path: str, snapshot: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The facts document for the snapshot of ``path``, a file or a node; SnapshotError for all its errors."""
    with snapshot_errors(path, "snapshot"):
        return assess(snapshot, arguments)


def recorded_snapshots(place: Path, option: str = "snapshots") -> Iterator[tuple[str, str]]:
    """(node, path) of each snapshot in a directory, sorted by name, or of one file; ProfileError without snapshots."""
    try:
        names = sorted(
            entry.name for entry in os.scandir(place) if entry.name.endswith(".json") and entry.name[0] != "."
        )
        paths = [place / name for name in names]
    except NotADirectoryError:
        paths = [place]
    except OSError as error:
        raise ProfileError(option, f"{place} cannot be read: {error.strerror}. {SET_SNAPSHOTS}") from error
    if not paths:
        raise ProfileError(option, f"{place} has no snapshot, no file whose name ends with .json. {SET_SNAPSHOTS}")
    for path in paths:
        yield path.name.removesuffix(".json").removesuffix(".snapshot"), str(path)
