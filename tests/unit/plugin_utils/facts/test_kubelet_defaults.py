# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Null and empty fields of kubelet's files, which kubelet reads as not set."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.tests.unit.plugin_utils.facts.test_kubelet_layers import (
    TYPE,
    evidence,
    facts,
    value,
)


def test_an_empty_text_of_a_dropin_resets_to_the_default() -> None:
    found = facts(evidence("1.35.0", "cgroupDriver: systemd\n", a=TYPE + 'cgroupDriver: ""\n'))
    assert value(found, "cgroupDriver") == ("cgroupfs", "kubelet's default")


DEFAULTED = {
    "cpuManagerPolicy": "none",
    "topologyManagerPolicy": "none",
    "topologyManagerScope": "container",
    "memoryManagerPolicy": "None",
    "memoryThrottlingFactor": "0.9",
    "failCgroupV1": "true",
    "podPidsLimit": "-1",
    "readOnlyPort": "0",
    "cgroupsPerQOS": "true",
    "failSwapOn": "true",
}


@pytest.mark.parametrize("key", DEFAULTED)
def test_null_is_the_default_of_every_field_that_has_one(key: str) -> None:
    assert value(facts(evidence("1.35.0", f"{key}: null\n")), key) == (DEFAULTED[key], "kubelet's default")


@pytest.mark.parametrize("key", ["systemReserved", "enforceNodeAllocatable", "featureGates", "reservedMemory"])
def test_null_is_nothing_where_a_field_has_no_default_here(key: str) -> None:
    assert key not in facts(evidence("1.35.0", f"{key}: null\n")).settings
