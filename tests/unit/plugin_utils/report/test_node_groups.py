# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a fleet: groups of nodes, whose number of lines does not grow with the nodes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.report.node_block import Filter
from ansible_collections.volcano.colocation.plugins.plugin_utils.report.node_groups import group_nodes, render_groups
from ansible_collections.volcano.colocation.plugins.plugin_utils.report.node_table import (
    Row,
    RowFinding,
    missing_row,
    node_row,
)
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import ALIGNED, DIFFERING, golden, put

MOST_LINES = 28
"""Lines of the longest report, which leave enough for the lines of tasks and the recap on a screen of 60."""


@dataclass
class Limits:
    """Records the hosts of each option."""

    hosts: dict[str, list[str]] = field(default_factory=dict)

    def __call__(self, name: str, hosts: Collection[str]) -> str:
        self.hosts[name] = [*hosts]
        return f"--limit {name}"


def row(node: str, verdict: str, *codes: str, summary: str = "why", severity: str = "error") -> Row:
    findings = tuple(RowFinding(severity, code, f"repair {code}") for code in codes)
    return Row(
        node, verdict, errors=len(codes), summary=summary, findings=findings, profile=("  profile    none given",)
    )


def test_a_fleet_of_recorded_nodes() -> None:
    aligned, differing = golden("facts", ALIGNED), golden("facts", DIFFERING)
    errors = [finding for finding in differing["findings"] if finding["severity"] == "error"]
    rows = [
        *(node_row(f"a{number}", put(aligned, [], "findings")) for number in range(150)),
        *(node_row(f"d{number}", put(differing, errors, "findings")) for number in range(3)),
        missing_row("gone"),
    ]
    limits = Limits()
    assert render_groups(rows, limits).splitlines() == [
        "profile    none given; the node is compared with itself, now and after a restart",
        "NODES  VERDICT        FINDINGS",
        "    1  not looked at  -",
        "                      --limit not-looked-at-1",
        "    3  misaligned     error: driver-mismatch, containers-misplaced",
        "                      kubelet uses systemd, containerd uses cgroupfs.",
        "                      --limit misaligned-2",
        "  150  aligned        -",
        "                      --limit aligned-3",
        "what to do (explain a code: ansible-playbook volcano.colocation.assess -e colocation_explain=CODE)",
        *(f"  {number}. {error['remedy']} [{error['code']}: 3 nodes]" for number, error in enumerate(errors, 1)),
        "154 nodes: 1 not looked at, 3 misaligned, 150 aligned",
    ]
    assert limits.hosts["misaligned-2"] == ["d0", "d1", "d2"]
    assert limits.hosts["not-looked-at-1"] == ["gone"]


@pytest.mark.parametrize("nodes", [10, 1000, 5000])
def test_its_length_does_not_depend_on_the_nodes(nodes: int) -> None:
    rows = [row(f"n{number}", "misaligned", f"code-{number % 9}", f"code-{number % 7}") for number in range(nodes)]
    limits = Limits()
    text = render_groups(rows, limits)
    assert len(text.splitlines()) <= MOST_LINES
    assert sorted(name for hosts in limits.hosts.values() for name in hosts) == sorted(row.node for row in rows)


def test_groups_beyond_the_limit_are_one_line_with_their_verdicts() -> None:
    rows = [*(row(f"n{number}", "misaligned", f"code-{number}") for number in range(9)), row("last", "aligned")]
    limits = Limits()
    lines = render_groups(rows, limits).splitlines()
    assert "    6  in 6 further groups, 6 nodes: 5 misaligned, 1 aligned" in lines
    assert limits.hosts["further-groups"] == ["n4", "n5", "n6", "n7", "n8", "last"]
    assert "  and 4 more, which -v and the JSON reports show" in lines


def test_the_worst_verdict_comes_first_then_errors_then_the_number_of_nodes() -> None:
    rows = [
        row("a", "aligned", "note", severity="info"),
        row("b", "latent", "x"),
        row("c", "misaligned", "x"),
        *(row(name, "misaligned", "y") for name in "de"),
        row("f", "misaligned", "x", "y"),
    ]
    assert [group.nodes for group in group_nodes(rows)] == [("f",), ("d", "e"), ("c",), ("b",), ("a",)]


def test_a_difference_of_an_information_makes_another_group() -> None:
    rows = [row("a", "aligned"), row("b", "aligned", "note", severity="info")]
    assert len(group_nodes(rows)) == 2


def lines_of(rows: Sequence[Row]) -> list[str]:
    return render_groups(rows, Limits()).splitlines()


def test_the_summary_of_one_node_is_an_example_if_they_differ() -> None:
    rows = [row(name, "misaligned", "x", summary=f"{name} lacks it") for name in "ab"]
    assert "                      such as a: a lacks it" in lines_of(rows)


def test_a_remedy_of_two_codes_is_shown_once_with_both_numbers() -> None:
    same = (RowFinding("warning", "x", "do it"), RowFinding("error", "y", "do it"))
    rows = [row("a", "misaligned")._replace(findings=same), row("b", "misaligned")._replace(findings=same[:1])]
    assert "  1. do it [y: 1 node, x: 2 nodes]" in lines_of(rows)


def test_different_profiles_are_counted() -> None:
    rows = [row("a", "aligned"), row("b", "aligned")._replace(profile=("  profile    set: x",)), missing_row("c")]
    assert lines_of(rows)[0] == "profile    2 different profiles; -v and the JSON reports show them"
    assert lines_of([missing_row("c")])[0] == "NODES  VERDICT        FINDINGS"


def test_a_filter_hides_findings_from_groups_and_remedies() -> None:
    finding = {**golden("facts", DIFFERING)["findings"][0], "code": "hidden", "severity": "warning"}
    facts = put(golden("facts", DIFFERING), [finding], "findings")
    assert "hidden" not in "\n".join(lines_of([node_row("a", facts, Filter(severities=("error",)))]))
    assert "hidden" in "\n".join(lines_of([node_row("a", facts)]))
