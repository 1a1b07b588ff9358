# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The scheduler's configuration gets the settings for colocation, and every other line stays."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.readers import read_yaml
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.text_errors import EditError
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.volcano_conf import (
    DesiredConf,
    Metrics,
    Usage,
    edit_conf,
    order_actions,
    parse_actions,
    plugins_named,
)
from ansible_collections.volcano.colocation.tests.support.clusters.scheduler_confs import TEXT, WRITTEN, in_one_tier


@pytest.mark.parametrize(
    ("current", "dropped", "after"),
    [
        ("", "", "allocate, backfill, preempt"),
        ("enqueue, allocate, backfill", "", "enqueue, allocate, backfill, preempt"),
        ("enqueue,allocate,preempt, reclaim ,backfill", "", "enqueue, allocate, backfill, preempt, reclaim"),
        ("enqueue, allocate, backfill, reclaim", "enqueue", "allocate, backfill, reclaim, preempt"),
        ("preempt, shuffle, allocate, elect", "", "allocate, elect, backfill, preempt, shuffle"),
        ("allocate, backfill, preempt, allocate", "", "allocate, backfill, preempt"),
    ],
)
def test_the_needed_actions_are_ordered_and_others_keep_their_position(current: str, dropped: str, after: str) -> None:
    assert ", ".join(order_actions(parse_actions(current), parse_actions(dropped))) == after


@pytest.mark.parametrize(
    ("current", "dropped", "after"),
    [
        ("enqueue, allocate, backfill", "enqueue", "allocate, backfill, preempt, reclaim"),
        ("allocate, backfill, preempt, shuffle", "", "allocate, backfill, preempt, reclaim, shuffle"),
        ("enqueue, allocate, backfill, reclaim, preempt", "", "enqueue, allocate, backfill, reclaim, preempt"),
        ("reclaim, allocate", "", "reclaim, allocate, backfill, preempt"),
    ],
)
def test_reclaim_follows_preempt_and_an_existing_one_stays(current: str, dropped: str, after: str) -> None:
    text = in_one_tier(WRITTEN).replace("enqueue, allocate, backfill, preempt", current)
    desired = DesiredConf(parse_actions(dropped), reclaim=True)
    once = edit_conf(text, desired)
    assert once == in_one_tier(WRITTEN).replace("enqueue, allocate, backfill, preempt", after)
    assert edit_conf(once, desired) == once


@pytest.mark.parametrize("actions", ["allocate,backfill,preempt", "enqueue, allocate, backfill, preempt, reclaim"])
def test_a_correct_order_keeps_its_spelling(actions: str) -> None:
    text = WRITTEN.replace("enqueue, allocate, backfill, preempt", actions)
    assert edit_conf(text, DesiredConf()) == text


def test_upstreams_file_gets_what_colocation_needs() -> None:
    assert edit_conf(TEXT, DesiredConf()) == WRITTEN


def test_a_second_edit_changes_nothing() -> None:
    desired = DesiredConf(
        ("enqueue",), Usage(50, 70, False), Metrics("prometheus", "http://prometheus.monitoring.svc:9090")
    )
    once = edit_conf(TEXT, desired)
    assert edit_conf(once, desired) == once
    document = read_yaml(once)
    assert document["actions"] == "allocate, backfill, preempt"
    (usage,) = plugins_named(document, "usage")
    assert (usage.tier, usage.index) == (0, 3)
    assert usage.settings == {
        "name": "usage",
        "enablePredicate": False,
        "arguments": {"thresholds": {"cpu": 50, "mem": 70}},
    }
    assert document["metrics"] == {
        "type": "prometheus",
        "interval": "30s",
        "address": "http://prometheus.monitoring.svc:9090",
    }


def test_priority_comes_first_from_wherever_it_is() -> None:
    text = TEXT.replace("  - name: priority\n", "").replace(
        "  - name: drf\n", "  # why here?\n  - name: priority\n  - name: drf\n"
    )
    after = edit_conf(text, DesiredConf())
    assert after == WRITTEN.replace("  - name: priority\n", "  # why here?\n  - name: priority\n")
    assert edit_conf(TEXT.replace("  - name: priority\n", ""), DesiredConf()) == WRITTEN


def test_an_existing_gang_is_changed_and_none_is_added() -> None:
    text = TEXT.replace("enablePreemptable: false\n  - name: conf", "enablePreemptable: true # hm\n  - name: conf")
    assert "    enablePreemptable: false # hm\n    enableJobStarving: false\n" in edit_conf(text, DesiredConf())
    without = TEXT.replace("  - name: gang   # all of a job or nothing\n    enablePreemptable: false\n", "")
    assert "gang" not in edit_conf(without, DesiredConf())


def test_thresholds_of_an_existing_usage_are_set_and_its_weights_stay() -> None:
    item = (
        "  - name: usage\n    enablePredicate: false\n    arguments:\n      usage.weight: 5\n"
        "      thresholds:\n        cpu: 80 # so\n"
    )
    text = TEXT.replace("  - name: overcommit\n", item + "  - name: overcommit\n")
    after = edit_conf(text, DesiredConf(usage=Usage()))
    new = item.replace("cpu: 80 # so\n", "cpu: 60 # so\n        mem: 60\n").replace(
        "Predicate: false", "Predicate: true"
    )
    assert after == WRITTEN.replace("  - name: overcommit\n", new + "  - name: overcommit\n")


def test_an_adaptor_needs_no_address_and_an_existing_one_stays() -> None:
    text = TEXT + "metrics:\n  address: http://old:9090\n  tls: kept\n"
    document = read_yaml(edit_conf(text, DesiredConf(metrics=Metrics("prometheus_adaptor", interval="1m"))))
    assert document["metrics"] == {
        "type": "prometheus_adaptor",
        "interval": "1m",
        "address": "http://old:9090",
        "tls": "kept",
    }


@pytest.mark.parametrize(
    "text", ["", "actions: allocate\n", "tiers: {}\n", "tiers:\n- plugins: []\n", "tiers:\n- plugins: [gang]\n"]
)
def test_a_text_without_plugins_is_refused(text: str) -> None:
    with pytest.raises(EditError):
        edit_conf(text, DesiredConf())


def test_plugins_in_brackets_are_refused_with_their_line() -> None:
    with pytest.raises(EditError) as error:
        edit_conf("actions: allocate\ntiers:\n- plugins: [{name: gang}]\n", DesiredConf())
    assert error.value.line == 3
