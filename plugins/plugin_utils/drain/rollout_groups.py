# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The preview and the table of a rollout over many nodes: nodes with the same text are one group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..report.host_groups import LimitOption, group_texts, render_text_groups
from .rollout_report import STATE_ORDER, DrainPreview, TableRow, render_totals

MAX_GROUPS = 4
"""Groups that are shown in the preview, and for each state in the table."""
MAX_SIZES = 5
CHANGES = ("would change", "changed")
"""States without a reason; their nodes differ only in the number of settings."""


def preview_groups(
    batches: Sequence[Sequence[str]], previews: Mapping[str, DrainPreview], limit: LimitOption
) -> Iterator[str]:
    """The sizes of the batches, and what happens to the nodes."""
    yield f"{len(batches)} batches of {_sizes(batches)}"
    names = [name for batch in batches for name in batch if name in previews]
    groups = group_texts((name, _describe(previews[name])) for name in names)
    yield from render_text_groups(groups, "rollout", limit, most=MAX_GROUPS)
    pods = sum(len(preview.drained.evicted) for preview in previews.values() if preview.needed)
    yield f"{pods} pods will be evicted in total"


def _sizes(batches: Sequence[Sequence[str]]) -> str:
    sizes = list(dict.fromkeys(len(batch) for batch in batches))
    more = ", …" if len(sizes) > MAX_SIZES else ""
    return f"{', '.join(map(str, sizes[:MAX_SIZES]))}{more} {'node' if sizes == [1] else 'nodes'}"


def _describe(preview: DrainPreview) -> str:
    """What happens to a node, without the number of its pods."""
    if not preview.needed:
        return "changed without a drain"
    if preview.drained.reason:
        return f"skipped, it cannot be drained: {preview.drained.reason}"
    waits = any(pod.blocking_pdb for pod in preview.drained.pods)
    return f"drained, then changed{'; pods wait for their PodDisruptionBudget' if waits else ''}"


def render_table_groups(rows: Sequence[TableRow], limit: LimitOption) -> str:
    """The nodes of each state by the reason, the worst state first; nodes that were not touched are only counted."""
    lines: list[str] = []
    for state in STATE_ORDER[:-1]:
        groups = group_texts((row.node, "" if state in CHANGES else row.what) for row in rows if row.state == state)
        lines.extend(render_text_groups(groups, state, limit, most=MAX_GROUPS, state=state))
    return "\n".join([*lines, render_totals(rows)])
