# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The drivers of both sides together. What decides each of them is tested with kubelet's and the runtime's facts."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.kubelet_names import Driver
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.cgroup_driver import predict_runtime_config
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.node_state import DriverFacts

SYSTEMD, CGROUPFS = Driver.SYSTEMD, Driver.CGROUPFS


@pytest.mark.parametrize(
    ("kubelet", "runtime", "common"),
    [
        (SYSTEMD, SYSTEMD, SYSTEMD),
        (SYSTEMD, CGROUPFS, None),
        (SYSTEMD, None, None),
        (None, SYSTEMD, None),
        (None, None, None),
    ],
)
def test_both_sides_agree_where_both_are_known_and_the_same(
    kubelet: Driver | None, runtime: Driver | None, common: Driver | None
) -> None:
    assert DriverFacts(kubelet=kubelet, runtime=runtime).common is common


def test_what_runs_counts_more_than_the_files() -> None:
    assert DriverFacts(runtime=SYSTEMD, live=CGROUPFS).runtime_now is CGROUPFS
    assert DriverFacts(runtime=SYSTEMD).runtime_now is SYSTEMD


def test_a_driver_for_both_sides_leaves_who_said_so() -> None:
    found = DriverFacts(kubelet=CGROUPFS, source="a file", runtime=None)
    assert found.with_both(SYSTEMD) == DriverFacts(kubelet=SYSTEMD, source="a file", runtime=SYSTEMD)
    assert found.with_both(None) == found


@pytest.mark.parametrize(
    ("answer", "driver", "later"),
    [
        ({"cgroup_driver": "systemd"}, CGROUPFS, {"cgroup_driver": "cgroupfs"}),
        ({"cgroup_driver": "systemd"}, None, {"cgroup_driver": "systemd"}),
        ({"cgroup_driver": None}, CGROUPFS, {"cgroup_driver": None}),
        ({"error": "unimplemented"}, CGROUPFS, {"error": "unimplemented"}),
        (None, CGROUPFS, None),
    ],
)
def test_a_runtime_answers_later_as_far_as_it_does_now(answer: Any, driver: Driver | None, later: Any) -> None:
    cri = {"endpoint": "unix:///x.sock", "runtime_config": answer}
    assert predict_runtime_config(cri, driver) == {**cri, "runtime_config": later}
