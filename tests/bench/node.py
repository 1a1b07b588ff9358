# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmark's lab node, controlled with the lab's command line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..run.places import CHECKOUT

KIND = ("--suite", "trixie", "--cgroup", "v2", "--driver-kubelet", "systemd", "--driver-runtime", "cgroupfs")
"""Misaligned in every way that `provision` fixes: different drivers, NRI off, CPU manager `none`."""


class NodeError(Exception):
    """A lab command failed; its output says why."""


@dataclass(frozen=True)
class BenchNode:
    name: str
    environment: Mapping[str, str]

    def up(self) -> dict[str, Any]:
        """Boot the node and wait for its pods; returns the lab's facts about it."""
        facts: dict[str, Any] = json.loads(self._lab("up", self.name, *KIND, "--json"))
        return facts

    def inventory(self) -> Path:
        return Path(self._lab("inventory", self.name).strip())

    def warm(self) -> None:
        """Open the shared ssh connection unless it is open, so that no measured command has to."""
        self._lab("ssh", self.name, "--", "true")

    def run(self, command: str, stdin: bytes) -> str:
        """Standard output of a shell command on the node, which reads ``stdin``."""
        return self._lab("ssh", self.name, "--", command, stdin=stdin)

    def down(self) -> None:
        self._lab("down", self.name)

    def _lab(self, *arguments: str, stdin: bytes = b"") -> str:
        """Standard output of a lab command; its progress goes to this process's standard error."""
        done = subprocess.run(
            [sys.executable, "tests/lab", *arguments],
            cwd=CHECKOUT,
            env=self.environment,
            input=stdin,
            stdout=subprocess.PIPE,
            check=False,
        )
        if done.returncode != 0:
            raise NodeError(f"lab {' '.join(arguments[:2])} failed with exit status {done.returncode}")
        return done.stdout.decode()
