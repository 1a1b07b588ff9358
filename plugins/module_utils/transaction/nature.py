# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a file is beside its text: mode, owner, extended attributes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .section import Section, matching, wrong

MODE = re.compile(r"0[0-7]{3,4}\Z")
OWNER = re.compile(r"[0-9]{1,10}:[0-9]{1,10}\Z")
HEXADECIMAL = re.compile(r"([0-9a-f]{2})*\Z")


@dataclass(frozen=True)
class Nature:
    """All that a new text must not change. ``xattrs`` in hexadecimal: SELinux context, ACL, capabilities."""

    mode: int
    uid: int
    gid: int
    xattrs: dict[str, str]


def read_nature(section: Section | None) -> Nature | None:
    """The nature in a plan document; None where it says nothing."""
    if section is None:
        return None
    mode = matching(section.text("mode"), MODE, section.at("mode"), "an octal mode like 0644")
    xattrs = section.value("xattrs") or {}
    if not isinstance(xattrs, dict) or not all(_is_hexadecimal(value) for value in xattrs.values()):
        raise wrong(section.at("xattrs"), "an object of hexadecimal texts")
    uid, gid = matching(section.text("owner"), OWNER, section.at("owner"), "UID:GID").split(":")
    nature = Nature(int(mode, 8), int(uid), int(gid), xattrs)
    section.finish()
    return nature


def _is_hexadecimal(value: object) -> bool:
    return isinstance(value, str) and HEXADECIMAL.match(value) is not None
