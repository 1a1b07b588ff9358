# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""cgroup_qos from end to end: ``predicted`` looks and plans, ``done`` acts as well."""

from __future__ import annotations

from typing import Any, Mapping

from ..host import Host
from ..transaction.clock import Clock
from ..transaction.lock import require_lockable
from ..transaction.turn import require_turn, turn
from . import engine, record
from .observe import Node
from .pods import uid_of
from .request import cgroups, node, request


def predicted(host: Host, options: Mapping[str, Any]) -> engine.Plan:
    """Nothing is changed; ColocationError when it must not or cannot be done."""
    plan = _plan(host, options)[1]
    if plan.changed:
        require_turn(host)
        require_lockable(host.path(record.LOCK))
    return plan


def done(host: Host, options: Mapping[str, Any], clock: Clock) -> engine.Plan:
    """The plan, carried out while nobody else is at work on the node; what changes nothing waits for nobody.

    LockHeld names who is at work for too long.
    """
    plan = predicted(host, options)
    if not plan.changed:
        return plan
    with turn(host, "cgroup_qos", clock), record.alone(host, clock):
        where, plan = _plan(host, options)
        engine.execute(where, plan, clock)
    return plan


def _plan(host: Host, options: Mapping[str, Any]) -> tuple[Node, engine.Plan]:
    """Where, and what."""
    wanted = request(host, options)
    where = node(host, wanted.cgroup_root)
    tree = cgroups(host, where.hierarchies, options)
    return where, engine.plan(where, tree, wanted, lambda pod: uid_of(host, pod))
