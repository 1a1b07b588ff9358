# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node with real files below a directory, and with programs whose output a test defines."""

from __future__ import annotations

from pathlib import Path
from typing import Callable, Sequence

from ansible_collections.volcano.colocation.plugins.module_utils.host import CommandResult, Host

Respond = Callable[[Sequence[str]], str]


class Refusal(Exception):
    """The standard error of a program that fails."""


class AnsweringHost(Host):
    """``live``, so that programs are run; ``commands`` lists them."""

    def __init__(self, root: Path, respond: Respond = lambda argv: "") -> None:
        super().__init__(str(root))
        self.respond = respond
        self.commands: list[tuple[str, ...]] = []

    @property
    def live(self) -> bool:
        return True

    def path(self, path: str) -> str:
        return str(Path(self.root, path.lstrip("/")))

    def run(self, argv: Sequence[str], timeout: float = 30.0) -> CommandResult:
        self.commands.append(tuple(argv))
        try:
            return CommandResult(tuple(argv), 0, self.respond(argv), "", 0.0)
        except Refusal as refusal:
            return CommandResult(tuple(argv), 1, "", str(refusal), 0.0)
