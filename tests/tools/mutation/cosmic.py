# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""cosmic-ray in its own virtual environment."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...run import venvs
from .sample import Mutation

PROGRAM = Path(__file__).with_name("operators.py")


class CosmicError(Exception):
    """The process has ended."""


class Cosmic:
    """One process of operators.py."""

    def __init__(self, python: Path) -> None:
        self._process = subprocess.Popen(
            [python, PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def mutations(self, path: str, source: str) -> list[Mutation]:
        """All possible mutations of the text of this file."""
        return [Mutation(path, *mutation) for mutation in self._ask(source=source)["mutations"]]

    def apply(self, mutation: Mutation, source: str) -> str | None:
        """The text with the change; None if nothing changes."""
        response = self._ask(source=source, operator=mutation.operator, occurrence=mutation.occurrence)
        mutated: str | None = response["mutated"]
        return mutated

    def _ask(self, **request: str | int) -> dict[str, Any]:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{json.dumps(request)}\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise CosmicError(f"{PROGRAM.name} ended unexpectedly; see its standard error for the reason")
        response: dict[str, Any] = json.loads(line)
        return response

    def close(self) -> None:
        self._process.communicate()


def provide() -> Path:
    """The Python of the virtual environment, which is created if it does not exist."""
    return venvs.provide(venvs.Recipe("mutation", Path(sys.executable)))


@contextlib.contextmanager
def start(python: Path) -> Iterator[Cosmic]:
    cosmic = Cosmic(python)
    try:
        yield cosmic
    finally:
        cosmic.close()
