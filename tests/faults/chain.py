# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows on one node, one after the other: the run that meets a row's fault is the next run of the row before.

A node that has ended as before can meet the next fault; one that was aligned or lost is thrown away.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import TimeoutError as HasHung
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from subprocess import CalledProcessError

from ..lab.silence import NodeSilent
from ..system.node import Run, lab
from .commands import STATE
from .fault import End
from .injection import Injection, told, unsaid, warned
from .judge import not_aligned
from .node import FaultNode, NotInjected
from .outcome import Outcome, Verdict
from .places import LOGS
from .rows import NODES, Row

JOURNALS = f"{STATE}/transactions/*/journal.json"
FAILURES = (AssertionError, CalledProcessError, HasHung)
"""The node does not answer or come back, or a run hung."""


@dataclass
class Chain:
    """The node of one cgroup version; ``keep`` is told every outcome as soon as its next run was seen."""

    cgroup: str
    folder: Path
    keep: Callable[[Outcome], None]
    node: FaultNode | None = None
    waiting: list[tuple[Injection, Outcome]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return node_name(self.cgroup)

    def carry_out(self, row: Row) -> None:
        """Inject a row's fault; what comes of it is kept at once, or when the run after it was seen."""
        try:
            if self.node is None:
                self.node = FaultNode.boot(self.name, NODES[row.cgroup], self.folder)
            injection = Injection(row, self.node)
            outcome = injection.outcome()
        except NotInjected as reason:
            self._throw_away(Outcome(row.name, Verdict.NOT_INJECTED, wrong=(str(reason),)))
        except NodeSilent as reason:
            keep_evidence(self.name, row.name)
            self._throw_away(Outcome(row.name, Verdict.NOT_INJECTED, wrong=(str(reason),)))
        except FAILURES as error:
            self._throw_away(Outcome(row.name, Verdict.LOST, wrong=(str(error) or type(error).__name__,)))
        except (OSError, TypeError, ValueError) as error:
            self._throw_away(Outcome(row.name, Verdict.NOT_INJECTED, wrong=(f"the suite failed: {error!r}",)))
        else:
            self._go_on(injection, outcome)

    def _go_on(self, injection: Injection, outcome: Outcome) -> None:
        if self.waiting and injection.went_on:
            self._keep_all(f"went on, and met the next fault{warned(injection.run)}", [], injection.run)
        if outcome.verdict is Verdict.LOST:
            self._throw_away(outcome)
            return
        self.waiting.append((injection, outcome))
        if outcome.end == End.COMMITTED.value:
            self.close()

    def close(self) -> None:
        """One more run, which meets nothing and has to leave the node aligned; then the node is thrown away.

        Rows whose node goes silent in it are tried again, too.
        """
        if self.node is not None and self.waiting:
            last, outcome = self.waiting[-1]
            try:
                self._keep_all(*_aligned(self.node, last, End(outcome.end)))
            except NodeSilent:
                keep_evidence(self.name, last.row.name)
            except FAILURES as error:
                self._keep_all("", [f"the next run: {str(error) or type(error).__name__}"])
        self.waiting, self.node = [], None
        take_down(self.name)

    def _keep_all(self, following: str, wrong: list[str], run: Run | None = None) -> None:
        """Only the row just before had its end told by this run."""
        for index, (injection, outcome) in enumerate(self.waiting, 1 - len(self.waiting)):
            missing = list(unsaid(run, injection.row.fault.next_says, "the next run")) if run and index == 0 else []
            found = (*outcome.wrong, *wrong, *missing)
            verdict = Verdict.LOST if found else outcome.verdict
            self.keep(replace(outcome, following=following, wrong=found, verdict=verdict))
        self.waiting = []

    def _throw_away(self, outcome: Outcome) -> None:
        """Rows that still wait for their next run have none, and are tried again."""
        if outcome.verdict is Verdict.LOST:
            keep_evidence(self.name, outcome.row)
        self.keep(outcome)
        self.waiting, self.node = [], None
        take_down(self.name)


def _aligned(node: FaultNode, last: Injection, end: End) -> tuple[str, list[str], Run]:
    """How a run that meets nothing ended, in words, and what is wrong then."""
    run = node.provision(f"{last.row.name}-next")
    wrong = []
    if run.code:
        wrong.append("the next run failed")
    elif end is End.COMMITTED and run.recap(node.node.name)["changed"]:
        wrong.append("the next run changed a node that was aligned")
    if not run.code:
        wrong += [f"after the next run: {each}" for each in not_aligned(last.before, node.picture())]
    return told(run, node.node.name), wrong, run


def keep_evidence(name: str, row: str) -> None:
    """What the node logged, and the journals of its transactions, beside what Ansible said.

    Of a node that does not answer it is what QEMU and the kernel say: the lab ends with an error then.
    """
    LOGS.mkdir(parents=True, exist_ok=True)
    for what, command in (("node", ("journal", name)), ("journals", ("ssh", name, "--", f"cat {JOURNALS}"))):
        try:
            said = lab(*command)
        except CalledProcessError as error:
            said = str(error.stdout)
        (LOGS / f"{row}-{what}.log").write_text(said, encoding="utf-8")


def node_name(cgroup: str) -> str:
    return f"faults-{cgroup}"


def take_down(name: str) -> None:
    """What went wrong before is worth more than that this fails, too."""
    with suppress(CalledProcessError):
        lab("down", name)
