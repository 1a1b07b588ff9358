# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Percentages of both systems: their defaults, their ranges, and errors for values out of range."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.validators import ProfileError
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.target_spec import (
    Watermarks,
    parse_metrics,
    parse_usage,
    parse_watermarks,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.volcano_conf import Metrics, Usage
from ansible_collections.volcano.colocation.tests.support.clusters.volcano_clusters import filled


def test_the_defaults_are_those_of_the_two_systems() -> None:
    assert parse_watermarks("w", {}, "volcano") == Watermarks(80, 60, 30, 30)
    assert parse_watermarks("w", {"cpu_high": None}, "openfuyao") == Watermarks(60, 60)
    assert parse_watermarks("w", {"cpu_high": 0, "memory_high": 99}, "openfuyao") == Watermarks(0, 99)


@pytest.mark.parametrize(
    ("settings", "system", "message"),
    [
        ({"cpu_high": 30}, "volcano", "w.cpu_low: 30 is not below cpu_high, 30: eviction would never end"),
        ({"memory_low": 70}, "volcano", "w.memory_low: 70 is not below memory_high, 60: eviction would never end"),
        ({"cpu_high": 101}, "volcano", "w.cpu_high: 101 is not a percentage from 1 to 100"),
        ({"cpu_low": 0}, "volcano", "w.cpu_low: 0 is not a percentage from 1 to 100"),
        ({"cpu_high": 100}, "openfuyao", "w.cpu_high: 100 is not from 0 to 99"),
        ({"memory_high": -1}, "openfuyao", "w.memory_high: -1 is not from 0 to 99"),
        ({"cpu_low": 5}, "openfuyao", "w.cpu_low: openFuyao has one watermark per resource: cpu_high, memory_high"),
    ],
)
def test_what_an_agent_would_refuse_is_refused(settings: dict[str, int | None], system: str, message: str) -> None:
    with pytest.raises(ProfileError) as error:
        parse_watermarks("w", settings, system)
    assert str(error.value) == message


@pytest.mark.parametrize(("cpu", "memory"), [(0, 0), (100, 100), (60, 60)])
def test_thresholds_are_percentages(cpu: int, memory: int) -> None:
    assert parse_usage("u", filled("usage", cpu=cpu, memory=memory)) == Usage(cpu, memory)


@pytest.mark.parametrize(("cpu", "memory", "name"), [(-1, 60, "cpu"), (60, 101, "memory")])
def test_other_thresholds_are_refused(cpu: int, memory: int, name: str) -> None:
    with pytest.raises(ProfileError, match=rf"u\.{name}: .* from 0 to 100"):
        parse_usage("u", filled("usage", cpu=cpu, memory=memory))


@pytest.mark.parametrize("interval", ["30s", "1m30s", "500ms", "1.5h"])
def test_a_source_of_metrics_is_read_with_address_and_interval(interval: str) -> None:
    expected = Metrics("prometheus", "http://p:9090", interval)
    assert parse_metrics("m", expected.kind, expected.address, interval) == expected
    assert parse_metrics("m", "prometheus_adaptor", "", interval) == Metrics("prometheus_adaptor", "", interval)


@pytest.mark.parametrize(
    ("kind", "address", "interval", "message"),
    [
        ("prometheus", "", "30s", "m.address: it is empty; prometheus needs one"),
        (
            "elasticsearch",
            "es:9200",
            "30s",
            "m.address: es:9200 is not an http:// or https:// address; elasticsearch needs one",
        ),
        ("prometheus", "http://p", "30", "m.interval: 30 is not a duration such as 30s or 1m"),
        ("prometheus", "http://p", "", "m.interval:  is not a duration such as 30s or 1m"),
    ],
)
def test_another_source_is_refused(kind: str, address: str, interval: str, message: str) -> None:
    with pytest.raises(ProfileError) as error:
        parse_metrics("m", kind, address, interval)
    assert str(error.value) == message
