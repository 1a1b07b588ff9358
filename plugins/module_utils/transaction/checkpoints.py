# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's checkpoints: moved aside while it is stopped, put back by a roll-back."""

from __future__ import annotations

from ..host import Host
from . import files
from .journal import Journal


def set_aside(host: Host, journal: Journal, backups: str) -> str:
    """Copy each checkpoint to the backups unless that was done, note that, then remove it; says what was there."""
    paths = journal.plan.checkpoints
    saved = journal.checkpoints
    if not saved:
        saved = [files.save(host, path, 0o600, backups, f"checkpoint-{index}") for index, path in enumerate(paths)]
        journal.keep_checkpoints(saved)
    for path in paths:
        files.remove(host, path)
    there = [entry.path for entry in saved if entry.backup is not None]
    return f"moved aside: {', '.join(there)}" if there else "there was none"


def put_back(host: Host, journal: Journal, backups: str) -> str:
    """Make each checkpoint what it was, dropping one that a kubelet made in between."""
    for saved in journal.checkpoints:
        files.restore(host, saved, backups)
    return f"{len(journal.checkpoints)} put back"
