# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Version texts of Kubernetes, containerd, systemd and the like."""

from __future__ import annotations

import re

Version = tuple[int, int]
"""Major and minor."""


def minor(text: str | None) -> Version | None:
    """(major, minor) of a version text such as v1.34.2, 2.1.0-rc.1 or 1.6.20~ds1; None if it has no version."""
    match = re.search(r"(?<![\d.])(\d+)\.(\d+)", text or "")
    return (int(match[1]), int(match[2])) if match else None


def format_version(version: Version) -> str:
    """The usual form of a version: 1.34."""
    return ".".join(map(str, version))
