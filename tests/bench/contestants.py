# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands that the benchmark compares."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

from .places import BENCH


class Contestant(Enum):
    """A command; each makes one connection to the same node with the same settings."""

    PING = "ping"
    PROVISION = "provision"
    STOCK = "stock"

    def argv(self, inventory: Path, node: str) -> tuple[str, ...]:
        if self is Contestant.PING:
            return ("ansible", "--inventory", str(inventory), node, "-m", "ansible.builtin.ping")
        start = ("ansible-playbook", "--inventory", str(inventory))
        if self is Contestant.PROVISION:
            return (*start, "volcano.colocation.provision", "--extra-vars", f"@{BENCH / 'profile.yml'}")
        return (*start, str(BENCH / "baseline" / "baseline.yml"))
