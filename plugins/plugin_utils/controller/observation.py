# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Snapshots that a check-mode run leaves for the real one, privately, for the length of one ansible-playbook run."""

from __future__ import annotations

import json
import os
import re
import secrets
from pathlib import Path
from typing import Any

_FOLDER = "volcano-colocation"
_ID = re.compile(r"[0-9a-f]{16}")


def keep(local_tmp: str, snapshot: dict[str, Any]) -> str:
    """Keep a snapshot in Ansible's private temporary folder (0700, removed when Ansible ends); returns its id."""
    folder = Path(local_tmp) / _FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    identity = secrets.token_hex(8)
    handle = os.open(folder / identity, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape") as stream:
        json.dump(snapshot, stream)
    return identity


def take(local_tmp: str, identity: str | None) -> dict[str, Any] | None:
    """The snapshot of an id, once: it is removed. None when there is none, so that a new one is taken."""
    if not identity or not _ID.fullmatch(identity):
        return None
    path = Path(local_tmp) / _FOLDER / identity
    try:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        path.unlink()
    except FileNotFoundError:
        return None
    found: dict[str, Any] = json.loads(text)
    return found
