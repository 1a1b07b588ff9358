# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A drain as results and diffs tell it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .drain import Drained, of
from .pods import Fate


@dataclass(frozen=True)
class Outlook:
    """What a drain of a host's Node would come to; ``needed``: whether its plan needs one."""

    host: str
    node: str
    needed: bool
    drained: Drained


def published(found: Drained) -> dict[str, Any]:
    return {
        "drained": not found.reason,
        "reason": found.reason,
        "cordoned": found.cordoned,
        "evicted": list(found.evicted),
        "pods": [
            {"pod": str(pod), "action": pod.fate.value, "reason": pod.why, "blocking_pdb": pod.waits_for}
            for pod in found.pods
        ],
    }


def diff(found: Drained) -> dict[str, str]:
    """What is scheduled there, before and after."""
    going = [f"pod {name}\n" for name in found.evicted]
    staying = [f"pod {pod}\n" for pod in of(found.pods, Fate.STAY)]
    return {
        "before_header": "the Node before",
        "after_header": "the Node while it is changed",
        "before": "".join(["schedulable\n" if found.cordoned else "cordoned by others\n", *staying, *going]),
        "after": "".join(["cordoned\n" if found.cordoned else "cordoned by others\n", *staying]),
    }


def outlook_lines(batches: Sequence[Sequence[str]], found: Mapping[str, Outlook]) -> Iterator[str]:
    """The whole rollout, before it begins."""
    for number, names in enumerate(batches, start=1):
        yield f"batch {number} of {len(batches)}"
        yield from (f"  {name}: {_prospect(found[name])}" for name in names if name in found)


def _prospect(found: Outlook) -> str:
    if not found.needed:
        return "changed as it is, no pod has to leave"
    if found.drained.reason:
        return f"left out, it cannot be drained: {found.drained.reason}"
    waits = sum(bool(pod.waits_for) for pod in found.drained.pods)
    told = f"drained of {len(found.drained.evicted)} pod(s), then changed"
    return f"{told}; {waits} of them wait for their PodDisruptionBudget" if waits else told
