# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What recorded answers of Prometheus say about the load of Nodes, and the findings about it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.rule_types import Finding
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.usage_data import (
    NOW,
    NoUsageData,
    UsageData,
    parse_response,
    read_usage,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.usage_findings import (
    NodeNames,
    lint_usage,
    render_usage,
)
from ansible_collections.volcano.colocation.tests.support.clusters.prometheus_results import recorded_results, usage

NODES = (NodeNames("worker-2", frozenset({"10.0.0.2", "127.0.0.1"})), NodeNames("worker-1"))


def findings_of(data: UsageData, *nodes: NodeNames) -> dict[str, Finding]:
    """The findings by code, without the common beginning."""
    return {finding.code.removeprefix("scheduler-usage-"): finding for finding in lint_usage(data, nodes or NODES)}


def without_numbers(rows: tuple[str, ...]) -> list[str]:
    """Ports, times and usages differ in each recording."""
    replaced = {r"127\.0\.0\.1:\d+": "127.0.0.1:PORT", r"\d\d:\d\d:\d\d UTC": "TIME", r"\d+ %": "N %"}
    return [reduce(lambda text, pattern: re.sub(pattern, replaced[pattern], text), replaced, row) for row in rows]


def test_data_of_all_nodes_are_right() -> None:
    data = usage("all-nodes")
    assert findings_of(data) == {}
    assert render_usage(data, NODES) == [
        {"name": "worker-1", "cpu": 30.0, "memory": 20.0},
        {"name": "worker-2", "cpu": 90.0, "memory": 10.0},
    ]


def test_an_address_as_instance_finds_nothing() -> None:
    data = usage("instance-is-address")
    findings = findings_of(data)
    assert list(findings) == ["instance-unknown", "data-missing"]
    assert without_numbers(findings["instance-unknown"].evidence) == [
        "instance labels that are not names of Nodes: '127.0.0.1:PORT' (worker-2)",
        "Nodes without data: worker-2",
    ]
    assert "target_label: instance" in findings["instance-unknown"].remedy
    assert findings["data-missing"].evidence == ("no data of CPU and memory: worker-2",)
    assert render_usage(data, NODES)[1] == {"name": "worker-2", "cpu": None, "memory": None}


@pytest.mark.parametrize(
    ("instance", "meant"),
    [
        ("10.0.0.2:9100", True),
        ("10.0.0.2", True),
        ("worker-2:9100", True),
        ("[fd00::2]:9100", True),
        ("fd00::2", True),
        ("10.0.0.22:9100", False),
        ("worker-22", False),
        (":9100", False),
    ],
)
def test_a_label_is_recognized_by_names_and_addresses(instance: str, meant: bool) -> None:
    addresses = [{"type": "InternalIP", "address": address} for address in ("10.0.0.2", "fd00::2")]
    node = NodeNames.of({"metadata": {"name": "worker-2"}, "status": {"addresses": addresses}})
    assert node.is_meant(instance) is meant


def test_labels_of_other_machines_are_not_reported_where_all_nodes_have_data() -> None:
    assert findings_of(usage("all-nodes"), NodeNames("worker-1")) == {}


def test_a_node_without_node_exporter_has_no_data() -> None:
    assert findings_of(usage("one-node"))["data-missing"].evidence == ("no data of CPU and memory: worker-2",)
    assert list(findings_of(usage("one-node"))) == ["data-missing"]
    assert findings_of(usage("nothing"))["data-missing"].evidence == ("no data of CPU and memory: worker-1, worker-2",)


def test_memory_can_be_missing_alone() -> None:
    data = usage("all-nodes")
    some = replace(data, memory={"worker-1": data.memory["worker-1"]})
    assert findings_of(some)["data-missing"].evidence == ("no data of memory: worker-2",)
    assert render_usage(some, NODES)[1] == {"name": "worker-2", "cpu": 90.0, "memory": None}


def test_young_data_are_named_with_their_end() -> None:
    data = usage("young")
    findings = findings_of(data)
    assert list(findings) == ["data-young"]
    (row,) = findings["data-young"].evidence
    assert without_numbers((row,)) == ["worker-2: data since TIME, CPU read as N % now, right from TIME"]
    assert 70 < data.cpu["worker-2"][0] < 90  # Its CPUs are used to 10 %.
    (since, right) = ([int(part) for part in clock.split(":")] for clock in re.findall(r"\d\d:\d\d:\d\d", row))
    assert (right[0] * 60 + right[1] - since[0] * 60 - since[1]) % 1440 == 15
    older = replace(data, first={**data.first, "worker-2": data.now - 15 * 60 + 30})
    assert findings_of(older) == {}


def test_very_young_data_have_no_rate_yet() -> None:
    data = usage("young")
    findings = findings_of(replace(data, cpu={"worker-1": data.cpu["worker-1"]}))
    assert list(findings) == ["data-missing", "data-young"]
    assert "no CPU usage now" in findings["data-young"].evidence[0]


def test_data_that_stopped_are_named() -> None:
    findings = findings_of(usage("stopped"))
    assert list(findings) == ["data-stopped"]
    assert without_numbers(findings["data-stopped"].evidence) == [
        "worker-2: last data at TIME, CPU read as N % now, no data from TIME"
    ]


def test_memory_of_two_jobs_is_ambiguous() -> None:
    findings = findings_of(usage("memory-twice"))
    assert list(findings) == ["data-ambiguous"]
    assert findings["data-ambiguous"].evidence == ("worker-1: 20 % or 60 %",)


def test_long_lists_are_shortened() -> None:
    data = usage("young")
    names = [f"worker-2{number}" for number in range(7)]
    many = replace(
        data,
        current=frozenset(names),
        first=dict.fromkeys(names, data.first["worker-2"]),
        cpu=dict.fromkeys(names, data.cpu["worker-2"]),
        memory=dict.fromkeys(names, data.memory["worker-2"]),
    )
    rows = findings_of(many, *map(NodeNames, names))["data-young"].evidence
    assert [row.partition(":")[0] for row in rows] == [*names[:5], "and 2 more"]


def test_the_error_of_prometheus_is_shown() -> None:
    (document,) = recorded_results("refused").values()
    with pytest.raises(NoUsageData, match=r"^it answers with an error: .*parse error: unclosed left parenthesis"):
        parse_response(document)


NOT_PROMETHEUS: list[Any] = [
    [],
    {"status": "ok"},
    {"status": "success"},
    {"status": "success", "data": {"result": [{"metric": {}, "value": []}]}},
    {"status": "success", "data": {"result": [{"metric": {}, "value": [0, "x"]}]}},
    {"status": "success", "data": {"result": []}},
]


@pytest.mark.parametrize("document", NOT_PROMETHEUS)
def test_another_server_is_not_prometheus(document: Any) -> None:
    with pytest.raises(NoUsageData, match=r"does not answer as Prometheus does|answers the query for its time with"):
        read_usage(lambda _query: parse_response(document))


def test_series_without_the_label_are_nobodys() -> None:
    recorded: Mapping[str, Any] = recorded_results("all-nodes")
    bare = {"status": "success", "data": {"result": [{"metric": {}, "value": [0, "7"]}]}}
    data = read_usage(lambda query: parse_response(recorded[NOW] if query == NOW else bare))
    assert list(findings_of(data)) == ["data-missing"]
