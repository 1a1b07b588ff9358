# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The scheduler's actions, in the order in which a scheduling cycle runs them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

WANTED = ("allocate", "backfill", "preempt")
"""Pods find free room first, then what is left over is filled, and only then somebody is made to leave."""

KNOWN = (
    "enqueue",
    "allocate",
    "backfill",
    "preempt",
    "reclaim",
    "shuffle",
    "elect",
    "reserve",
    "gangpreempt",
    "gangreclaim",
)
"""volcano pkg/scheduler/actions/factory.go, over its releases."""


def read_actions(text: object) -> tuple[str, ...]:
    """The names in ``actions``, split as volcano pkg/scheduler/util.go does (unmarshalSchedulerConf)."""
    return tuple(name.strip() for name in str(text or "").split(",") if name.strip())


def ordered(found: Sequence[str], dropped: Iterable[str] = ()) -> tuple[str, ...]:
    """The wanted actions in their order, and every other one that is there, but for those to be dropped.

    Another action stays right behind the wanted one that it followed; one that followed none stays in front.
    """
    gone = frozenset(dropped)
    behind: dict[str | None, list[str]] = {}
    last: str | None = None
    for name in dict.fromkeys(found):
        if name in WANTED:
            last = name
        elif name not in gone:
            behind.setdefault(last, []).append(name)
    result = list(behind.get(None, ()))
    for name in WANTED:
        result += [name, *behind.get(name, ())]
    return tuple(result)
