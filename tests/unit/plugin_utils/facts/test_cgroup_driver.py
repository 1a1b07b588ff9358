# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The drivers of kubelet and the runtime together. The tests of kubelet's and the runtime's facts test each of them."""

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
def test_there_is_a_common_driver_if_both_are_known_and_equal(
    kubelet: Driver | None, runtime: Driver | None, common: Driver | None
) -> None:
    assert DriverFacts(kubelet=kubelet, runtime=runtime).common is common


def test_the_running_driver_takes_precedence_over_the_files() -> None:
    assert DriverFacts(runtime=SYSTEMD, live=CGROUPFS).runtime_now is CGROUPFS
    assert DriverFacts(runtime=SYSTEMD).runtime_now is SYSTEMD


def test_a_driver_for_both_sides_keeps_the_source() -> None:
    facts = DriverFacts(kubelet=CGROUPFS, source="a file", runtime=None)
    assert facts.with_both(SYSTEMD) == DriverFacts(kubelet=SYSTEMD, source="a file", runtime=SYSTEMD)
    assert facts.with_both(None) == facts


@pytest.mark.parametrize(
    ("response", "driver", "later"),
    [
        ({"cgroup_driver": "systemd"}, CGROUPFS, {"cgroup_driver": "cgroupfs"}),
        ({"cgroup_driver": "systemd"}, None, {"cgroup_driver": "systemd"}),
        ({"cgroup_driver": None}, CGROUPFS, {"cgroup_driver": None}),
        ({"error": "unimplemented"}, CGROUPFS, {"error": "unimplemented"}),
        (None, CGROUPFS, None),
    ],
)
def test_a_runtime_that_reports_a_driver_reports_the_new_one(response: Any, driver: Driver | None, later: Any) -> None:
    cri = {"endpoint": "unix:///x.sock", "runtime_config": response}
    assert predict_runtime_config(cri, driver) == {**cri, "runtime_config": later}
