# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that an agent cannot have are refused with the name of their variable, before the API server is used."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.features import Feature, parse_release
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.module_options import parse_deploy_options
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.validators import ProfileError
from ansible_collections.volcano.colocation.tests.support.clusters.agent_clusters import arguments, options

MEMORY = {"name": "offline", "namespace": "batch", "selector": {"matchLabels": {"app": "x"}}}


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        (
            {"watermarks": {"cpu_high": 30, "cpu_low": 80}},
            "colocation_agent_watermarks: evictingCPULowWatermark 80 has to be less than evictingCPUHighWatermark 30",
        ),
        (
            {"watermarks": {"memory_high": 50, "memory_low": 50}},
            "colocation_agent_watermarks: evictingMemoryLowWatermark 50 has to be less than"
            " evictingMemoryHighWatermark 50",
        ),
        ({"watermarks": {"cpu_high": 101}}, "colocation_agent_watermarks: cpu_high: 101 is not from 1 to 100"),
        ({"watermarks": {"cpu_low": 0}}, "colocation_agent_watermarks: cpu_low: 0 is not from 1 to 100"),
        (
            {"watermarks": {"system": "openfuyao", "cpu_high": 100}},
            "colocation_agent_watermarks: cpu_high: 100 is not from 0 to 99",
        ),
        (
            {"watermarks": {"system": "openfuyao", "memory_low": 30}},
            "colocation_agent_watermarks: memory_low is set, and openFuyao has no low watermarks; do not set it",
        ),
        ({"throttling": {"threshold": 120}}, "colocation_agent_throttling: threshold: 120 is not from 1 to 100"),
        ({"network": {"check_interval": 0}}, "colocation_agent_network: check_interval: 0 is less than 1"),
        ({"oversubscription_ratio": 0}, "colocation_agent_oversubscription_ratio: 0 is not from 1 to 100"),
        ({"port": 80}, "colocation_agent_port: 80 is not from 1024 to 65535"),
        ({"image": ""}, "colocation_agent_image: it is empty, and the agent needs an image"),
        (
            {"memory_qos": [{**MEMORY, "min_ratio": 101}]},
            "colocation_agent_memory_qos, offline: min_ratio: 101 is not from 0 to 100",
        ),
        ({"memory_qos": [MEMORY, MEMORY]}, "colocation_agent_memory_qos: batch/offline is listed twice"),
        (
            {"pools": [{"name": "a", "nodes": ["n1"]}, {"name": "b", "nodes": ["n1", "n2"]}]},
            "colocation_agent_pools: hosts are in two pools: n1 (a and b); keep each host in only one of them",
        ),
        (
            {"pools": [{"name": "a", "nodes": ["batch"]}, {"name": "b", "nodes": ["n3"]}]},
            "colocation_agent_pools: hosts are in two pools: n3 (a and b); keep each host in only one of them",
        ),
        (
            {"pools": [{"name": "a", "nodes": ["n9"]}]},
            "colocation_agent_pools: a: the inventory has no host or group 'n9'",
        ),
        (
            {"pools": [{"name": "a", "nodes": []}, {"name": "a", "nodes": []}]},
            "colocation_agent_pools: two pools have the name a",
        ),
        (
            {"pools": [{"name": "Batch", "nodes": []}]},
            "colocation_agent_pools: 'Batch' is not a valid name: use 1 to 20 characters of a-z, 0-9 and -, with no -"
            " at the ends",
        ),
        (
            {"pools": [{"name": "a", "nodes": ["n1"], "watermarks": {"cpu_high": 0}}]},
            "colocation_agent_pools, a: cpu_high: 0 is not from 1 to 100",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_options_that_are_not_possible_are_refused(variables: dict[str, Any], message: str) -> None:
    with pytest.raises(ProfileError) as refused:
        options(**variables)
    assert str(refused.value) == message


def test_an_unknown_feature_is_refused_with_the_known_ones() -> None:
    all_options = {**arguments(), "features": ["Eviction", "Teleport"]}
    with pytest.raises(
        ProfileError, match=r"unknown features: Teleport; allowed are OverSubscription, Eviction, .*NetworkQoS$"
    ):
        parse_deploy_options(all_options, {"all": ["n1"]})


def test_features_have_the_order_of_the_agent() -> None:
    assert options(features=["Resources", "OverSubscription"]).features == (Feature.OVERSUBSCRIPTION, Feature.RESOURCES)


def test_a_group_is_replaced_by_its_hosts_without_duplicates() -> None:
    assert options(pools=[{"name": "a", "nodes": ["batch", "n2"]}]).pools[0].hosts == ("n2", "n3")


def test_settings_become_the_agents_own_keys() -> None:
    variables = options(
        watermarks={"cpu_high": 70, "cpu_low": 20},
        oversubscription={"types": ["cpu", "memory"]},
        throttling={"jitter_limit": 0},
    )
    assert variables.common == {
        ("evictingConfig", "evictingCPUHighWatermark"): 70,
        ("evictingConfig", "evictingCPULowWatermark"): 20,
        ("cpuThrottlingConfig", "cpuJitterLimitPercent"): 0,
        ("overSubscriptionConfig", "overSubscriptionTypes"): "cpu,memory",
    }


@pytest.mark.parametrize(
    ("image", "version", "release"),
    [
        ("docker.io/volcanosh/vc-agent:v1.14.0", "", (1, 14)),
        ("registry:5000/vc-agent:v1.15.0-alpha.1@sha256:abc", "", (1, 15)),
        ("registry:5000/vc-agent:latest", "1.14", (1, 14)),
        ("vc-agent@sha256:abc", "v1.13.2", (1, 13)),
        ("vc-agent:v1.14.0", "v1.11.0-network-topology-preview.3", (1, 11)),
    ],
)
def test_the_release_is_that_of_the_variable_or_of_the_tag(image: str, version: str, release: tuple[int, int]) -> None:
    assert parse_release(image, version) == release


@pytest.mark.parametrize("image", ["vc-agent", "registry:5000/vc-agent", "vc-agent:latest", "vc-agent@sha256:1.14"])
def test_an_image_without_a_release_is_refused(image: str) -> None:
    with pytest.raises(ProfileError, match=r"does not contain a release.*colocation_agent_version, such as v1\.14\.0"):
        parse_release(image, "")


def test_a_release_without_an_agent_is_refused() -> None:
    with pytest.raises(ProfileError, match=r"Volcano 1\.10 has no agent; the first release with an agent is 1\.11"):
        parse_release("vc-agent:v1.10.0", "")


def test_an_invalid_version_is_refused() -> None:
    with pytest.raises(ProfileError, match=r"^colocation_agent_version: 'new' is not a version"):
        parse_release("vc-agent:v1.14.0", "new")


@pytest.mark.parametrize(
    ("watermarks", "expected"),
    [
        ({}, (60, 61, 60, 61)),
        ({"cpu_high": 99, "memory_high": 0}, (99, 100, 1, 2)),
        ({"cpu_high": 1, "memory_high": 70}, (1, 2, 70, 71)),
    ],
)
def test_watermarks_of_openfuyao_become_those_of_volcano(watermarks: dict[str, int], expected: tuple[int, ...]) -> None:
    """openFuyao evicts above its watermark, Volcano from its high one on, and takes pods again up to its low one."""
    common = options(watermarks={"system": "openfuyao", **watermarks}).common
    keys = ("CPULow", "CPUHigh", "MemoryLow", "MemoryHigh")
    assert tuple(common["evictingConfig", f"evicting{key}Watermark"] for key in keys) == expected


def test_watermarks_without_a_system_are_those_of_volcano() -> None:
    watermarks = {"cpu_high": 60}
    assert options(watermarks=watermarks).common == options(watermarks={"system": "volcano", **watermarks}).common
