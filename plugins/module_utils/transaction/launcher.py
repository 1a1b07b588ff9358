# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Starting the engine as a transient unit, and waiting for the answer of a transaction."""

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
from .context import refusal_result
from .preflight import Refused, require_systemd
from .recovery import RecoveryMode
from .time_limits import STOP_TIMEOUT, life_time, run_time

POLL = 0.2
UNIT_POLL = 5.0
RELAUNCHES = 3
"""How often an engine is started again that ended without an answer, over the whole transaction."""


class NotStarted(ColocationError):
    """The engine could not be started, or ended without an answer."""


class UnknownId(ColocationError):
    """What was asked for is not the name of any transaction, and might be a path."""


class NoSuchTransaction(NotStarted):
    """There is no such transaction on the node."""


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
        return refusal_result(plan.id, "begin", error, None)
    # Files alone are over in milliseconds, and need no systemd.
    at_once = plan.files_only or not host.live
    try:
        node = _node(host) if at_once else _launch_on(host, plan)
    except (ColocationError, OSError) as error:
        answer = refusal_result(plan.id, "begin", error, None)
        store.finish(plan.id, answer)
        return answer
    return runner.execute(node, store, plan.id, _silent) if at_once else wait(host, plan.id, seconds)


def check(host: Host, plan: Plan) -> dict[str, Any]:
    """The answer of ``start`` where it would refuse this plan before anything is touched; state ``none`` otherwise.

    Text is written for a moment to files without a name; nothing else is.
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
    """The answer of a transaction, or how far it is when it has not ended within ``seconds``.

    An engine that died is started again, RELAUNCHES times at most; what it left is undone then.
    """
    if not ID.match(transaction):
        raise UnknownId(
            f"id: {transaction!r} is not the id of a transaction", "One has letters, digits and dashes, 64 at most"
        )
    store, clock = Store(host), Clock()
    if not store.exists(transaction):
        raise NoSuchTransaction(f"there is no transaction {transaction} on this node", "Start one with a plan")
    deadline = clock.monotonic() + seconds
    next_look = clock.monotonic() + UNIT_POLL
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
        if not _engine_runs(host, transaction) and store.read(transaction, RESULT) is None:
            _relaunch(host, store, transaction)


def recover(host: Host, way: RecoveryMode, seconds: float) -> dict[str, Any] | None:
    """Settle what was cut off: its id and end state, None when there was nothing.

    It is settled in a unit of its own, and how far that is after ``seconds`` is the answer then: ``wait`` goes on. One
    that settles it already is waited for. LockHeld, which names who it is, when anybody else is at work.
    Where there is no systemd, or it starts no engine, it is undone in this process.
    """
    node, store = _recovering(host), Store(host)
    journals = unfinished_journals(store)
    if not node.engine or not journals or way is RecoveryMode.STOP:
        return recovery.recover(node, store, _silent, way)
    transaction = journals[0].id
    if _is_being_recovered(host, store, transaction):
        return wait(host, transaction, seconds)
    limit = _run_time(store, transaction)
    if way is RecoveryMode.FINISH and recovery.resumable_transaction(node, store):
        _launch(host, transaction, limit, "finish")
        return wait(host, transaction, seconds)
    try:
        _launch(host, transaction, limit, "undo")
    except (NotStarted, OSError):
        return recovery.recover(node, store, _silent, RecoveryMode.UNDO)
    return wait(host, transaction, seconds)


def _is_being_recovered(host: Host, store: Store, transaction: str) -> bool:
    """Whether a unit is bringing it to its end; LockHeld when its own engine or somebody else is still at work."""
    try:
        with hold(store.lock_path, "look for an engine at work"):
            pass
    except LockHeld as held:
        if held.holder.startswith(recovery.holder(transaction) + ","):
            return True
        raise
    # It may have been started this moment, or systemd is about to start it again.
    return _engine_runs(host, transaction)


def _recovering(host: Host) -> Node:
    """A full disk that cannot take an engine is no reason to leave a node half changed."""
    try:
        return _node(host)
    except OSError:
        return Node(host)


def _node(host: Host) -> Node:
    """With an engine for the boot after a power cut, where there is a systemd to start it."""
    if not host.live:
        return Node(host)
    try:
        require_systemd(Node(host))
    except Refused:
        return Node(host)
    return Node(host, engine=installed_engine.install_engine(host))


def _launch_on(host: Host, plan: Plan) -> Node:
    """The node, with an engine at work on it."""
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
        # The engine says what is wrong with it.
        return run_time(0.0)


def _relaunch(host: Host, store: Store, transaction: str) -> None:
    count = (store.read(transaction, LAUNCHES) or {}).get("again", 0)
    if not isinstance(count, int) or count >= RELAUNCHES:
        raise NotStarted(
            f"the engine ends without an answer, and was started {1 + RELAUNCHES} times",
            f"See journalctl --unit {unit(transaction)} on the node, then run this again: what is open is undone first",
        )
    limit = _run_time(store, transaction)
    # Undoing matters more than counting: on a full disk the controller's own limit ends this.
    with suppress(OSError):
        store.write(transaction, LAUNCHES, {"again": count + 1})
    _launch(host, transaction, limit)


def pending(host: Host) -> list[str]:
    """Ids of the transactions that were begun and neither committed nor undone, be they at work or cut off."""
    return [journal.id for journal in unfinished_journals(Store(host))]


def progress(store: Store, transaction: str) -> dict[str, Any]:
    """The answer so far of a transaction that is at work; ``limit``: seconds after which its engine is gone."""
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
    argv += [sys.executable, "-I", "-B", path, command, transaction]
    answer = host.run(argv, timeout=30.0)
    if answer.rc != 0:
        reason = " ".join(answer.stderr.split()) or f"exit status {answer.rc}"
        raise NotStarted(f"systemd-run does not start the engine: {reason}", "Check systemd on this node")


def _prune(host: Host, path: str) -> None:
    """Remove engines that nobody needs: neither one at work, which holds the lock, nor one of a transaction cut off."""
    store = Store(host)
    with suppress(LockHeld), hold(store.lock_path, "removal of former engines"):
        if not unfinished_journals(store):
            installed_engine.remove_other_engines(host, path)


def _engine_runs(host: Host, transaction: str) -> bool:
    try:
        return show(Node(host), unit(transaction)).runs
    except ServiceError:
        # systemd is busy or being updated: no proof that the engine is gone.
        return True


def _silent(_line: str) -> None:
    """The answer of an in-process transaction tells all."""
