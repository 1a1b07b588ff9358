# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""containerd's effective configuration, and the differences after a change."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from ansible_collections.volcano.colocation.tests.system.node import Node

CONFIG = "/etc/containerd/config.toml"


def dump(node: Node) -> list[str]:
    """Lines of `containerd config dump`, without the list of the files."""
    lines = node.shell("containerd config dump").splitlines()
    return [line.strip() for line in lines if not line.startswith("imports = ")]


def differences(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Return the lines that differ: added (``+``) before deleted (``-``)."""
    return sorted(line for line in difflib.ndiff(before, after) if line[0] in "+-")


def serves_nri(node: Node) -> bool:
    """Whether NRI's socket is open."""
    return "nri.sock" in node.shell("cat /proc/net/unix")
