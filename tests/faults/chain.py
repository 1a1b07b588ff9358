# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs rows on one node: the run that meets the fault of a row is also the next run of the previous row.

A node that ended as before is reused for the next fault; an aligned or lost node is deleted.
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
from .injection import Injection, describe_run, unsaid, warned
from .judge import not_aligned
from .node import FaultNode, NotInjected
from .outcome import Outcome, Verdict
from .places import LOGS
from .rows import NODES, Row

JOURNALS = f"{STATE}/transactions/*/journal.json"
FAILURES = (AssertionError, CalledProcessError, HasHung)
"""The node does not respond or does not come back, or a run hung."""


@dataclass
class Chain:
    """The node of one cgroup version; ``keep`` receives every outcome after its next run."""

    cgroup: str
    directory: Path
    keep: Callable[[Outcome], None]
    node: FaultNode | None = None
    waiting: list[tuple[Injection, Outcome]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return node_name(self.cgroup)

    def inject(self, row: Row) -> None:
        """Inject the fault of a row; its outcome is stored immediately, or after the next run."""
        try:
            if self.node is None:
                self.node = FaultNode.boot(self.name, NODES[row.cgroup], self.directory)
            injection = Injection(row, self.node)
            outcome = injection.outcome()
        except NotInjected as reason:
            self._throw_away(Outcome(row.name, Verdict.NOT_INJECTED, wrong=(str(reason),)))
        except NodeSilent as reason:
            keep_evidence(self.name, row.name)
            self._throw_away(Outcome(row.name, Verdict.NOT_INJECTED, wrong=(str(reason),)))
        except FAILURES as error:
            self._throw_away(Outcome(row.name, Verdict.FAILED, wrong=(str(error) or type(error).__name__,)))
        except (OSError, TypeError, ValueError) as error:
            self._throw_away(Outcome(row.name, Verdict.NOT_INJECTED, wrong=(f"the suite failed: {error!r}",)))
        else:
            self._go_on(injection, outcome)

    def _go_on(self, injection: Injection, outcome: Outcome) -> None:
        if self.waiting and injection.went_on:
            self._keep_all(f"went on, and met the next fault{warned(injection.run)}", [], injection.run)
        if outcome.verdict is Verdict.FAILED:
            self._throw_away(outcome)
            return
        self.waiting.append((injection, outcome))
        if outcome.end == End.COMMITTED.value:
            self.close()

    def close(self) -> None:
        """Run once more without a fault, after which the node must be aligned; then delete the node.

        Rows whose node stops responding in that run are repeated, too.
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
        """Store the waiting outcomes; only the previous row's end is reported by this run."""
        for index, (injection, outcome) in enumerate(self.waiting, 1 - len(self.waiting)):
            missing = list(unsaid(run, injection.row.fault.next_says, "the next run")) if run and index == 0 else []
            problems = (*outcome.wrong, *wrong, *missing)
            verdict = Verdict.FAILED if problems else outcome.verdict
            self.keep(replace(outcome, following=following, wrong=problems, verdict=verdict))
        self.waiting = []

    def _throw_away(self, outcome: Outcome) -> None:
        """Store the outcome and delete the node; rows that wait for their next run are repeated."""
        if outcome.verdict is Verdict.FAILED:
            keep_evidence(self.name, outcome.row)
        self.keep(outcome)
        self.waiting, self.node = [], None
        take_down(self.name)


def _aligned(node: FaultNode, last: Injection, end: End) -> tuple[str, list[str], Run]:
    """Run without a fault; return a description of its end, the problems and the run."""
    run = node.provision(f"{last.row.name}-next")
    wrong = []
    if run.code:
        wrong.append("the next run failed")
    elif end is End.COMMITTED and run.recap(node.node.name)["changed"]:
        wrong.append("the next run changed a node that was aligned")
    if not run.code:
        wrong += [f"after the next run: {problem}" for problem in not_aligned(last.before, node.picture())]
    return describe_run(run, node.node.name), wrong, run


def keep_evidence(name: str, row: str) -> None:
    """Save the node's log and the journals of its transactions beside Ansible's output.

    If the node does not respond, the lab ends with an error and prints the output of QEMU and the kernel.
    """
    LOGS.mkdir(parents=True, exist_ok=True)
    for what, command in (("node", ("journal", name)), ("journals", ("ssh", name, "--", f"cat {JOURNALS}"))):
        try:
            output = lab(*command)
        except CalledProcessError as error:
            output = str(error.stdout)
        (LOGS / f"{row}-{what}.log").write_text(output, encoding="utf-8")


def node_name(cgroup: str) -> str:
    return f"faults-{cgroup}"


def take_down(name: str) -> None:
    """Delete the node; an error here must not hide an earlier one."""
    with suppress(CalledProcessError):
        lab("down", name)
