# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Starting the engine as a transient unit, and waiting for the answer of a transaction."""

from __future__ import annotations

import sys
from typing import Any

from ..errors import ColocationError
from ..host import Host
from . import engine, install
from .clock import Clock
from .journal import Journal, unfinished
from .node import Node
from .plan import Plan
from .preflight import require_systemd
from .rollback import PATIENCE
from .services import ServiceError, show
from .store import RESULT, Store

POLL = 0.2
UNIT_POLL = 2.0
STOP_TIMEOUT = 900
GATES = 1 + PATIENCE
MARGIN = 1800.0
"""Seconds beside the time limits of the gates after which systemd ends an engine that hangs."""


class NotStarted(ColocationError):
    """The engine could not be started, or ended without an answer."""


def start(host: Host, plan: Plan, text: str, seconds: float) -> dict[str, Any]:
    """Begin a transaction, wait for it up to ``seconds``, return its answer.

    The same id again only waits: a controller that lost its connection may repeat itself.
    """
    store = Store(host)
    if store.exists(plan.id):
        return wait(host, plan.id, seconds)
    try:
        store.open(plan.id, text)
    except ColocationError as error:
        return engine.refusal(plan.id, "begin", error, None)
    if plan.files_only or not host.live:
        # It is over in milliseconds, and needs no systemd.
        return engine.execute(Node(host), store, plan.id, _silent)
    try:
        require_systemd(Node(host))
        _launch(host, plan.id, GATES * (plan.gate.timeout if plan.gate else 0.0) + MARGIN)
    except (ColocationError, OSError) as error:
        answer = engine.refusal(plan.id, "begin", error, None)
        store.finish(plan.id, answer)
        return answer
    return wait(host, plan.id, seconds)


def wait(host: Host, transaction: str, seconds: float) -> dict[str, Any]:
    """The answer of a transaction, or how far it is when it has not ended within ``seconds``.

    An engine that died is started again; what it left is undone then.
    """
    store, clock = Store(host), Clock()
    if not store.exists(transaction):
        raise NotStarted(f"there is no transaction {transaction} on this node", "Start one with a plan")
    deadline = clock.monotonic() + seconds
    next_look = clock.monotonic() + UNIT_POLL
    relaunched = False
    while True:
        answer = store.read(transaction, RESULT)
        if answer is not None:
            return dict(answer)
        if clock.monotonic() >= deadline:
            return progress(store, transaction)
        clock.sleep(POLL)
        if clock.monotonic() < next_look:
            continue
        next_look = clock.monotonic() + UNIT_POLL
        if not _alive(host, transaction) and store.read(transaction, RESULT) is None:
            if relaunched:
                raise NotStarted(
                    "the engine ends without an answer", f"See journalctl --unit {unit(transaction)} on the node"
                )
            _launch(host, transaction, MARGIN)
            relaunched = True


def recover(host: Host) -> dict[str, Any] | None:
    """Undo what was cut off, in this process; its id and end state, None when there was nothing."""
    return engine.recover(Node(host), Store(host), _silent)


def pending(host: Host) -> list[str]:
    """Ids of the transactions that were begun and neither committed nor undone, be they at work or cut off."""
    return [journal.id for journal in unfinished(Store(host))]


def progress(store: Store, transaction: str) -> dict[str, Any]:
    """The answer so far of a transaction that is at work."""
    journal = Journal.load(store, transaction)
    if journal is not None:
        return journal.result()
    return {
        "id": transaction,
        "state": "applying",
        "step": "check the node",
        "steps": [],
        "error": None,
        "gate": [],
        "recovered": None,
    }


def unit(transaction: str) -> str:
    """The transient unit of a transaction."""
    return f"volcano-colocation-{transaction}.service"


def _launch(host: Host, transaction: str, limit: float) -> None:
    path = install.install(host)
    if not unfinished(Store(host)):
        install.remove_others(host, path)
    # on-abnormal: an engine that was killed is started again at once and undoes what it had begun.
    properties = {
        "KillMode": "mixed",
        "Restart": "on-abnormal",
        "RestartSec": "1",
        "RuntimeMaxSec": f"{limit}",
        "TimeoutStopSec": f"{STOP_TIMEOUT}",
        "SyslogIdentifier": "volcano-colocation",
        "UMask": "0077",
    }
    argv = ["systemd-run", "--unit", unit(transaction), "--collect", "--no-block", "--quiet"]
    argv += ["--description", f"volcano.colocation transaction {transaction}"]
    argv += [f"--property={name}={value}" for name, value in properties.items()]
    argv += [sys.executable, "-I", "-B", path, "run", transaction]
    answer = host.run(argv, timeout=30.0)
    if answer.rc != 0:
        reason = " ".join(answer.stderr.split()) or f"exit status {answer.rc}"
        raise NotStarted(f"systemd-run does not start the engine: {reason}", "Check systemd on this node")


def _alive(host: Host, transaction: str) -> bool:
    try:
        return show(Node(host), unit(transaction)).runs
    except ServiceError:
        # systemd is busy or being updated: no proof that the engine is gone.
        return True


def _silent(_line: str) -> None:
    """The answer of an in-process transaction tells all."""
