# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The knobs that kubelet writes itself, according to its source."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.kubelet_names import Driver, QosClass
from ansible_collections.volcano.colocation.plugins.module_utils.settings.ownership import CgroupLevel, refusal
from ansible_collections.volcano.colocation.plugins.module_utils.settings.registry import KNOBS, knob

OLD, NEW = (1, 35), (1, 37)
PLACES = {
    "root": (CgroupLevel.ROOT, None),
    "guaranteed": (CgroupLevel.QOS_CLASS, QosClass.GUARANTEED),
    "burstable": (CgroupLevel.QOS_CLASS, QosClass.BURSTABLE),
    "besteffort": (CgroupLevel.QOS_CLASS, QosClass.BESTEFFORT),
    "pod": (CgroupLevel.POD, QosClass.BESTEFFORT),
    "container": (CgroupLevel.CONTAINER, QosClass.BESTEFFORT),
    "other": (CgroupLevel.OTHER, None),
}
ABOVE_PODS = {"root", "guaranteed", "burstable", "besteffort"}
AT_ROOT = {"root", "guaranteed"}
IN_KUBEPODS = ABOVE_PODS | {"pod", "container"}


def reason(
    name: str,
    place: str,
    driver: Driver = Driver.SYSTEMD,
    version: tuple[int, int] | None = OLD,
    *,
    static_cpu: bool = False,
    memory_qos: bool | None = None,
) -> str:
    where, qos = PLACES[place]
    return refusal(knob(name), where, qos, driver, version, static_cpu=static_cpu, memory_qos=memory_qos)


def refused(name: str, **other: Any) -> set[str]:
    return {place for place in PLACES if reason(name, place, **other)}


@pytest.mark.parametrize("driver", list(Driver))
@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("cpu_weight", ABOVE_PODS),
        ("cpu_idle", ABOVE_PODS),
        ("memory_max", AT_ROOT),
        ("pids_max", AT_ROOT),
        ("cpuset_cpus", AT_ROOT),
        ("hugetlb_2MB_max", ABOVE_PODS),
        ("memory_min", set()),
        ("memory_low", set()),
    ],
)
def test_where_kubelet_writes(driver: Driver, name: str, places: set[str]) -> None:
    assert refused(name, driver=driver) == places


@pytest.mark.parametrize(
    "name",
    sorted(
        set(KNOBS)
        - {"cpu_weight", "cpu_idle", "memory_max", "pids_max", "cpuset_cpus", "memory_min", "memory_low"}
        - {"hugetlb_<size>_max"}
    ),
)
def test_kubelet_never_writes_the_other_knobs(name: str) -> None:
    """For example cpu.max, memory.high, bursts and io of the QoS classes: no version writes them."""
    for version in (OLD, NEW, None):
        assert refused(name, version=version, memory_qos=True) == set()


@pytest.mark.parametrize("name", ["cpuset_cpus", "cpuset_mems", "cpuset_partition"])
def test_the_static_manager_owns_every_cpuset_of_pods(name: str) -> None:
    assert refused(name, static_cpu=True) == IN_KUBEPODS


@pytest.mark.parametrize("name", ["memory_min", "memory_low"])
@pytest.mark.parametrize(
    ("version", "memory_qos", "places"),
    [
        ((1, 35), None, set()),
        ((1, 35), False, set()),
        ((1, 35), True, {"root", "guaranteed", "burstable"}),
        ((1, 37), None, {"root", "guaranteed", "burstable"}),
        ((1, 37), True, {"root", "guaranteed", "burstable"}),
        ((1, 37), False, {"root", "guaranteed", "burstable"}),
        ((2, 0), None, {"root", "guaranteed", "burstable"}),
        (None, None, {"root", "guaranteed", "burstable"}),
        (None, True, {"root", "guaranteed", "burstable"}),
    ],
)
def test_memory_protection_is_refused_by_version_and_gate_where_kubelet_writes_it(
    name: str, version: Any, memory_qos: Any, places: set[str]
) -> None:
    assert refused(name, version=version, memory_qos=memory_qos) == places


@pytest.mark.parametrize(
    ("name", "place", "other", "words"),
    [
        ("cpu_weight", "root", {}, ["kubelet", "at its start", "kubeReserved"]),
        ("cpu_weight", "burstable", {}, ["every minute", "requests of all burstable pods", "single pods"]),
        ("cpu_weight", "besteffort", {}, ["every minute", "the minimum", "single pods"]),
        ("cpu_idle", "besteffort", {"driver": Driver.CGROUPFS}, ["would not start again", "#136025", "single pods"]),
        ("cpu_idle", "besteffort", {}, ["would not start again", "systemd resets idle", "single pods"]),
        ("memory_max", "root", {}, ["the memory limit", "at its start", "systemReserved"]),
        ("pids_max", "root", {}, ["the limit of tasks", "at its start"]),
        ("hugetlb_1GB_max", "burstable", {}, ["huge pages", "every minute", "single pods"]),
        ("cpuset_cpus", "root", {}, ["all CPUs", "at its start", "reservedSystemCPUs"]),
        ("cpuset_cpus", "pod", {"static_cpu": True}, ["static CPU manager", "every 10 seconds", "cpu_quota"]),
        ("memory_low", "burstable", {"memory_qos": True}, ["MemoryQoS", "every minute", "Turn the feature gate"]),
        (
            "memory_low",
            "burstable",
            {"version": NEW},
            ["at its start", "every minute", "TieredReservation", "your own slice"],
        ),
        ("memory_low", "root", {"version": NEW, "memory_qos": True}, ["at its start", "TieredReservation"]),
        ("memory_low", "burstable", {"version": NEW, "memory_qos": False}, ["at its start", "TieredReservation"]),
        ("memory_low", "burstable", {"version": None}, ["neither its version nor its feature gate", "your own slice"]),
    ],
)
def test_a_reason_names_the_program_the_time_and_an_alternative(
    name: str, place: str, other: Any, words: list[str]
) -> None:
    message = reason(name, place, **other)
    assert [word for word in words if word not in message] == []


def test_the_gate_is_not_an_alternative_from_137_on() -> None:
    """From that version on kubelet resets protection at its start, whether the gate is on (the default) or off."""
    assert "Turn the feature gate" not in reason("memory_low", "burstable", version=NEW)
    assert "Turn the feature gate" in reason("memory_low", "burstable", version=OLD, memory_qos=True)


def test_systemd_does_not_reset_idle_with_cgroupfs() -> None:
    assert "systemd" not in reason("cpu_idle", "besteffort", driver=Driver.CGROUPFS)


def test_texts_are_accepted_in_place_of_enums() -> None:
    message = refusal(
        knob("memory_low"), CgroupLevel.QOS_CLASS, "besteffort", "systemd", NEW, static_cpu=False, memory_qos=None
    )
    assert message == ""
