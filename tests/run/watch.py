# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes nodes down that went silent: whatever waits for one of them fails at once then, in place of one by one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from subprocess import TimeoutExpired
from types import TracebackType

from ..lab import ssh
from ..lab.silence import NodeSilent, Silence
from .nodes import Lab

PAUSE = 30.0
"""Seconds between two looks."""


class Watch:
    """Looks while it is entered. What a node was at is asked before it is taken down, and told by ``silence``."""

    def __init__(self, lab: Lab, answers: Callable[[int], bool] = ssh.answers, pause: float = PAUSE) -> None:
        self._lab = lab
        self._answers = answers
        self._pause = pause
        self._known: dict[tuple[str, int], Silence] = {}
        self._said: dict[str, str] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def silence(self, name: str) -> str:
        """What a node is at that is up and does not answer, or was when it was taken down; '' for every other node."""
        return self._said.pop(name, "") or self._lab.silence(name)

    def silent(self) -> dict[str, str]:
        """The same of all nodes of which that is so."""
        return {name: said for name in {*self._said, *self._lab.names()} if (said := self.silence(name))}

    def look(self) -> None:
        """Take down what has been silent for too long."""
        for name, port in self._lab.ports().items():
            known = self._known.setdefault((name, port), Silence(partial(self._answers, port)))
            try:
                known.look()
            except NodeSilent as error:
                self._said[name] = f"{error}\n{self._lab.silence(name)}"
                self._lab.end(name)

    def _work(self) -> None:
        while not self._stop.wait(self._pause):
            # A machine that is too busy to tell is asked again.
            with suppress(TimeoutExpired):
                self.look()
