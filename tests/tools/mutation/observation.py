# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes records of test files in a sandbox."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from . import recording
from .records import Record, read
from .sandbox import Limit, Sandbox
from .trial import PACKAGE, PYTEST

RAN = (0, 1, 5)
"""Exit statuses of pytest: all passed, some failed, no tests."""

LIMIT = Limit(cpu=1800, wall=3600)


def observe(digest_of: Callable[[str], str], directory: Path, file: str, sandbox: Sandbox) -> Record | None:
    """The record of a test file, made again if files that it reads have changed; None if it cannot run."""
    stored = directory / "records" / f"{hashlib.sha256(file.encode()).hexdigest()[:16]}.json"
    record = read(file, stored)
    if record is not None and record.is_current(digest_of):
        return record
    stored.unlink(missing_ok=True)
    output = sandbox.copy / ".cache" / "record.json"
    output.unlink(missing_ok=True)
    log = sandbox.copy / ".cache" / "pytest.log"
    arguments = [*PYTEST, f"{PACKAGE}.recording", file]
    status = sandbox.run(arguments, LIMIT, log, {recording.VARIABLE: str(output)})
    if status not in RAN or not output.is_file():
        return None
    stored.parent.mkdir(parents=True, exist_ok=True)
    output.replace(stored)
    return read(file, stored)


def digest(checkout: Path, name: str) -> str:
    """The digest of a file of the checkout; '' if it does not exist."""
    path = checkout / name
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else ""
