# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Weights of the plugins usage and binpack: from the options to the lines of the configuration."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.readers import read_yaml
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.validators import ProfileError
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.conf_findings import lint
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.target_spec import (
    parse_binpack,
    parse_target_spec,
    parse_usage,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.volcano_conf import (
    Binpack,
    DesiredConf,
    Usage,
    edit_conf,
)
from ansible_collections.volcano.colocation.tests.support.clusters.scheduler_confs import TEXT, WRITTEN
from ansible_collections.volcano.colocation.tests.support.clusters.volcano_clusters import filled, options

GPU = "nvidia.com/gpu"
WITHOUT = "  - name: binpack\n"
ITEM = """\
  - name: binpack   # dense
    arguments:
      binpack.weight: 10
      binpack.resources: example.com/foo,nvidia.com/gpu  # both
      binpack.resources.example.com/foo: 3
"""
DEVICESHARE = """\
  - name: deviceshare   # GPUs
    arguments: {deviceshare.VGPUEnable: true, deviceshare.SchedulePolicy: binpack}
"""


def edited(text: str, **explicit: Any) -> str:
    """The configuration after the edit, which a second edit does not change."""
    desired = parse_target_spec(options(**explicit)).conf
    assert desired
    after = edit_conf(text, desired)
    assert edit_conf(after, desired) == after
    return after


def test_a_plugin_without_arguments_gets_them() -> None:
    after = edited(TEXT, binpack=filled("binpack", weight=10, cpu=5, memory=0, resources={GPU: 2}))
    assert after == WRITTEN + (
        "    arguments:\n      binpack.weight: 10\n      binpack.cpu: 5\n      binpack.memory: 0\n"
        "      binpack.resources: nvidia.com/gpu\n      binpack.resources.nvidia.com/gpu: 2\n"
    )


def test_arguments_that_are_not_set_stay_as_they_are() -> None:
    text = TEXT.replace(WITHOUT, ITEM)
    after = edited(text, binpack=filled("binpack", cpu=5, resources={GPU: 2}))
    assert after == WRITTEN.replace(WITHOUT, f"{ITEM}      binpack.cpu: 5\n      binpack.resources.nvidia.com/gpu: 2\n")
    assert edited(text) == edited(text, binpack=filled("binpack", weight=10)) == WRITTEN.replace(WITHOUT, ITEM)


def test_a_resource_joins_those_that_the_plugin_counts() -> None:
    after = edited(TEXT.replace(WITHOUT, ITEM), binpack=filled("binpack", resources={"a.b/c": 0, GPU: 1}))
    (plugin,) = [item for item in read_yaml(after)["tiers"][1]["plugins"] if item["name"] == "binpack"]
    assert plugin["arguments"] == {
        "binpack.weight": 10,
        "binpack.resources": "example.com/foo, nvidia.com/gpu, a.b/c",
        "binpack.resources.example.com/foo": 3,
        "binpack.resources.a.b/c": 0,
        "binpack.resources.nvidia.com/gpu": 1,
    }


@pytest.mark.parametrize("listed", ["[nvidia.com/gpu]", "null", "''"])
def test_a_list_that_volcano_reads_as_empty_is_replaced(listed: str) -> None:
    item = f"{WITHOUT}    arguments:\n      binpack.resources: {listed}\n"
    after = edited(TEXT.replace(WITHOUT, item), binpack=filled("binpack", resources={GPU: 2}))
    assert read_yaml(after)["tiers"][1]["plugins"][-1]["arguments"] == {
        "binpack.resources": GPU,
        "binpack.resources.nvidia.com/gpu": 2,
    }


@pytest.mark.parametrize(
    ("settings", "lines"),
    [({}, ""), ({"memory": 4}, "    arguments:\n      binpack.memory: 4\n")],
)
def test_a_missing_plugin_is_the_last_of_the_last_tier(settings: dict[str, Any], lines: str) -> None:
    text = TEXT.replace(WITHOUT, "")
    assert edited(text, binpack=filled("binpack", **settings)) == WRITTEN + lines
    assert edited(text) == WRITTEN.replace(WITHOUT, "")


def test_a_new_usage_has_its_weights_and_an_existing_one_gets_those_that_are_set() -> None:
    after = edited(TEXT, usage=filled("usage", weight=7, cpu_weight=2, memory_weight=0))
    item = (
        "  - name: usage\n    arguments:\n      usage.weight: 7\n      cpu.weight: 2\n      memory.weight: 0\n"
        "      thresholds:\n        cpu: 60\n        mem: 60\n"
    )
    assert item in after
    again = edited(after, usage=filled("usage", cpu_weight=3))
    assert again == after.replace("cpu.weight: 2", "cpu.weight: 3")
    assert edited(after, usage=filled("usage")) == after


def test_usage_is_switched_off_and_on_and_nothing_else_changes() -> None:
    settings = {"metrics": filled("metrics", address="http://p:9090"), "binpack": filled("binpack", cpu=2)}
    on = edited(TEXT, usage=filled("usage"), **settings)
    off = edited(on, usage=filled("usage", enabled=False, cpu=1, weight=3))
    assert "usage" in on
    assert off == edited(TEXT, **settings)
    assert edited(off, usage=filled("usage")) == on
    assert edited(TEXT, usage=filled("usage", enabled=False)) == WRITTEN
    twice = WRITTEN + "  # again\n  - name: usage\n  # and again\n  - {name: usage, arguments: {}}\n"
    assert edited(twice, usage=filled("usage", enabled=False)) == WRITTEN


def test_other_plugins_stay_as_they_are_and_have_no_finding() -> None:
    text = TEXT + DEVICESHARE
    everything = {
        "reclaim": True,
        "dropped_actions": ["enqueue"],
        "usage": filled("usage", weight=7),
        "binpack": filled("binpack", weight=10),
    }
    after = edited(text, metrics=filled("metrics", address="http://p:9090"), **everything)
    assert DEVICESHARE in after
    assert [finding.code for finding in lint("here", read_yaml(after))] == ["scheduler-binpack-against-usage"]


def test_weights_have_the_names_of_the_plugins_arguments() -> None:
    assert parse_usage("u", filled("usage", weight=0, memory_weight=4)) == Usage(
        weights={"usage.weight": 0, "memory.weight": 4}
    )
    assert parse_binpack("b", filled("binpack", cpu=0, resources={GPU: "2"})) == Binpack({"binpack.cpu": 0}, {GPU: 2})
    assert parse_target_spec(options()).conf == DesiredConf()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weight": -1}, "b.weight: -1 is negative"),
        ({"memory": -2}, "b.memory: -2 is negative"),
        ({"resources": {"cpu": 1}}, "b.resources.cpu: the plugin ignores it; set b.cpu"),
        ({"resources": {GPU: -1}}, "b.resources.nvidia.com/gpu: -1 is not a whole number from 0"),
        ({"resources": {GPU: 1.5}}, "b.resources.nvidia.com/gpu: 1.5 is not a whole number from 0"),
        ({"resources": {GPU: True}}, "b.resources.nvidia.com/gpu: true is not a whole number from 0"),
        ({"resources": {GPU: "much"}}, "b.resources.nvidia.com/gpu: 'much' is not a whole number from 0"),
        ({"resources": {"a, b": 1}}, "b.resources.a, b: it is not the name of a resource, such as nvidia.com/gpu"),
    ],
)
def test_other_weights_of_binpack_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ProfileError) as error:
        parse_binpack("b", filled("binpack", **settings))
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"cpu_weight": -1}, "u.cpu_weight: -1 is negative"),
        (
            {"cpu_weight": 0, "memory_weight": 0},
            "u.cpu_weight: it and memory_weight are 0; the plugin divides by their sum",
        ),
    ],
)
def test_other_weights_of_usage_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ProfileError) as error:
        parse_usage("u", filled("usage", **settings))
    assert str(error.value) == message
