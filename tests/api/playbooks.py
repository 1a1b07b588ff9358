# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of ansible-playbook that share its import (playbook_server.py)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from ansible_collections.volcano.colocation.tests.system.node import Run, environment

PROGRAM = Path(__file__).with_name("playbook_server.py")


class Runner(Protocol):
    """Runs a playbook from ``folder`` with the installed collection, as ``tests.system.node.ansible`` does."""

    def __call__(self, playbook: str, folder: Path, *arguments: str, **variables: Any) -> Run: ...


@contextmanager
def playbook_server() -> Iterator[Runner]:
    """A runner whose runs are forks of one process."""
    with subprocess.Popen(
        [sys.executable, str(PROGRAM)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
    ) as process:
        assert process.stdin
        assert process.stdout
        requests, statuses = process.stdin, process.stdout

        def run(playbook: str, folder: Path, *arguments: str, **variables: Any) -> Run:
            log = folder / "playbook.log"
            words = ["-e", json.dumps(variables), *arguments, playbook]
            print(json.dumps({"arguments": words, "folder": str(folder), "log": str(log)}), file=requests, flush=True)
            status = statuses.readline()
            assert status, "the process that runs playbooks has ended"
            return Run(int(status), log.read_text())

        yield run
