# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts the engine as a transient unit, and waits for the result of a transaction."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

from ..cri.node_access import Node
from ..errors import ColocationError
from ..host import Clock, Host
from ..state import installed_engine
from ..state.journal import Journal, unfinished_journals
from ..state.node_lock import LockHeld, hold, require_node_lock
from ..state.plan_document import ID, Plan, parse_plan
from ..state.store import LAUNCHES, RESULT, Store
from ..systemd.service_units import ServiceError, show
from . import preflight, recovery, runner
from .context import STOP_TIMEOUT, life_time, refusal_result, run_time
from .preflight import Refused, require_systemd
from .recovery import RecoveryMode

POLL = 0.2
UNIT_POLL = 5.0
RELAUNCHES = 3
"""How often the engine of a transaction is restarted after it ended without a result."""


class NotStarted(ColocationError):
    """The engine could not be started, or ended without a result."""


class UnknownId(ColocationError):
    """The value is not a valid transaction id; it could be a path."""


class NoSuchTransaction(NotStarted):
    """The transaction does not exist on the node."""


def start(host: Host, plan: Plan, text: str, seconds: float) -> dict[str, Any]:
    """Begin a transaction, wait up to ``seconds`` for it, and return its result.

    A second call with the same id only waits: a controller that lost its connection may call it again.
    """
    store = Store(host)
    if store.exists(plan.id):
        return wait(host, plan.id, seconds)
    try:
        store.open(plan.id, text)
    except ColocationError as error:
        return refusal_result(plan.id, "begin", error, None)
    # A plan with files only takes milliseconds and needs no systemd.
    in_process = plan.files_only or not host.live
    try:
        node = _node(host) if in_process else _launch_on(host, plan)
    except (ColocationError, OSError) as error:
        result = refusal_result(plan.id, "begin", error, None)
        store.finish(plan.id, result)
        return result
    return runner.execute(node, store, plan.id, _silent) if in_process else wait(host, plan.id, seconds)


def check(host: Host, plan: Plan) -> dict[str, Any]:
    """The result of ``start`` if it would refuse this plan before any change, else the state ``none``.

    It only writes temporary unnamed files.
    """
    step = "begin"
    try:
        store = Store(host)
        if not store.exists(plan.id):
            store.require_directory(plan.id)
        require_node_lock(host)
        step = "check the node"
        preflight.check(Node(host), plan)
    except (ColocationError, OSError) as error:
        return refusal_result(plan.id, step, error, None)
    return {"id": plan.id, "state": "none"}


def wait(host: Host, transaction: str, seconds: float) -> dict[str, Any]:
    """The result of a transaction, or its progress if it does not end within ``seconds``.

    An engine that died is restarted, at most RELAUNCHES times, and rolls the transaction back.
    """
    if not ID.match(transaction):
        raise UnknownId(
            f"id: {transaction!r} is not a transaction id",
            "Use an id of letters, digits and dashes, at most 64 characters",
        )
    store, clock = Store(host), Clock()
    if not store.exists(transaction):
        raise NoSuchTransaction(f"transaction {transaction} does not exist on this node", "Start one with a plan")
    deadline = clock.monotonic() + seconds
    next_look = clock.monotonic() + UNIT_POLL
    while True:
        result = store.read(transaction, RESULT)
        if result is not None:
            return dict(result)
        if clock.monotonic() >= deadline:
            return progress(store, transaction)
        clock.sleep(POLL)
        if clock.monotonic() < next_look:
            continue
        next_look = clock.monotonic() + UNIT_POLL
        if not _engine_runs(host, transaction) and store.read(transaction, RESULT) is None:
            _relaunch(host, store, transaction)


def recover(host: Host, mode: RecoveryMode, seconds: float) -> dict[str, Any] | None:
    """Recover an interrupted transaction: its id and final state, None if there was none.

    It is recovered in a separate unit; after ``seconds`` its progress is returned, and ``wait`` continues. A unit that
    already recovers it is waited for. LockHeld, which names the process, if another process changes the node.
    Without systemd, or if it cannot start the engine, the transaction is rolled back in this process.
    """
    node, store = _recovering(host), Store(host)
    journals = unfinished_journals(store)
    if not node.engine or not journals or mode is RecoveryMode.STOP:
        return recovery.recover(node, store, _silent, mode)
    transaction = journals[0].id
    if _is_being_recovered(host, store, transaction):
        return wait(host, transaction, seconds)
    limit = _run_time(store, transaction)
    if mode is RecoveryMode.FINISH and recovery.resumable_transaction(node, store):
        _launch(host, transaction, limit, "finish")
        return wait(host, transaction, seconds)
    try:
        _launch(host, transaction, limit, "undo")
    except (NotStarted, OSError):
        return recovery.recover(node, store, _silent, RecoveryMode.UNDO)
    return wait(host, transaction, seconds)


def _is_being_recovered(host: Host, store: Store, transaction: str) -> bool:
    """Whether a unit is recovering it; LockHeld if its own engine or another process still changes the node."""
    try:
        with hold(store.lock_path, "check for a running engine"):
            pass
    except LockHeld as error:
        if error.holder.startswith(recovery.holder(transaction) + ","):
            return True
        raise
    # It may just have been started, or systemd is about to restart it.
    return _engine_runs(host, transaction)


def _recovering(host: Host) -> Node:
    """The node for a recovery; without an engine if the disk is too full to install one."""
    try:
        return _node(host)
    except OSError:
        return Node(host)


def _node(host: Host) -> Node:
    """The node with an installed engine for the boot after a power cut, if systemd can start it."""
    if not host.live:
        return Node(host)
    try:
        require_systemd(Node(host))
    except Refused:
        return Node(host)
    return Node(host, engine=installed_engine.install_engine(host))


def _launch_on(host: Host, plan: Plan) -> Node:
    """The node, on which the engine was started."""
    node = Node(host)
    require_systemd(node)
    _launch(host, plan.id, run_time(_gate_timeout(plan)))
    return node


def _gate_timeout(plan: Plan) -> float:
    return plan.gate.timeout if plan.gate else 0.0


def _run_time(store: Store, transaction: str) -> float:
    journal = Journal.load(store, transaction)
    if journal is not None:
        return run_time(_gate_timeout(journal.plan))
    try:
        return run_time(_gate_timeout(parse_plan(store.plan_text(transaction))))
    except (OSError, ColocationError):
        # The engine reports the error of the plan.
        return run_time(0.0)


def _relaunch(host: Host, store: Store, transaction: str) -> None:
    count = (store.read(transaction, LAUNCHES) or {}).get("again", 0)
    if not isinstance(count, int) or count >= RELAUNCHES:
        raise NotStarted(
            f"the engine was started {1 + RELAUNCHES} times, and ended without a result each time",
            f"See journalctl --unit {unit(transaction)} on the node, then run this again, which rolls it back",
        )
    limit = _run_time(store, transaction)
    # The roll-back is more important than the count: on a full disk the time limit of the controller ends this.
    with suppress(OSError):
        store.write(transaction, LAUNCHES, {"again": count + 1})
    _launch(host, transaction, limit)


def pending(host: Host) -> list[str]:
    """Ids of the transactions that are neither committed nor rolled back: running or interrupted."""
    return [journal.id for journal in unfinished_journals(Store(host))]


def progress(store: Store, transaction: str) -> dict[str, Any]:
    """The current result of a running transaction; ``limit``: seconds after which its engine has ended."""
    journal = Journal.load(store, transaction)
    if journal is not None:
        return {**journal.result(), "limit": life_time(_gate_timeout(journal.plan))}
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


def _launch(host: Host, transaction: str, limit: float, command: str = "run") -> None:
    path = installed_engine.install_engine(host)
    _prune(host, path)
    # on-abnormal: a killed engine is restarted immediately and rolls back its transaction.
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
    argv += [sys.executable, "-I", "-B", path, command, transaction]
    output = host.run(argv, timeout=30.0)
    if output.rc != 0:
        reason = " ".join(output.stderr.split()) or f"exit status {output.rc}"
        raise NotStarted(f"systemd-run cannot start the engine: {reason}", "Check systemd on this node")


def _prune(host: Host, path: str) -> None:
    """Remove unused engines, unless a running one holds the lock or an interrupted transaction needs one."""
    store = Store(host)
    with suppress(LockHeld), hold(store.lock_path, "removal of previous engines"):
        if not unfinished_journals(store):
            installed_engine.remove_other_engines(host, path)


def _engine_runs(host: Host, transaction: str) -> bool:
    try:
        return show(Node(host), unit(transaction)).runs
    except ServiceError:
        # systemd is busy or being updated: this does not prove that the engine has ended.
        return True


def _silent(_line: str) -> None:
    """Discard progress lines: the result of an in-process transaction contains everything."""
