# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One row: a fault is made during a run, and the node's end is looked at."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as HasHung
from dataclasses import dataclass, field
from subprocess import CalledProcessError

from ..lab.silence import NodeSilent
from ..system.node import Run
from .commands import CLEAR
from .fault import Outside, Strike
from .judge import reached
from .node import FaultNode, Held, NotInjected
from .outcome import Outcome, Verdict
from .picture import Picture
from .rows import Row
from .table import PUT_BACK

RUN_LIMIT = 2400.0
"""Seconds after which a run that met a fault has hung: its node is taken down, which ends it."""

REFUSED = "another transaction is running on this node"
WARNINGS = {
    "was undone when it booted": "told of the undoing at boot",
    "was interrupted, now it is": "undid what was cut off",
}


@dataclass
class Injection:
    """What a row has come to so far."""

    row: Row
    node: FaultNode
    struck: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    before: Picture = field(init=False)
    run: Run = field(init=False)

    @property
    def went_on(self) -> bool:
        """Whether the run got as far as the transaction, and was not refused for the trouble that was there."""
        return bool(self.struck) or any(words in self.run.output for words in PUT_BACK)

    def outcome(self) -> Outcome:
        """Carry the row out, all but the next run; NotInjected when its fault could not be made."""
        began = time.monotonic()
        self.before = self._prepared()
        self.run = self._met()
        after = self._ended(self.before)
        end, different = reached(self.before, after, self.row.fault.ends)
        self.wrong += different
        self.wrong += unsaid(self.run, self.row.fault.says, "the run")
        self.node.shell(self.row.fault.clean)
        return Outcome(
            row=self.row.name,
            verdict=Verdict.LOST if self.wrong else Verdict.KEPT,
            end=end.value if end else "",
            run=told(self.run, self.node.node.name),
            struck=tuple(self.struck),
            pods=len(after.pods),
            wrong=tuple(self.wrong),
            seconds=round(time.monotonic() - began, 1),
        )

    def _prepared(self) -> Picture:
        try:
            self.node.shell(CLEAR)
            self.node.shell(self.row.fault.prepare)
            # What kubelet wrote a moment ago is not ours to keep through a power cut.
            self.node.shell("sync")
            return self.node.picture()
        except AssertionError as error:
            raise NotInjected(f"the fault could not be prepared: {error}") from error

    def _met(self) -> Run:
        """The run that met the fault."""
        with ThreadPoolExecutor(max_workers=1) as background:
            run = background.submit(self.node.provision, self.row.name, self.row.fault.timeout)
            try:
                for strike in self.row.fault.strikes:
                    self._strike(strike, run.done)
                return run.result(timeout=RUN_LIMIT)
            except (NotInjected, AssertionError, CalledProcessError, HasHung):
                self.end_run(run)
                raise

    def _strike(self, strike: Strike, is_over: Callable[[], bool]) -> None:
        held = self.node.hold(strike.moment, is_over)
        self.struck.append(f"{held.step} ({held.state})")
        self._on_node(held, strike.command)
        self._from_outside(strike.outside)
        self._on_node(held, strike.afterwards)

    def _on_node(self, held: Held, command: str) -> None:
        try:
            self.node.shell(command and f"pid={held.pid} id={held.id}; {command}")
        except AssertionError as error:
            raise NotInjected(f"the fault could not be made: {error}") from error

    def _from_outside(self, what: Outside) -> None:
        if what is Outside.RESET:
            self.node.reset()
        elif what is Outside.REBOOT:
            self.node.reboot()
        elif what is Outside.SECOND_RUN:
            second = self.node.provision(f"{self.row.name}-second")
            self.wrong += [] if second.code else ["the second run was not refused"]
            self.wrong += unsaid(second, (REFUSED,), "the second run")

    def _ended(self, before: Picture) -> Picture:
        fault = self.row.fault
        if fault.keeps:
            try:
                self.node.shell(fault.keeps)
            except AssertionError:
                self.wrong.append(f"lost: {fault.keeps}")
        self.node.shell(fault.mend)
        self._from_outside(fault.mend_outside)
        return self.node.settled_picture(before)

    def end_run(self, run: Future[Run]) -> None:
        """NodeSilent when that is what the run has ended with."""
        if run.done():
            error = run.exception()
            if isinstance(error, NodeSilent):
                raise error
        else:
            self.node.down()
            run.exception()


def warned(run: Run) -> str:
    """What a run said of an earlier transaction, behind a semicolon."""
    return "".join(f"; {short}" for words, short in WARNINGS.items() if words in run.output)


def told(run: Run, host: str) -> str:
    """How a run ended, in a word or two, and of what it warned."""
    try:
        recap = run.recap(host)
    except AssertionError:
        recap = {}
    word = next((word for word in ("unreachable", "failed") if recap.get(word)), "")
    word = word or ("failed" if run.code else "changed" if recap.get("changed") else "nothing to change")
    return word + warned(run)


def unsaid(run: Run, words: tuple[str, ...], who: str) -> Iterator[str]:
    return (f"{who} did not say: {each}" for each in words if each not in run.output)
