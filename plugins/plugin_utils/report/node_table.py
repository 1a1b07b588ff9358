# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A table of nodes, one line each, the worst first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .node_block import EVERYTHING, Filter, deciding_summary, render_driver, render_line, render_profile, sort_findings

WORST_FIRST = ("not looked at", "unsupported", "unknown", "misaligned", "latent", "aligned")
HEADER = ("NODE", "VERDICT", "CGROUP", "KUBELET", "RUNTIME", "CPU MANAGER", "ERR/WARN", "FIRST FINDING")
SHOWN_CODES, SHOWN_NODES = 8, 20


class RowFinding(NamedTuple):
    """A finding of a node; nodes with the same codes are one group."""

    severity: str
    code: str
    remedy: str


class Row(NamedTuple):
    """A line of the table and what groups need, the only data of a node that is kept."""

    node: str
    verdict: str
    cgroup: str = "-"
    kubelet: str = "-"
    runtime: str = "-"
    cpu_manager: str = "-"
    errors: int = 0
    warnings: int = 0
    finding: str = "-"
    summary: str = ""
    findings: tuple[RowFinding, ...] = ()
    profile: tuple[str, ...] = ()

    @property
    def order(self) -> tuple[int, int, int, str]:
        rank = WORST_FIRST.index(self.verdict) if self.verdict in WORST_FIRST else 0
        return rank, -self.errors, -self.warnings, self.node

    @property
    def cells(self) -> tuple[str, ...]:
        counts = f"{self.errors}/{self.warnings}"
        return (*map(render_line, self[:6]), counts, self.finding)


def _side(side: Mapping[str, Any]) -> str:
    """The cell of kubelet, or of the runtime, which has a name."""
    name = [side["name"]] if side.get("name") else []
    return " ".join((*name, side["version"] or "?", render_driver(side))) if side["installed"] else "-"


def node_row(node: str, facts: Mapping[str, Any], selection: Filter = EVERYTHING) -> Row:
    """The line of a node that was read."""
    kubelet, runtime = facts["kubelet"], facts["runtime"]
    counts = Counter(finding["severity"] for finding in facts["findings"])
    findings = sort_findings(facts, selection)
    return Row(
        render_line(node),
        str(facts["verdict"]),
        str(facts["cgroup"]["mode"]),
        _side(kubelet),
        _side(runtime),
        (kubelet["cpu_manager_policy"] or "unknown") if kubelet["installed"] else "-",
        counts["error"],
        counts["warning"],
        next((finding["code"] for finding in findings), "-"),
        deciding_summary(facts),
        tuple(RowFinding(finding["severity"], finding["code"], finding["remedy"]) for finding in findings),
        tuple(render_profile(facts["profile"])),
    )


def missing_row(node: str) -> Row:
    """The line of a node that could not be read."""
    return Row(render_line(node), WORST_FIRST[0])


def render_table(rows: Iterable[Row]) -> str:
    """Aligned columns, the worst node first, and a line with the totals."""
    ordered = sorted(rows, key=lambda row: row.order)
    cells = [HEADER, *(row.cells for row in ordered)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(HEADER))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]
    return "\n".join((*lines, render_totals(ordered)))


def render_totals(rows: Collection[Row]) -> str:
    """The number of nodes with each verdict, the worst first."""
    counts = Counter(row.verdict for row in rows)
    sums = ", ".join(f"{counts[verdict]} {verdict}" for verdict in WORST_FIRST if counts[verdict])
    return f"{'1 node' if len(rows) == 1 else f'{len(rows)} nodes'}: {sums}"


def failing_nodes_message(codes_by_node: Mapping[str, list[str]], severities: Iterable[str]) -> str:
    """Why a run fails at its end: nodes with the codes of their findings."""
    named = [f"{node}: {_first_words(codes, SHOWN_CODES, ', ')}" for node, codes in codes_by_node.items()]
    nodes = _first_words(named, SHOWN_NODES, "; ")
    return f"{len(codes_by_node)} node(s) have findings of {', '.join(severities)}. {nodes}"


def first_lines(lines: Sequence[str]) -> list[str]:
    """The lines, or the first of many and the number of the others."""
    more = [f"and {len(lines) - SHOWN_NODES} more"] if len(lines) > SHOWN_NODES else []
    return [*lines[:SHOWN_NODES], *more]


def _first_words(words: list[str], count: int, separator: str) -> str:
    more = [f"and {len(words) - count} more"] if len(words) > count else []
    return separator.join((*words[:count], *more))
