# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Injects one row: causes its fault during a run, and checks the end of the node."""

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
from .node import FaultNode, NotInjected, StoppedEngine
from .outcome import Outcome, Verdict
from .picture import Picture
from .rows import Row
from .table import ROLLED_BACK

RUN_LIMIT = 2400.0
"""Seconds after which a run counts as hung; deleting its node ends it."""

REFUSED = "another transaction is running on this node"
WARNINGS = {
    "was undone when it booted": "reported the roll-back at boot",
    "was interrupted, now it is": "rolled back an interrupted transaction",
}


@dataclass
class Injection:
    """The progress of a row."""

    row: Row
    node: FaultNode
    struck: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    before: Picture = field(init=False)
    run: Run = field(init=False)

    @property
    def went_on(self) -> bool:
        """Whether the run reached the transaction, and was not refused because of the fault."""
        return bool(self.struck) or any(words in self.run.output for words in ROLLED_BACK)

    def outcome(self) -> Outcome:
        """Inject the row, without its next run; NotInjected if the fault could not be caused."""
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
            verdict=Verdict.FAILED if self.wrong else Verdict.PASSED,
            end=end.value if end else "",
            run=describe_run(self.run, self.node.node.name),
            struck=tuple(self.struck),
            pods=len(after.pods),
            wrong=tuple(self.wrong),
            seconds=round(time.monotonic() - began, 1),
        )

    def _prepared(self) -> Picture:
        try:
            self.node.shell(CLEAR)
            self.node.shell(self.row.fault.prepare)
            # What kubelet wrote just before must survive a power cut, too.
            self.node.shell("sync")
            return self.node.picture()
        except AssertionError as error:
            raise NotInjected(f"the fault could not be prepared: {error}") from error

    def _met(self) -> Run:
        """Run provision with the fault."""
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
        engine = self.node.hold(strike.moment, is_over)
        self.struck.append(f"{engine.step} ({engine.state})")
        self._on_node(engine, strike.command)
        self._from_outside(strike.outside)
        self._on_node(engine, strike.afterwards)

    def _on_node(self, engine: StoppedEngine, command: str) -> None:
        try:
            self.node.shell(command and f"pid={engine.pid} id={engine.id}; {command}")
        except AssertionError as error:
            raise NotInjected(f"the fault could not be caused: {error}") from error

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
        self.node.shell(fault.repair)
        self._from_outside(fault.repair_outside)
        return self.node.stable_picture(before)

    def end_run(self, run: Future[Run]) -> None:
        """End the run; raise NodeSilent if it ended with that error."""
        if run.done():
            error = run.exception()
            if isinstance(error, NodeSilent):
                raise error
        else:
            self.node.down()
            run.exception()


def warned(run: Run) -> str:
    """Return what a run reported about an earlier transaction, after a semicolon."""
    return "".join(f"; {short}" for words, short in WARNINGS.items() if words in run.output)


def describe_run(run: Run, host: str) -> str:
    """Describe in a few words how a run ended, and its warnings."""
    try:
        recap = run.recap(host)
    except AssertionError:
        recap = {}
    word = next((word for word in ("unreachable", "failed") if recap.get(word)), "")
    word = word or ("failed" if run.code else "changed" if recap.get("changed") else "nothing to change")
    return word + warned(run)


def unsaid(run: Run, words: tuple[str, ...], who: str) -> Iterator[str]:
    return (f"{who} did not say: {expected}" for expected in words if expected not in run.output)
