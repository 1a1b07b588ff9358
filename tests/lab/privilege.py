# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Making files owned by root inside an image, as root or in a user namespace."""

from __future__ import annotations

import functools
import os

from . import command
from .errors import LabError, UnavailableError
from .requirements import NEWUIDMAP, UNSHARE, need


def mmdebstrap_mode() -> str:
    """``--mode`` of mmdebstrap; UnavailableError when this user is not root and cannot create a user namespace."""
    if os.geteuid() == 0:
        return "root"
    _user_namespace()
    return "unshare"


def as_root() -> list[str]:
    """Command prefix to read or write files of any owner, with the same range of user ids at each call."""
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
