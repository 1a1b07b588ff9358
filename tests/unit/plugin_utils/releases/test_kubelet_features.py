# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of the CPU and topology manager by version, gate and pair; the gate with which kubelet asks the CRI."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.releases.kubelet_features import (
    CPU_MANAGER,
    TOPOLOGY_MANAGER,
    asks_cri,
    option_conflicts,
    option_errors,
    parse_bool,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.releases.versions import Version

NO_CORES = "Kubernetes 1.30 has no option distribute-cpus-across-cores"
ALPHA = {"CPUManagerPolicyAlphaOptions": True}


@pytest.mark.parametrize(
    ("options", "gates", "version", "errors"),
    [
        ({}, {}, (1, 20), []),
        (
            {"full-pcpus-only": "true"},
            {},
            (1, 21),
            ["the gate CPUManagerPolicyOptions is off", "Kubernetes 1.21 has no option full-pcpus-only"],
        ),
        (
            {"full-pcpus-only": "true"},
            {"CPUManagerPolicyOptions": True},
            (1, 22),
            ["full-pcpus-only needs the gate CPUManagerPolicyAlphaOptions"],
        ),
        ({"full-pcpus-only": "true"}, {}, (1, 23), []),
        (
            {"full-pcpus-only": "true"},
            {"CPUManagerPolicyBetaOptions": "false"},
            (1, 30),
            ["full-pcpus-only needs the gate CPUManagerPolicyBetaOptions"],
        ),
        ({"full-pcpus-only": "true"}, {"CPUManagerPolicyBetaOptions": "false"}, (1, 33), []),
        (
            {"distribute-cpus-across-numa": "true"},
            {},
            (1, 32),
            ["distribute-cpus-across-numa needs the gate CPUManagerPolicyAlphaOptions"],
        ),
        ({"distribute-cpus-across-numa": "true"}, ALPHA, (1, 32), []),
        ({"distribute-cpus-across-numa": "true"}, {}, (1, 33), []),
        ({"align-by-socket": "true"}, ALPHA, (1, 25), []),
        ({"distribute-cpus-across-cores": "1"}, ALPHA, (1, 31), []),
        ({"distribute-cpus-across-cores": "1"}, ALPHA, (1, 30), [NO_CORES]),
        ({"strict-cpu-reservation": "true"}, {}, (1, 33), []),
        ({"strict-cpu-reservation": "yes"}, {}, (1, 35), ["strict-cpu-reservation=yes is neither true nor false"]),
        ({"prefer-align-cpus-by-uncorecache": "f"}, {}, (1, 36), []),
        ({"full-pcpus": "true"}, {}, (1, 36), ["Kubernetes 1.36 has no option full-pcpus"]),
    ],
)  # fmt: skip
def test_options_of_the_cpu_manager_are_checked_by_gate_and_version(
    options: dict[str, object], gates: dict[str, object], version: Version, errors: list[str]
) -> None:
    assert list(option_errors(CPU_MANAGER, options, gates, version)) == errors


@pytest.mark.parametrize(
    ("options", "version", "errors"),
    [
        (
            {"prefer-closest-numa-nodes": "true"},
            (1, 27),
            [
                "the gate TopologyManagerPolicyOptions is off",
                "prefer-closest-numa-nodes needs the gate TopologyManagerPolicyAlphaOptions",
            ],
        ),
        ({"prefer-closest-numa-nodes": "true"}, (1, 28), []),
        ({"max-allowable-numa-nodes": "16"}, (1, 31), []),
        ({"max-allowable-numa-nodes": "4"}, (1, 35), ["max-allowable-numa-nodes=4 is not a number of 8 or more"]),
        ({"max-allowable-numa-nodes": "x"}, (1, 35), ["max-allowable-numa-nodes=x is not a number of 8 or more"]),
    ],
)
def test_options_of_the_topology_manager_are_checked_by_version(
    options: dict[str, object], version: Version, errors: list[str]
) -> None:
    assert list(option_errors(TOPOLOGY_MANAGER, options, {}, version)) == errors


@pytest.mark.parametrize(
    ("options", "policy", "conflicts"),
    [
        ({"full-pcpus-only": "true", "distribute-cpus-across-numa": "true"}, None, []),
        ({"full-pcpus-only": "true", "distribute-cpus-across-cores": "false"}, None, []),
        (
            {"full-pcpus-only": "true", "distribute-cpus-across-cores": "true"},
            None,
            ["full-pcpus-only and distribute-cpus-across-cores exclude each other"],
        ),
        ({"align-by-socket": "true"}, "restricted", []),
        (
            {"align-by-socket": "true"},
            "single-numa-node",
            ["align-by-socket cannot be combined with topologyManagerPolicy single-numa-node"],
        ),
    ],
)
def test_pairs_of_options_that_exclude_each_other_are_conflicts(
    options: dict[str, object], policy: str | None, conflicts: list[str]
) -> None:
    assert list(option_conflicts(options, policy)) == conflicts


@pytest.mark.parametrize(
    ("value", "on"), [(True, True), (False, False), ("T", True), ("0", False), ("on", None), (1, True)]
)
def test_booleans_are_read_as_in_go(value: object, on: bool | None) -> None:
    assert parse_bool(value) is on


@pytest.mark.parametrize(
    ("version", "gates", "asks"),
    [
        (None, None, False),
        ((1, 20), None, False),
        ((1, 27), {"KubeletCgroupDriverFromCRI": True}, False),
        ((1, 28), None, False),
        ((1, 28), {"KubeletCgroupDriverFromCRI": True}, True),
        ((1, 30), {"KubeletCgroupDriverFromCRI": "true"}, True),
        ((1, 30), {"KubeletCgroupDriverFromCRI": "T"}, True),
        ((1, 30), {"KubeletCgroupDriverFromCRI": "1"}, True),
        ((1, 31), None, True),
        ((1, 33), {"KubeletCgroupDriverFromCRI": False}, False),
        ((1, 33), "broken", True),
        ((1, 33), {"KubeletCgroupDriverFromCRI": "f"}, False),
        ((1, 34), {"KubeletCgroupDriverFromCRI": False}, True),
        ((1, 37), None, True),
    ],
)
def test_the_version_and_the_gate_decide_whether_the_cri_is_asked(
    version: Version | None, gates: Any, asks: bool
) -> None:
    assert asks_cri(version, gates) is asks
