# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a rollout stands: one line for each node, and a line with the sums."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ...module_utils.safe_text import one_line

ORDER = ("failed", "put back", "lost contact", "not drained", "would change", "changed", "not touched")
SHOWN = 100


class Row(NamedTuple):
    node: str
    state: str
    what: str = ""


def row(name: str, known: Mapping[str, Any], failure: str = "") -> Row:
    """The line of a node, from what its tasks registered. ``failure``: what else of its part has failed."""
    aligned, drained = known.get("node_aligned") or {}, known.get("rollout_drained") or {}
    failure = next(_failures(known), failure)
    if aligned.get("unreachable"):
        return Row(name, "lost contact", "what was begun there ends by itself; run again")
    if drained.get("reason"):
        return Row(name, "not drained", str(drained["reason"]))
    if failure:
        return Row(name, _failed(aligned), failure.splitlines()[0])
    if not aligned or aligned.get("skipped"):
        return Row(name, "not touched")
    count = f"{len((aligned.get('plan') or {}).get('changes', ()))} setting(s)"
    return Row(name, "changed" if "transaction" in aligned else "would change", count)


def _failures(known: Mapping[str, Any]) -> Iterator[str]:
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


def _failed(aligned: Mapping[str, Any]) -> str:
    return "put back" if (aligned.get("transaction") or {}).get("state") == "rolled-back" else "failed"


def table(rows: Iterable[Row]) -> str:
    """The worst first; nodes that were not touched are only counted."""
    found = sorted(rows, key=lambda each: (ORDER.index(each.state), each.node))
    shown = [each for each in found if each.state != ORDER[-1]]
    width = max((len(each.node) for each in shown), default=0)
    states = max((len(each.state) for each in shown), default=0)
    lines = [f"{each.node:{width}}  {each.state:{states}}  {each.what}".rstrip() for each in shown[:SHOWN]]
    more = [f"and {len(shown) - SHOWN} more"] if len(shown) > SHOWN else []
    counts = Counter(each.state for each in found)
    sums = ", ".join(f"{counts[state]} {state}" for state in ORDER if counts[state])
    nodes = "1 node" if len(found) == 1 else f"{len(found)} nodes"
    return "\n".join([*map(one_line, lines), *more, f"{nodes} in the rollout: {sums}"])
