# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The text report of a node."""

from __future__ import annotations

from typing import Any

from ansible_collections.volcano.colocation.plugins.plugin_utils.report.node_block import (
    Filter,
    failing_codes,
    render_line,
    render_node,
)
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    DIFFERING,
    FIXTURES,
    NAMES,
    golden,
    put,
)
from ansible_collections.volcano.colocation.tests.tools.write_golden import render_report


def finding(code: str, severity: str, *evidence: str, remedy: str = "Do it.") -> dict[str, Any]:
    return {
        "code": code,
        "severity": severity,
        "effect": "misaligned" if severity == "error" else "none",
        "summary": f"{code} is wrong.",
        "evidence": list(evidence),
        "remedy": remedy,
    }


def with_findings(*findings: dict[str, Any]) -> dict[str, Any]:
    return put(golden("facts", DIFFERING), list(findings), "findings")


def test_what_people_see_of_the_captured_nodes() -> None:
    """write_golden writes the expected document; review its diff."""
    expected = (FIXTURES / "reports" / "captured.txt").read_text(encoding="utf-8")
    assert render_report({name: golden("facts", name) for name in NAMES}) == expected


def test_a_healthy_node_takes_six_lines() -> None:
    block = render_node("node1", put(golden("facts", ALIGNED), [], "findings")).splitlines()
    assert block == [
        "node1: aligned. All running components agree, and a restart will not change that.",
        "  node       cgroup v2, systemd 257.13-1~deb13u1, kernel 6.12.107+deb13-cloud-amd64, CPUs 0-1",
        "  kubelet    1.20.2, healthy, cgroup driver systemd, CPU manager static",
        "  runtime    containerd 1.7.24~ds1, handlers: runc systemd, NRI on",
        "  pods       3 pod(s), cgroups of processes: 6 in kubepods.slice",
        "  profile    none given; the node is compared with itself, now and after a restart",
    ]


def judged(*values: tuple[str, Any, str]) -> dict[str, Any]:
    listed = [{"option": option, "value": value, "source": source} for option, value, source in values]
    return put(golden("facts", ALIGNED), {"specified": True, "options": listed}, "profile")


def profile_lines(facts: dict[str, Any]) -> list[str]:
    lines = render_node("n", facts).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("  profile "))
    return [line for line in lines[start:] if line.startswith(("  profile ", " " * 13))]


def test_a_profile_is_shown_by_the_source_of_its_values() -> None:
    facts = judged(
        ("nri.enabled", True, "role-default"),
        ("cgroup_driver", "systemd", "set"),
        ("enforce_node_allocatable", ["pods"], "set"),
    )
    assert profile_lines(put(facts, [], "findings")) == [
        '  profile    set: colocation_cgroup_driver systemd, colocation_enforce_node_allocatable ["pods"]',
        "             defaults of the role: colocation_nri_enabled true",
    ]


def test_no_value_of_a_long_profile_is_cut_out() -> None:
    gates = [(f"feature_gates.SomeGate{number}", False, "set") for number in range(30)]
    lines = profile_lines(put(judged(*gates), [], "findings"))
    assert len(lines) > 5
    assert "…" not in "".join(lines)
    assert all(name in " ".join(lines) for name, _value, _source in gates)
    assert max(map(len, lines)) <= 160


def test_the_verdict_and_the_finding_that_decides_it_come_first() -> None:
    first = render_node("node1", golden("facts", DIFFERING)).splitlines()[0]
    assert (
        first
        == "node1: MISALIGNED. The node does not work as intended: kubelet uses systemd, containerd uses cgroupfs."
    )


def test_errors_come_first_and_long_evidence_is_cut() -> None:
    facts = with_findings(finding("b", "info"), finding("a", "error", *"12345"))
    block = render_node("n", facts)
    assert block.index("[a]") < block.index("[b]")
    assert "              3\n              and 2 more\n" in block
    assert "              4" not in block


def test_evidence_of_several_findings_is_shown_once() -> None:
    block = render_node("n", with_findings(finding("a", "error", "x", "y"), finding("b", "error", "y", "z")))
    assert [line.strip() for line in block.splitlines() if line.startswith(" " * 14)] == ["x", "y", "z"]


def test_what_helps_against_several_is_said_once() -> None:
    facts = with_findings(finding("a", "error"), finding("b", "error"), finding("c", "info", remedy="Wait."))
    assert render_node("n", facts).splitlines()[-3:] == [
        "  what to do (explain a code: ansible-playbook volcano.colocation.assess -e colocation_explain=CODE)",
        "    1. Do it. [a, b]",
        "    2. Wait. [c]",
    ]


def test_a_filter_says_how_much_it_hides_and_keeps_the_verdict() -> None:
    facts = with_findings(finding("a", "error"), finding("b", "warning"), finding("c", "info"))
    block = render_node("n", facts, Filter(codes=("b", "c"), severities=("warning",)))
    assert "[b]" in block
    assert "[a]" not in block
    assert "[c]" not in block
    assert block.startswith("n: MISALIGNED. The node does not work as intended: a is wrong.")
    assert block.endswith("  2 finding(s) hidden by your filter; the JSON report has them all.")


def test_failing_codes_are_those_of_the_severities_each_once() -> None:
    facts = with_findings(finding("a", "error"), finding("b", "warning"), finding("a", "error"))
    assert failing_codes(facts, ["error"]) == ["a"]
    assert failing_codes(facts, ["error", "warning"]) == ["a", "b"]
    assert failing_codes(facts, []) == []


def test_what_is_missing_or_unknown_is_said() -> None:
    facts = golden("facts", DIFFERING)
    missing = put(put(facts, False, "kubelet", "installed"), False, "runtime", "installed")
    assert "  kubelet    not installed" in render_node("n", missing)
    assert "  runtime    no container runtime" in render_node("n", missing)
    vague = put(put(facts, None, "kubelet", "version"), None, "kubelet", "cgroup_driver")
    vague = put(put(vague, None, "kubelet", "cgroup_driver_source"), False, "kubelet", "healthy")
    vague = put(put(vague, None, "kubelet", "cpu_manager_policy"), None, "runtime", "version")
    vague = put(put(vague, None, "runtime", "nri", "running"), {}, "runtime", "handlers")
    vague = put(put(vague, [], "pods", "misplaced_paths"), "unknown", "cgroup", "mode")
    block = render_node("n", vague)
    assert "cgroup unknown (cgroup2 is mounted at /sys/fs/cgroup)" in block
    assert "version unknown, not healthy, cgroup driver unknown, CPU manager unknown" in block
    assert "containerd version unknown, cgroup driver cgroupfs, NRI unknown" in block
    assert "cgroups of processes: none" in block


def test_an_image_is_neither_healthy_nor_not() -> None:
    facts = put(put(golden("facts", ALIGNED), None, "kubelet", "healthy"), False, "kubelet", "running")
    assert "1.20.2, not running, cgroup driver systemd" in render_node("n", facts)


def test_the_layout_is_named_when_it_is_a_distributions() -> None:
    assert ", k3s\n" in render_node("n", {**golden("facts", ALIGNED), "layout": "k3s"})
    assert "standalone" not in render_node("n", {**golden("facts", ALIGNED), "layout": "standalone"})


def test_the_block_says_that_a_containerd_without_nri_does_not_support_it() -> None:
    assert "NRI not supported" in render_node(
        "n", put(golden("facts", DIFFERING), False, "runtime", "nri", "supported")
    )


def test_lines_are_short_and_safe_for_a_terminal() -> None:
    assert render_line("cri-containerd-" + "ab" * 32 + ".scope") == "cri-containerd-abababababab.scope"
    assert render_line("a\x1b[31mb\nc\udcff") == r"a\x1b[31mb\nc\xff"
    assert len(render_line("/long" * 100)) <= 161
    assert render_line("/long" * 100).endswith("/long")
