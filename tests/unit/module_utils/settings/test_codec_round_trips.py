# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The value that is read back is the rounded value, for any value of any knob."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.module_utils.settings.codec import (
    Backend,
    from_properties,
    parse_texts,
    render_texts,
    rounded_value,
    to_properties,
)
from ansible_collections.volcano.colocation.plugins.module_utils.settings.knob import Kind, Knob
from ansible_collections.volcano.colocation.plugins.module_utils.settings.registry import KNOBS, knob

PAGE = 4096
NAMES = [name.replace("<size>", "2MB") for name in KNOBS]
MODES = [(name, mode) for name in NAMES for mode in ("v1", "v2") if knob(name).interface(mode)]
LIMITS = st.dictionaries(st.sampled_from(["rbps", "wbps", "riops", "wiops"]), st.integers(1, 2**40), min_size=1)


def values(row: Knob) -> st.SearchStrategy[Any]:
    if row.kind is Kind.BOOLEAN:
        return st.booleans()
    if row.kind is Kind.CPUS:
        return st.sets(st.integers(0, 300)).map(lambda items: tuple(sorted(items)))
    if row.kind is Kind.CHOICE:
        return st.sampled_from(row.choices)
    if row.kind is Kind.DEVICES:
        devices = st.dictionaries(st.sampled_from(["8:0", "8:16", "259:1"]), LIMITS)
        return devices.map(lambda items: tuple((name, tuple(sorted(items[name].items()))) for name in sorted(items)))
    numbers = st.integers(row.minimum, min(row.maximum or 0, 2**50))
    return st.none() | numbers if row.unlimited else numbers


def files(row: Knob, mode: str, period: int, quota: int) -> dict[str, str]:
    """The files of a cgroup that another program has set: a quota, a memory limit and a device limit."""
    v1_memory = {"memory.limit_in_bytes": "1073741824\n", "memory.memsw.limit_in_bytes": "2147483648\n"}
    known = {
        "cpu.max": "%d %d\n" % (quota, period),
        "cpu.cfs_quota_us": "%d\n" % quota,
        "cpu.cfs_period_us": "%d\n" % period,
        "io.max": "8:32 rbps=5 wbps=max riops=max wiops=max\n",
        "blkio.throttle.read_bps_device": "8:32 5\n",
        **v1_memory,
    }
    return {name: known.get(name, "") for name in row.files(mode)}


def kernel(row: Knob, written: dict[str, str]) -> dict[str, str]:
    """The files after the kernel's rounding to whole pages and huge pages (mm/page_counter.c, mm/hugetlb_cgroup.c)."""
    granule = 2097152 if row.name.startswith("hugetlb") else PAGE
    if row.kind is not Kind.BYTES:
        return written
    return {
        name: text if text in ("max", "-1") else str(int(text) // granule * granule) for name, text in written.items()
    }


def device_lines(before: str, written: str) -> str:
    """A file of devices after each line of the text was written to it: later lines replace those of their device."""
    lines = {line.split()[0]: line for line in [*before.splitlines(), *written.splitlines()]}
    return "\n".join(line for line in lines.values() if line.split()[1:] != ["0"])


@pytest.mark.parametrize(("name", "mode"), MODES)
@settings(max_examples=25)
@given(data=st.data(), period=st.integers(1000, 1000000), quota=st.integers(1000, 10**9))
def test_a_file_has_the_rounded_value(name: str, mode: str, data: st.DataObject, period: int, quota: int) -> None:
    row = knob(name)
    value = data.draw(values(row))
    current = files(row, mode, period, quota)
    written = kernel(row, render_texts(row, value, mode, current))
    if row.kind is Kind.DEVICES:
        written = {file: device_lines(current[file], written[file]) for file in written}
    after = rounded_value(row, value, mode, Backend.FILE, current)
    assert parse_texts(row, mode, {**current, **written}) == after
    assert rounded_value(row, after, mode, Backend.FILE, {**current, **written}) == after


@pytest.mark.parametrize("name", [name for name in NAMES if knob(name).unit_property])
@settings(max_examples=25)
@given(data=st.data())
def test_a_property_has_the_rounded_value(name: str, data: st.DataObject) -> None:
    row = knob(name)
    value = data.draw(values(row))
    reported: dict[str, Any] = {item.name: item.value for item in to_properties(row, value)}
    after = rounded_value(row, value, "v2", Backend.DBUS, {})
    assert from_properties(row, reported) == after
    assert to_properties(row, after) == to_properties(row, value)


@given(rate=st.integers(10000, 10**9), period=st.integers(1000, 1000000))
def test_the_file_of_a_quota_over_systemd_has_the_rounded_value(rate: int, period: int) -> None:
    """The text that src/core/cgroup.c cgroup_apply_unified_cpu_quota writes for the property."""
    quota = knob("cpu_quota")
    current = {"cpu.max": "max %d" % period}
    stored = rounded_value(quota, rate, "v2", Backend.DBUS, current)
    assert isinstance(stored, int)
    assert stored % 10000 == 0
    assert rate <= stored < rate + 10000
    written = "%d %d" % (max(stored * period // 1000000, 1000), period)
    assert parse_texts(quota, "v2", {"cpu.max": written}) == rounded_value(quota, stored, "v2", Backend.FILE, current)


@given(quota=st.integers(1000, 10**9), period=st.integers(1000, 1000000), other=st.integers(1000, 1000000))
def test_a_quota_is_independent_of_its_period(quota: int, period: int, other: int) -> None:
    """On both versions, to within one microsecond in the new period, and never below the minimum."""
    v2 = render_texts(knob("cpu_period"), other, "v2", {"cpu.max": "%d %d" % (quota, period)})
    v1 = render_texts(
        knob("cpu_period"), other, "v1", {"cpu.cfs_quota_us": str(quota), "cpu.cfs_period_us": str(period)}
    )
    assert v2["cpu.max"].split() == [v1["cpu.cfs_quota_us"], v1["cpu.cfs_period_us"]]
    assert abs(int(v1["cpu.cfs_quota_us"]) - max(quota * other / period, 1000)) <= 1
