# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a fleet: nodes with the same verdict and findings are one group, the worst first.

Its length does not depend on the number of nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from .explanation import REMEDIES
from .host_groups import LimitOption
from .node_block import SEVERITIES, render_line
from .node_table import Row, RowFinding, render_totals
from .readable_numbers import render_count

MAX_GROUPS = 5
MAX_REMEDIES = 5
MAX_PROFILE_LINES = 2
_MARGIN = " " * 22
"""The width of the columns before the findings."""

Key = tuple[str, tuple[tuple[str, str], ...]]


class NodeGroup(NamedTuple):
    """Nodes with the same verdict and finding codes."""

    verdict: str
    findings: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]

    @property
    def nodes(self) -> tuple[str, ...]:
        return tuple(row.node for row in self.rows)


def group_nodes(rows: Iterable[Row]) -> list[NodeGroup]:
    """The groups, the worst verdict first, then those with more errors, more warnings, more nodes."""
    groups: dict[Key, list[Row]] = {}
    for row in rows:
        groups.setdefault((row.verdict, _codes(row.findings)), []).append(row)
    merged = [NodeGroup(*key, tuple(members)) for key, members in groups.items()]
    return sorted(merged, key=lambda group: (group.rows[0].order[:3], -len(group.rows)))


def render_groups(rows: Sequence[Row], limit: LimitOption) -> str:
    """The profile, the groups with their hosts, the remedies, and the totals."""
    groups = group_nodes(rows)
    detailed = groups if len(groups) <= MAX_GROUPS else groups[: MAX_GROUPS - 1]
    hidden = [row for group in groups[len(detailed) :] for row in group.rows]
    lines = [*_profile(rows), "NODES  VERDICT        FINDINGS"]
    for number, group in enumerate(detailed, 1):
        lines.extend(_render_group(group, limit(f"{group.verdict.replace(' ', '-')}-{number}", group.nodes)))
    if hidden:
        lines.append(f"{len(hidden):5}  in {len(groups) - len(detailed)} further groups, {render_totals(hidden)}")
        lines.append(_MARGIN + limit("further-groups", [row.node for row in hidden]))
    return "\n".join((*lines, *_remedies(rows), render_totals(rows)))


def _codes(findings: Iterable[RowFinding]) -> tuple[tuple[str, str], ...]:
    return tuple(dict.fromkeys((finding.severity, finding.code) for finding in findings))


def _profile(rows: Iterable[Row]) -> Iterator[str]:
    """The profile that all nodes were compared with, if it is the same for all."""
    profiles = {row.profile for row in rows if row.profile}
    if len(profiles) == 1:
        (profile,) = profiles
        yield from (line.removeprefix("  ") for line in profile[:MAX_PROFILE_LINES])
    elif profiles:
        yield f"profile    {len(profiles)} different profiles; -v and the JSON reports show them"


def _render_group(group: NodeGroup, limit: str) -> Iterator[str]:
    yield render_line(f"{len(group.rows):5}  {group.verdict:13}  {_findings(group.findings)}")
    summary = _summary(group)
    if summary:
        yield _MARGIN + summary
    yield _MARGIN + limit


def _findings(findings: Iterable[tuple[str, str]]) -> str:
    """The codes by severity, such as ``error: a, b; info: c``."""
    codes: dict[str, list[str]] = {}
    for severity, code in findings:
        codes.setdefault(severity, []).append(code)
    return "; ".join(f"{severity}: {', '.join(codes[severity])}" for severity in SEVERITIES if severity in codes) or "-"


def _summary(group: NodeGroup) -> str:
    """What decides the verdict; of one node as an example if the nodes differ."""
    summaries = {row.summary for row in group.rows}
    first = group.rows[0]
    return render_line(first.summary if len(summaries) == 1 else f"such as {first.node}: {first.summary}")


def _remedies(rows: Sequence[Row]) -> Iterator[str]:
    """The remedies of errors and warnings, with their codes and the numbers of nodes."""
    remedies = _remedies_by_code(rows)
    if remedies:
        yield REMEDIES
    codes: dict[str, list[str]] = {}
    for code, texts in remedies:
        codes.setdefault(texts[0], []).append(f"{code}: {render_count(len(texts), 'node')}")
    for number, (remedy, counts) in enumerate([*codes.items()][:MAX_REMEDIES], 1):
        yield f"  {number}. {render_line(remedy)} [{', '.join(counts)}]"
    if len(codes) > MAX_REMEDIES:
        yield f"  and {len(codes) - MAX_REMEDIES} more, which -v and the JSON reports show"


def _remedies_by_code(rows: Iterable[Row]) -> list[tuple[str, list[str]]]:
    """Codes of errors and warnings with a remedy for each of their nodes; errors and frequent codes first."""
    nodes: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        for finding in {finding.code: finding for finding in row.findings if finding.severity != "info"}.values():
            nodes.setdefault((finding.severity, finding.code), []).append(finding.remedy)
    ordered = sorted(nodes.items(), key=lambda item: (SEVERITIES.index(item[0][0]), -len(item[1])))
    return [(code, texts) for (_severity, code), texts in ordered]
