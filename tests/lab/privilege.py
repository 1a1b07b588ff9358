# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that belong to root inside an image, made as root or in a user namespace of one's own."""

from __future__ import annotations

import os

from .requirements import NEWUIDMAP, UNSHARE, need


def mmdebstrap_mode() -> str:
    """``--mode`` of mmdebstrap; LabError names what a user other than root lacks."""
    if os.geteuid() == 0:
        return "root"
    need(NEWUIDMAP)
    return "unshare"


def as_root() -> list[str]:
    """What to put before a command that reads or writes files of any owner: the same range of users at each call."""
    if os.geteuid() == 0:
        return []
    need(NEWUIDMAP)
    return [need(UNSHARE), "--user", "--map-root-user", "--map-auto", "--"]
