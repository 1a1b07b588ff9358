# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The running lab nodes of the stages: their logs, and taking them down."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

TIMEOUT = 180.0

NO_RESPONSE = 3
"""Exit status of `journal` for a node that is up but does not respond."""


@dataclass(frozen=True)
class Lab:
    """The lab's command line, called in ``checkout`` with the environment of a stage, which has separate nodes."""

    checkout: Path
    environment: Mapping[str, str]

    def names(self) -> tuple[str, ...]:
        """Nodes of the stage that are still up."""
        result = self._call("list", "--json")
        return tuple(node["name"] for node in json.loads(result.stdout)) if result.returncode == 0 else ()

    def ports(self) -> dict[str, int]:
        """The ssh port of each node whose VM runs."""
        result = self._call("list", "--json")
        nodes = json.loads(result.stdout) if result.returncode == 0 else ()
        return {node["name"]: node["ssh"]["port"] for node in nodes if node["running"]}

    def journal(self, name: str) -> str:
        """The log of a node's services, or the reason why it cannot be read."""
        try:
            result = self._call("journal", name)
        except subprocess.TimeoutExpired as error:
            return f"{error}\n"
        return result.stdout + result.stderr

    def silence(self, name: str) -> str:
        """The state of a node that is up but does not respond; '' for every other node."""
        result = self._call("journal", name)
        return result.stderr + result.stdout if result.returncode == NO_RESPONSE else ""

    def end(self, name: str) -> None:
        """Take one node down."""
        self._call("down", name)

    def down(self) -> None:
        """Take all nodes and the control plane down."""
        self._call("down", "--all")
        self._call("cluster", "down")

    def _call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "tests/lab", *arguments],
            cwd=self.checkout,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
