# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab nodes that the stages have up: what they logged, and their end."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

TIMEOUT = 180.0

NO_ANSWER = 3
"""Exit status of `journal` for a node that is up and does not answer."""


@dataclass(frozen=True)
class Lab:
    """The lab's command line, called in ``checkout`` with the environment of the stages, whose nodes are kept apart."""

    checkout: Path
    environment: Mapping[str, str]

    def names(self) -> tuple[str, ...]:
        """Nodes that the stages have left up."""
        answer = self._call("list", "--json")
        return tuple(node["name"] for node in json.loads(answer.stdout)) if answer.returncode == 0 else ()

    def ports(self) -> dict[str, int]:
        """Where ssh of the nodes whose VM runs has to answer."""
        answer = self._call("list", "--json")
        nodes = json.loads(answer.stdout) if answer.returncode == 0 else ()
        return {node["name"]: node["ssh"]["port"] for node in nodes if node["running"]}

    def journal(self, name: str) -> str:
        """What a node's services logged, or why that cannot be told."""
        try:
            answer = self._call("journal", name)
        except subprocess.TimeoutExpired as error:
            return f"{error}\n"
        return answer.stdout + answer.stderr

    def silence(self, name: str) -> str:
        """What a node is at that is up and does not answer; '' for every other node."""
        answer = self._call("journal", name)
        return answer.stderr + answer.stdout if answer.returncode == NO_ANSWER else ""

    def end(self, name: str) -> None:
        """Take one node down."""
        self._call("down", name)

    def down(self) -> None:
        """Nodes and control plane."""
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
