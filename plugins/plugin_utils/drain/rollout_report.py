# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A rollout as results, diffs and lines show it: its batches, the preview of each drain, and the table of nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...module_utils.safe_text import one_line
from ..profile.validators import ProfileError
from .cordon_and_drain import DrainResult, pods_with
from .evictable_pods import DrainAction

BatchSize = int | str


def split_batches(names: Sequence[str], sizes: Sequence[BatchSize]) -> tuple[tuple[str, ...], ...]:
    """The nodes in their batches; the last size holds for all that is left. ProfileError for what is no size."""
    left, found = list(names), []
    for count in _batch_counts([_parse_size(each) for each in sizes], len(names)):
        if not left:
            break
        found.append(tuple(left[:count]))
        left = left[count:]
    return tuple(found)


def _batch_counts(sizes: Sequence[tuple[int, bool]], total: int) -> Iterator[int]:
    """ansible.utils.helpers.pct_to_int: a part of all nodes of the play, and one at least."""
    counts = [max(1, number * total // 100) if percent else number for number, percent in sizes]
    yield from counts
    while True:
        yield counts[-1]


def _parse_size(given: BatchSize) -> tuple[int, bool]:
    text = str(given).strip()
    digits = text.removesuffix("%")
    if not digits.isascii() or not digits.isdecimal() or int(digits) < 1 or (text != digits and int(digits) > 100):
        raise ProfileError(
            "colocation_rollout_batches",
            f"{given!r} is neither a number of nodes from 1 nor a percentage such as '10%'",
        )
    return int(digits), text != digits


@dataclass(frozen=True)
class DrainPreview:
    """What a drain of a host's Node would come to; ``needed``: whether its plan needs one."""

    host: str
    node: str
    needed: bool
    drained: DrainResult


def drain_result(found: DrainResult) -> dict[str, Any]:
    return {
        "drained": not found.reason,
        "reason": found.reason,
        "cordoned": found.cordoned,
        "evicted": list(found.evicted),
        "pods": [
            {"pod": str(pod), "action": pod.action.value, "reason": pod.why, "blocking_pdb": pod.blocking_pdb}
            for pod in found.pods
        ],
    }


def drain_diff(found: DrainResult) -> dict[str, str]:
    """What is scheduled there, before and after."""
    going = [f"pod {name}\n" for name in found.evicted]
    staying = [f"pod {pod}\n" for pod in pods_with(found.pods, DrainAction.IGNORE)]
    return {
        "before_header": "the Node before",
        "after_header": "the Node while it is changed",
        "before": "".join(["schedulable\n" if found.cordoned else "cordoned by others\n", *staying, *going]),
        "after": "".join(["cordoned\n" if found.cordoned else "cordoned by others\n", *staying]),
    }


def preview_lines(batches: Sequence[Sequence[str]], found: Mapping[str, DrainPreview]) -> Iterator[str]:
    """The whole rollout, before it begins."""
    for number, names in enumerate(batches, start=1):
        yield f"batch {number} of {len(batches)}"
        yield from (f"  {name}: {_describe_preview(found[name])}" for name in names if name in found)


def _describe_preview(found: DrainPreview) -> str:
    if not found.needed:
        return "changed as it is, no pod has to leave"
    if found.drained.reason:
        return f"left out, it cannot be drained: {found.drained.reason}"
    waits = sum(bool(pod.blocking_pdb) for pod in found.drained.pods)
    told = f"drained of {len(found.drained.evicted)} pod(s), then changed"
    return f"{told}; {waits} of them wait for their PodDisruptionBudget" if waits else told


STATE_ORDER = ("failed", "put back", "lost contact", "not drained", "would change", "changed", "not touched")
MAX_ROWS = 100


class TableRow(NamedTuple):
    node: str
    state: str
    what: str = ""


def table_row(name: str, known: Mapping[str, Any], failure: str = "") -> TableRow:
    """The line of a node, from what its tasks registered. ``failure``: what else of its part has failed."""
    aligned, drained = known.get("node_aligned") or {}, known.get("rollout_drained") or {}
    failure = next(_failure_reasons(known), failure)
    if aligned.get("unreachable"):
        return TableRow(name, "lost contact", "what was begun there ends by itself; run again")
    if drained.get("reason"):
        return TableRow(name, "not drained", str(drained["reason"]))
    if failure:
        return TableRow(name, _failure_state(aligned), failure.splitlines()[0])
    if not aligned or aligned.get("skipped"):
        return TableRow(name, "not touched")
    count = f"{len((aligned.get('plan') or {}).get('changes', ()))} setting(s)"
    return TableRow(name, "changed" if "transaction" in aligned else "would change", count)


def _failure_reasons(known: Mapping[str, Any]) -> Iterator[str]:
    """In the order in which a node meets them."""
    for name in ("rollout_drained", "node_aligned", "rollout_opened"):
        found = known.get(name) or {}
        if found.get("failed"):
            yield str(found.get("msg") or "no reason given")
    aligned = known.get("node_aligned") or {}
    observed = (known.get("node_observed") or {}).get("plan") or {}
    # As the entry verify of the role node has it.
    if "transaction" in aligned and aligned.get("verdict", "aligned") != "aligned" and not observed.get("pending"):
        yield f"it is {aligned['verdict']} after its change"


def _failure_state(aligned: Mapping[str, Any]) -> str:
    return "put back" if (aligned.get("transaction") or {}).get("state") == "rolled-back" else "failed"


def render_table(rows: Iterable[TableRow]) -> str:
    """The worst first; nodes that were not touched are only counted."""
    found = sorted(rows, key=lambda each: (STATE_ORDER.index(each.state), each.node))
    shown = [each for each in found if each.state != STATE_ORDER[-1]]
    width = max((len(each.node) for each in shown), default=0)
    states = max((len(each.state) for each in shown), default=0)
    lines = [f"{each.node:{width}}  {each.state:{states}}  {each.what}".rstrip() for each in shown[:MAX_ROWS]]
    more = [f"and {len(shown) - MAX_ROWS} more"] if len(shown) > MAX_ROWS else []
    counts = Counter(each.state for each in found)
    sums = ", ".join(f"{counts[state]} {state}" for state in STATE_ORDER if counts[state])
    nodes = "1 node" if len(found) == 1 else f"{len(found)} nodes"
    return "\n".join([*map(one_line, lines), *more, f"{nodes} in the rollout: {sums}"])
