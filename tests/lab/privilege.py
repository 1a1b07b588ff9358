# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that belong to root inside an image, made as root or in a user namespace of one's own."""

from __future__ import annotations

import functools
import os

from . import command
from .errors import LabError, UnavailableError
from .requirements import NEWUIDMAP, UNSHARE, need


def mmdebstrap_mode() -> str:
    """``--mode`` of mmdebstrap; UnavailableError names what a user other than root lacks."""
    if os.geteuid() == 0:
        return "root"
    _user_namespace()
    return "unshare"


def as_root() -> list[str]:
    """What to put before a command that reads or writes files of any owner: the same range of users at each call."""
    return [] if os.geteuid() == 0 else list(_user_namespace())


@functools.cache
def _user_namespace() -> tuple[str, ...]:
    need(NEWUIDMAP)
    argv = (need(UNSHARE), "--user", "--map-root-user", "--map-auto", "--")
    try:
        command.output([*argv, "true"])
    except LabError as error:
        raise UnavailableError(
            f"neither root nor a user namespace ({error}): run as root, or allow user namespaces and give this user "
            "subordinate ids in /etc/subuid and /etc/subgid"
        ) from error
    return argv
