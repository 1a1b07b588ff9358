# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Contradictions in the scheduler's configuration, each from upstream's file with one change."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.readers import read_yaml
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.conf_findings import (
    ignored_queue_fields,
    lint,
    thresholds_above_watermarks,
    unknown_release,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.target_spec import Watermarks
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.volcano_conf import Usage
from ansible_collections.volcano.colocation.tests.support.clusters.scheduler_confs import TEXT, WRITTEN, in_one_tier

USAGE = "  - name: usage\n    arguments: {thresholds: {cpu: 60, mem: 60}}\n"
PLAIN = TEXT.replace("  - name: binpack\n", "")
ADAPTOR = "metrics: {type: prometheus_adaptor}\n"


def codes(text: str) -> list[str]:
    return [finding.code for finding in lint("here", read_yaml(text))]


def test_upstreams_file_has_no_findings() -> None:
    assert codes(TEXT) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (WRITTEN, ["scheduler-enqueue-blocks-preempt"]),
        (TEXT.replace("backfill", "backfil"), ["scheduler-action-unknown"]),
        (TEXT.replace("drf\n", "drf\n    enableHierarchy: true\n"), ["scheduler-hierarchy-conflict"]),
        (TEXT.replace("- name: proportion", "- name: proportion\n  - name: capacity"), ["scheduler-two-queue-plugins"]),
        (TEXT.replace("nodeorder", "binpack"), ["scheduler-plugin-twice"]),
        (PLAIN + USAGE, ["scheduler-usage-without-metrics"]),
        (PLAIN + USAGE + ADAPTOR, []),
        (PLAIN + USAGE + "metrics: {type: prometheus}\n", ["scheduler-usage-without-metrics"]),
        (PLAIN + USAGE + "metrics: {type: prometheus, address: 'http://p'}\n", []),
        (PLAIN + USAGE + "metrics: {type: prom, address: 'http://p'}\n", ["scheduler-usage-without-metrics"]),
        (PLAIN + USAGE.replace("cpu: 60", "cpu: '60'") + ADAPTOR, ["scheduler-usage-threshold-invalid"]),
        (PLAIN + USAGE.replace("mem: 60", "mem: 60.5") + ADAPTOR, ["scheduler-usage-threshold-invalid"]),
        (PLAIN + USAGE.replace("mem: 60", "mem: 101") + ADAPTOR, ["scheduler-usage-threshold-invalid"]),
        (PLAIN + USAGE.replace("mem: 60", "memory: '6'") + ADAPTOR, []),
        (TEXT.replace("backfill", "reclaim").replace("proportion", "x"), ["scheduler-reclaim-without-queue-plugin"]),
        (TEXT.replace("backfill", "reclaim"), ["scheduler-reclaim-split"]),
        (in_one_tier(TEXT).replace("backfill", "reclaim"), []),
        (in_one_tier(TEXT), []),
        (TEXT + USAGE + ADAPTOR, ["scheduler-binpack-against-usage"]),
    ],
)
def test_each_contradiction_has_its_code(text: str, expected: list[str]) -> None:
    assert codes(text) == expected


def test_hierarchy_in_another_tier_is_not_a_conflict() -> None:
    assert codes(TEXT.replace("- name: conformance", "- name: drf\n    enableHierarchy: true")) == [
        "scheduler-plugin-twice"
    ]


def test_a_threshold_above_the_watermark_fills_nodes_that_evict() -> None:
    (finding,) = thresholds_above_watermarks(Usage(70, 61), Watermarks(80, 60, 30, 30))
    assert (finding.code, finding.evidence) == (
        "scheduler-threshold-above-watermark",
        ("memory: threshold 61, watermark 60",),
    )
    assert thresholds_above_watermarks(Usage(80, 60), Watermarks(80, 60)) == ()
    assert thresholds_above_watermarks(Usage(99, enabled=False), Watermarks(80, 60)) == ()
    assert thresholds_above_watermarks(None, Watermarks(80, 60)) == thresholds_above_watermarks(Usage(99), None) == ()


def test_fields_of_queues_that_no_plugin_uses() -> None:
    fields = {"deserved": ("a",), "parent": ("a", "b"), "weight": ("b",), "reclaimable": ("a",)}
    (finding,) = ignored_queue_fields(read_yaml(TEXT), fields, (1, 14))
    assert finding.evidence == (
        "deserved of a: the plugin capacity is missing",
        "parent of a, b: the plugin capacity with enableHierarchy: true is missing",
        "reclaimable of a: the action reclaim is missing",
    )
    text = TEXT.replace("backfill", "backfill, reclaim").replace(
        "- name: proportion", "- {name: capacity, enableHierarchy: true}"
    )
    (finding,) = ignored_queue_fields(read_yaml(text), fields, (1, 14))
    assert finding.evidence == ("weight of b: capacity divides by deserved, not by weight",)
    assert ignored_queue_fields(read_yaml(text), {"deserved": ("a",)}, (1, 14)) == ()


@pytest.mark.parametrize(
    ("version", "problem"),
    [
        ((1, 8), "is older than 1.9, the first with capacity"),
        (None, "is not known from its image's tag"),
    ],
)
def test_an_old_or_unknown_release_is_reported(version: tuple[int, int] | None, problem: str) -> None:
    (finding,) = unknown_release(version, "vc-scheduler")
    assert finding.summary == (
        f"The scheduler's release {problem}; findings about its configuration may not apply to it."
    )


def test_the_first_release_with_all_plugins_is_not_reported() -> None:
    assert unknown_release((1, 9), "vc-scheduler:v1.9.0") == ()


@pytest.mark.parametrize(("release", "ignored"), [((1, 10), True), ((1, 11), False), (None, False)])
def test_releases_without_a_hierarchy_of_queues_ignore_parents(release: tuple[int, int] | None, ignored: bool) -> None:
    text = TEXT.replace("- name: proportion", "- {name: capacity, enableHierarchy: true}")
    findings = ignored_queue_fields(read_yaml(text), {"parent": ("a",)}, release)
    evidence = ("parent of a: Volcano has a hierarchy of queues from 1.11 on",)
    assert [finding.evidence for finding in findings] == ([evidence] if ignored else [])
