# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A rollout in results, diffs and output: its batches, the preview of each drain, and the table of nodes."""

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
    """The nodes in their batches; the last size is repeated for all remaining nodes. ProfileError for invalid sizes."""
    remaining, batches = list(names), []
    for count in _batch_counts([_parse_size(size) for size in sizes], len(names)):
        if not remaining:
            break
        batches.append(tuple(remaining[:count]))
        remaining = remaining[count:]
    return tuple(batches)


def _batch_counts(sizes: Sequence[tuple[int, bool]], total: int) -> Iterator[int]:
    """As ansible.utils.helpers.pct_to_int: a percentage of all nodes of the play, at least one."""
    counts = [max(1, number * total // 100) if percent else number for number, percent in sizes]
    yield from counts
    while True:
        yield counts[-1]


def _parse_size(size: BatchSize) -> tuple[int, bool]:
    text = str(size).strip()
    digits = text.removesuffix("%")
    if not digits.isascii() or not digits.isdecimal() or int(digits) < 1 or (text != digits and int(digits) > 100):
        raise ProfileError(
            "colocation_rollout_batches",
            f"{size!r} is neither a number of nodes from 1 nor a percentage such as '10%'",
        )
    return int(digits), text != digits


@dataclass(frozen=True)
class DrainPreview:
    """The preview of draining a host's Node; ``needed``: whether the host's plan needs a drain."""

    host: str
    node: str
    needed: bool
    drained: DrainResult


def drain_result(result: DrainResult) -> dict[str, Any]:
    return {
        "drained": not result.reason,
        "reason": result.reason,
        "cordoned": result.cordoned,
        "evicted": list(result.evicted),
        "pods": [
            {"pod": str(pod), "action": pod.action.value, "reason": pod.why, "blocking_pdb": pod.blocking_pdb}
            for pod in result.pods
        ],
    }


def drain_diff(result: DrainResult) -> dict[str, str]:
    """The Node's cordon and pods, before the drain and after it."""
    evicted = [f"pod {name}\n" for name in result.evicted]
    remaining = [f"pod {pod}\n" for pod in pods_with(result.pods, DrainAction.IGNORE)]
    return {
        "before_header": "the Node before",
        "after_header": "the Node while it is changed",
        "before": "".join(
            ["schedulable\n" if result.cordoned else "cordoned by another client\n", *remaining, *evicted]
        ),
        "after": "".join(["cordoned\n" if result.cordoned else "cordoned by another client\n", *remaining]),
    }


def preview_lines(batches: Sequence[Sequence[str]], previews: Mapping[str, DrainPreview]) -> Iterator[str]:
    """The preview of the whole rollout."""
    for number, names in enumerate(batches, start=1):
        yield f"batch {number} of {len(batches)}"
        yield from (f"  {name}: {_describe_preview(previews[name])}" for name in names if name in previews)


def _describe_preview(preview: DrainPreview) -> str:
    if not preview.needed:
        return "changed without a drain"
    if preview.drained.reason:
        return f"skipped, it cannot be drained: {preview.drained.reason}"
    waits = sum(bool(pod.blocking_pdb) for pod in preview.drained.pods)
    summary = f"drained of {len(preview.drained.evicted)} pod(s), then changed"
    return f"{summary}; {waits} of them wait for their PodDisruptionBudget" if waits else summary


STATE_ORDER = ("failed", "rolled back", "lost contact", "not drained", "would change", "changed", "not touched")
MAX_ROWS = 100


class TableRow(NamedTuple):
    node: str
    state: str
    what: str = ""


def table_row(name: str, known: Mapping[str, Any], failure: str = "") -> TableRow:
    """The row of a node, from the results that its tasks registered. ``failure``: any other failure of its tasks."""
    aligned, drained = known.get("node_aligned") or {}, known.get("rollout_drained") or {}
    failure = next(_failure_reasons(known), failure)
    if aligned.get("unreachable"):
        return TableRow(name, "lost contact", "its change ends by itself; run again")
    if drained.get("reason"):
        return TableRow(name, "not drained", str(drained["reason"]))
    if failure:
        return TableRow(name, _failure_state(aligned), failure.splitlines()[0])
    if not aligned or aligned.get("skipped"):
        return TableRow(name, "not touched")
    count = f"{len((aligned.get('plan') or {}).get('changes', ()))} setting(s)"
    return TableRow(name, "changed" if "transaction" in aligned else "would change", count)


def _failure_reasons(known: Mapping[str, Any]) -> Iterator[str]:
    """Failures in the order of the node's tasks."""
    for name in ("rollout_drained", "node_aligned", "rollout_opened"):
        result = known.get(name) or {}
        if result.get("failed"):
            yield str(result.get("msg") or "no reason given")
    aligned = known.get("node_aligned") or {}
    observed = (known.get("node_observed") or {}).get("plan") or {}
    # The same condition as in the entry verify of the role node.
    if "transaction" in aligned and aligned.get("verdict", "aligned") != "aligned" and not observed.get("pending"):
        yield f"it is {aligned['verdict']} after its change"


def _failure_state(aligned: Mapping[str, Any]) -> str:
    return "rolled back" if (aligned.get("transaction") or {}).get("state") == "rolled-back" else "failed"


def render_table(rows: Iterable[TableRow]) -> str:
    """The table, worst states first; nodes that were not touched are only counted."""
    ordered = sorted(rows, key=lambda row: (STATE_ORDER.index(row.state), row.node))
    listed = [row for row in ordered if row.state != STATE_ORDER[-1]]
    width = max((len(row.node) for row in listed), default=0)
    states = max((len(row.state) for row in listed), default=0)
    lines = [f"{row.node:{width}}  {row.state:{states}}  {row.what}".rstrip() for row in listed[:MAX_ROWS]]
    more = [f"and {len(listed) - MAX_ROWS} more"] if len(listed) > MAX_ROWS else []
    return "\n".join([*map(one_line, lines), *more, render_totals(ordered)])


def render_totals(rows: Sequence[TableRow]) -> str:
    """The number of nodes in each state, the worst first."""
    counts = Counter(row.state for row in rows)
    sums = ", ".join(f"{counts[state]} {state}" for state in STATE_ORDER if counts[state])
    nodes = "1 node" if len(rows) == 1 else f"{len(rows)} nodes"
    return f"{nodes} in the rollout: {sums}"
