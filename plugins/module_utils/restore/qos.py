# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every recorded QoS setting put back as it was before it was set, and the record and its unit taken away."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from ..cgroup.mounts import ROOT
from ..cgroup.names import unit_of
from ..host import Host
from ..qos import engine, record, service
from ..qos.answer import answer
from ..qos.knobs import knob as knob_of
from ..qos.observe import Node, State, observe
from ..qos.ownership import Place
from ..qos.plan import Past, Step, possible, steps
from ..qos.record import Entry
from ..qos.request import node as node_of
from ..qos.target import Cgroups, Target
from ..transaction.clock import Clock
from ..transaction.turn import turn


@dataclass(frozen=True)
class Withdrawal:
    """What goes back below one cgroup root. ``gone``: recorded cgroups that are not there any more."""

    node: Node
    plan: engine.Plan
    gone: tuple[str, ...]


def withdrawals(host: Host) -> tuple[Withdrawal, ...]:
    """Nothing is changed; ColocationError when the record or a cgroup cannot be read."""
    before: record.Record = record.load(host)
    roots = {key[0] for key in before} | ({ROOT} if service.present(host) else set())
    found: list[Withdrawal] = []
    # The real one last: with it the record is empty, and the unit goes.
    for root in sorted(roots, key=lambda root: (root == ROOT, root)):
        found.append(_withdrawal(host, root, before))
        before = found[-1].plan.after
    return tuple(found)


def carry_out(host: Host, clock: Clock) -> tuple[Withdrawal, ...]:
    """What was done; nothing at all where nothing is recorded."""
    if not withdrawals(host):
        return ()
    with turn(host, "restore of QoS settings", clock), record.alone(host, clock):
        wanted = withdrawals(host)
        for each in wanted:
            engine.execute(each.node, each.plan, clock)
    return wanted


def described(wanted: tuple[Withdrawal, ...]) -> dict[str, Any]:
    """As the result shows it: every setting that is recorded, and the cgroups that went with theirs."""
    answers = [answer(each.plan) for each in wanted]
    return {
        "changed": any(each.plan.changed for each in wanted),
        "settings": [setting for each in answers for setting in each["settings"]],
        "gone": [cgroup for each in wanted for cgroup in each.gone],
        "unit": service.UNIT if any(each.plan.upkeep is service.Upkeep.REMOVE for each in wanted) else None,
        "before": "".join(each["diff"]["before"] for each in answers),
        "after": "".join(each["diff"]["after"] for each in answers),
    }


def _withdrawal(host: Host, root: str, before: record.Record) -> Withdrawal:
    node = node_of(host, root)
    cgroups, boot = Cgroups(host, node.hierarchies), record.boot_id(host)
    states: dict[str, State] = {}
    found: list[Step] = []
    gone: list[str] = []
    for cgroup, entries in sorted(record.of_root(before, root).items()):
        if not cgroups.folders(cgroup):
            gone.append(cgroup)
            continue
        # As it is found, whoever made it: what was set there was allowed, and so is taking it back.
        target = Target(cgroup, Place.OTHER, None, None, unit_of(cgroup))
        states[cgroup] = observe(node, target, [knob_of(name) for name in entries])
        found += _steps(states[cgroup], Past(entries, boot))
    after: dict[record.Key, Entry] = {key: entry for key, entry in before.items() if key[0] != root}
    targets = tuple(state.target for state in states.values())
    plan = engine.Plan(targets, states, tuple(found), (), before, after, service.upkeep(node, after))
    return Withdrawal(node, plan, tuple(gone))


def _steps(state: State, past: Past) -> tuple[Step, ...]:
    return possible(steps({}, tuple(past.entries), state, past, os.sysconf("SC_PAGE_SIZE")), ())
