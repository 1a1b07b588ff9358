# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes silent nodes down, so that everything that waits for one of them fails immediately."""

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
"""Seconds between two checks."""


class Watch:
    """Checks nodes while it is entered. ``silence`` returns the state of a node, recorded before it was taken down."""

    def __init__(self, lab: Lab, answers: Callable[[int], bool] = ssh.answers, pause: float = PAUSE) -> None:
        self._lab = lab
        self._answers = answers
        self._pause = pause
        self._known: dict[tuple[str, int], Silence] = {}
        self._states: dict[str, str] = {}
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
        """The state of a silent node, or its state before it was taken down; '' for every other node."""
        return self._states.pop(name, "") or self._lab.silence(name)

    def silent(self) -> dict[str, str]:
        """The states of all silent nodes, by name."""
        return {name: state for name in {*self._states, *self._lab.names()} if (state := self.silence(name))}

    def look(self) -> None:
        """Take nodes down that were silent for too long."""
        for name, port in self._lab.ports().items():
            known = self._known.setdefault((name, port), Silence(partial(self._answers, port)))
            try:
                known.look()
            except NodeSilent as error:
                self._states[name] = f"{error}\n{self._lab.silence(name)}"
                self._lab.end(name)

    def _work(self) -> None:
        while not self._stop.wait(self._pause):
            # On a machine that is too busy for an answer the next check asks again.
            with suppress(TimeoutExpired):
                self.look()
