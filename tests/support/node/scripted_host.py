# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node whose files are real ones below a folder and whose programs answer what a test says."""

from __future__ import annotations

from pathlib import Path
from typing import Callable, Sequence

from ansible_collections.volcano.colocation.plugins.module_utils.host import CommandResult, Host

Answer = Callable[[Sequence[str]], str]


class Refusal(Exception):
    """What a program says on standard error before it fails."""


class AnsweringHost(Host):
    """``live``, so that programs are asked; ``commands`` lists what was run."""

    def __init__(self, root: Path, answer: Answer = lambda argv: "") -> None:
        super().__init__(str(root))
        self.answer = answer
        self.commands: list[tuple[str, ...]] = []

    @property
    def live(self) -> bool:
        return True

    def path(self, path: str) -> str:
        return str(Path(self.root, path.lstrip("/")))

    def run(self, argv: Sequence[str], timeout: float = 30.0) -> CommandResult:
        self.commands.append(tuple(argv))
        try:
            return CommandResult(tuple(argv), 0, self.answer(argv), "", 0.0)
        except Refusal as refusal:
            return CommandResult(tuple(argv), 1, "", str(refusal), 0.0)
