# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of nodes, and the message of a failed run."""

from __future__ import annotations

from ansible_collections.volcano.colocation.plugins.plugin_utils.report.node_block import Filter
from ansible_collections.volcano.colocation.plugins.plugin_utils.report.node_table import (
    failing_nodes_message,
    missing_row,
    node_row,
    render_table,
)
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import ALIGNED, DIFFERING, golden, put

ERROR = {"code": "too-bad", "severity": "error", "summary": "bad", "remedy": "repair it", "effect": "misaligned"}
WARNING = {**ERROR, "code": "not-good", "severity": "warning"}


def test_the_worst_node_comes_first_and_columns_are_aligned() -> None:
    rows = [
        node_row("a", put(golden("facts", ALIGNED), [], "findings")),
        node_row("long-name", put(golden("facts", DIFFERING), [ERROR, ERROR, WARNING], "findings")),
        missing_row("gone"),
    ]
    assert render_table(rows).splitlines() == [
        "NODE       VERDICT        CGROUP  KUBELET         RUNTIME                         CPU MANAGER  ERR/WARN"
        "  FIRST FINDING",
        "gone       not looked at  -       -               -                               -            0/0       -",
        "long-name  misaligned     v2      1.20.2 systemd  containerd 1.7.24~ds1 cgroupfs  none         2/1"
        "       too-bad",
        "a          aligned        v2      1.20.2 systemd  containerd 1.7.24~ds1 systemd   static       0/0       -",
        "3 nodes: 1 not looked at, 1 misaligned, 1 aligned",
    ]


def test_more_errors_are_worse_then_names_count() -> None:
    facts = put(golden("facts", DIFFERING), [WARNING, ERROR, ERROR], "findings")
    one = put(facts, [ERROR, WARNING, WARNING], "findings")
    ordered = [
        line.split()[0]
        for line in render_table([node_row("c", one), node_row("b", one), node_row("d", facts)]).splitlines()[1:4]
    ]
    assert ordered == ["d", "b", "c"]


def test_what_is_not_there_or_not_known() -> None:
    facts = put(put(golden("facts", DIFFERING), None, "kubelet", "version"), None, "kubelet", "cgroup_driver")
    row = node_row("n", put(facts, False, "runtime", "installed"), Filter(codes=("no-such",)))
    assert (row.kubelet, row.runtime, row.finding) == ("? unknown", "-", "-")
    assert node_row("n", put(facts, False, "kubelet", "installed")).cpu_manager == "-"


def test_a_failure_names_nodes_and_codes_and_stays_short() -> None:
    assert (
        failing_nodes_message({"a": ["x", "y"], "b": ["x"]}, ["error"])
        == "2 node(s) have findings of error. a: x, y; b: x"
    )
    many = failing_nodes_message(
        {f"n{number}": [f"c{code}" for code in range(10)] for number in range(30)}, ["error", "info"]
    )
    assert "30 node(s) have findings of error, info. n0: c0, c1" in many
    assert "c7, and 2 more; n1:" in many
    assert many.endswith("n19: c0, c1, c2, c3, c4, c5, c6, c7, and 2 more; and 10 more")
