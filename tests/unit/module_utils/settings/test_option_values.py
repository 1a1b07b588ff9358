# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values as users write them, with their units."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.module_utils.errors import ColocationError
from ansible_collections.volcano.colocation.plugins.module_utils.settings.option_values import (
    Capacity,
    describe_values,
    device_paths,
    parse_value,
)
from ansible_collections.volcano.colocation.plugins.module_utils.settings.registry import knob

NODE = Capacity(cpus=8, memory=32 * 2**30, devices={"/dev/sda": "8:0"})

ACCEPTED = [
    ("cpu_weight", 200, 200),
    ("cpu_weight", "200", 200),
    ("cpu_weight", 200.0, 200),
    ("cpu_idle", True, True),
    ("cpu_idle", "no", False),
    ("cpu_idle", "True", True),
    ("cpu_idle", 1, True),
    ("cpu_quota", "max", None),
    ("cpu_quota", 2, 2000000),
    ("cpu_quota", 2.5, 2500000),
    ("cpu_quota", "2.5", 2500000),
    ("cpu_quota", "1500m", 1500000),
    ("cpu_quota", "50%", 4000000),
    ("cpu_quota", "12.5%", 1000000),
    ("cpu_quota", "250000us", 2500000),
    ("cpu_quota", "1000us", 10000),
    ("cpu_quota", 0.0123456, 12346),
    ("cpu_period", 50000, 50000),
    ("cpu_period", "50ms", 50000),
    ("cpu_period", "1s", 1000000),
    ("cpu_burst", "20000us", 20000),
    ("cpu_burst", 0, 0),
    ("cpuset_cpus", "0-2,8", (0, 1, 2, 8)),
    ("cpuset_cpus", [3, 1], (1, 3)),
    ("cpuset_cpus", ["0-1", 4], (0, 1, 4)),
    ("cpuset_cpus", 5, (5,)),
    ("cpuset_cpus", "", ()),
    ("cpuset_mems", "0", (0,)),
    ("cpuset_partition", "isolated", "isolated"),
    ("memory_high", "4Gi", 4294967296),
    ("memory_high", "500M", 500000000),
    ("memory_high", 8192, 8192),
    ("memory_high", "25%", 8589934592),
    ("memory_high", " max ", None),
    ("memory_low", 0, 0),
    ("memory_max", "1.5Gi", 1610612736),
    ("memory_oom_group", "yes", True),
    ("pids_max", "max", None),
    ("pids_max", 512, 512),
    ("io_weight", 10000, 10000),
    ("cpu_qos_level", -1, -1),
    ("cpu_qos_level", "-2", -2),
    ("memory_qos_level", -1, -1),
    ("cpu_bvt_warp_ns", 2, 2),
    ("hugetlb_2MB_max", "1Gi", 1073741824),
    (
        "io_max",
        {"/dev/sda": {"wiops": 100, "rbps": "10M"}, "259:1": {"rbps": "max"}},
        (("8:0", (("rbps", 10000000), ("wiops", 100))),),
    ),
    ("io_max", {}, ()),
]


@pytest.mark.parametrize(("name", "written", "value"), ACCEPTED)
def test_a_value_is_parsed(name: str, written: Any, value: Any) -> None:
    result = parse_value(knob(name), written, NODE)
    assert result == value
    assert type(result) is type(value)


def test_microseconds_are_a_part_of_the_current_period() -> None:
    assert parse_value(knob("cpu_quota"), "25000us", NODE, period=50000) == 500000


def test_a_percentage_may_be_of_a_reservation() -> None:
    assert parse_value(knob("cpu_quota"), "50%", Capacity(0.5, 2**30)) == 250000
    assert parse_value(knob("memory_max"), "50%", Capacity(0.5, 2**30)) == 536870912


REFUSED = [
    ("cpu_weight", 0, "0 is out of range", "(weight) from 1 to 10000"),
    ("cpu_weight", 10001, "10001 is out of range", "(weight) from 1 to 10000"),
    ("cpu_weight", 1.5, "'1.5' is not a whole number", "(weight) from 1 to 10000"),
    ("cpu_weight", True, "true is not a number or an amount", "(weight)"),
    ("cpu_weight", "max", "'max' is not a whole number", "(weight)"),
    ("cpu_weight", None, "null is not a number or an amount", "(weight)"),
    ("cpu_idle", 2, "2 is neither true nor false", "true or false"),
    ("cpu_quota", "150%", "150% is more than 100%", "2.5, 1500m, 50%"),
    ("cpu_quota", "two", "'two' is not a Kubernetes quantity", "CPUs, at most 8192"),
    ("cpu_quota", "0.001", "1000 microseconds in a period of 100000", "CPUs"),
    ("cpu_quota", 0, "smallest quota, 1000 microseconds", "CPUs"),
    ("cpu_quota", -1, "smallest quota, 1000 microseconds", "or max"),
    ("cpu_quota", 250000, "250000 is out of range", "250000us"),
    ("cpu_quota", "-5us", "'-5us' is not a time", "CPUs"),
    ("cpu_period", 999, "999 is out of range", "microseconds from 1000 to 1000000"),
    ("cpu_period", "2s", "2000000 is out of range", "microseconds"),
    ("cpu_burst", "50%", "'50%' is not a time such as 20000", "microseconds"),
    ("cpuset_cpus", "3-1", "3-1 runs backwards", "numbers of CPUs"),
    ("cpuset_cpus", None, "null is not a list", "numbers of CPUs"),
    ("cpuset_mems", "one", "'one' is not a CPU list", "numbers of memory nodes"),
    ("cpuset_partition", "exclusive", "'exclusive' is unknown", "one of member, root, isolated"),
    ("memory_high", "4GB", "'4GB' is not a Kubernetes quantity", "4Gi"),
    ("memory_high", "100m", "'100m' is not a whole number of bytes", "bytes"),
    ("memory_high", 4095, "4095 is out of range", "from 4096"),
    ("memory_max", -1, "-1 is out of range", "or max"),
    ("memory_max", "101%", "more than 100%", "bytes"),
    ("pids_max", 0, "0 is out of range", "(tasks) from 1 to 4194304, or max"),
    ("cpu_qos_level", 3, "3 is out of range", "(level) from -2 to 2"),
    ("io_max", {"/dev/sdb": {"rbps": 1}}, "/dev/sdb is not a block device of this node", "/dev/sda or 8:0"),
    ("io_max", {"8:0": {"bps": 1}}, '8:0: {"bps": 1} is not a mapping of limits', "rbps, wbps"),
    ("io_max", {"8:0": {"rbps": 0}}, "8:0: rbps of 0 is out of range", "each at least 1"),
    ("io_max", {"8:0": 5}, "8:0: 5 is not a mapping of limits", "rbps"),
    ("io_max", "8:0 rbps=1", "is not a mapping of devices", "a mapping of devices"),
]


@pytest.mark.parametrize(("name", "written", "what", "remedy"), REFUSED)
def test_an_error_names_the_knob_the_value_and_the_range(name: str, written: Any, what: str, remedy: str) -> None:
    with pytest.raises(ColocationError) as caught:
        parse_value(knob(name), written, NODE)
    assert caught.value.message.startswith(name + ": ")
    assert what in caught.value.message
    assert remedy in caught.value.remedy


@given(written=st.one_of(st.text(max_size=12), st.integers(), st.floats(), st.none(), st.lists(st.text(max_size=3))))
def test_any_text_is_parsed_or_refused_with_the_allowed_values(written: Any) -> None:
    for name in ("cpu_weight", "cpu_quota", "cpu_burst", "memory_max", "cpuset_cpus", "io_max", "cpu_idle"):
        try:
            parse_value(knob(name), written, NODE)
        except ColocationError as error:
            remedy = error.remedy
        else:
            continue
        assert describe_values(knob(name)) in remedy


def test_device_paths() -> None:
    assert device_paths({"/dev/sda": {}, "8:16": {}}) == ("/dev/sda",)
    assert device_paths("nonsense") == ()
