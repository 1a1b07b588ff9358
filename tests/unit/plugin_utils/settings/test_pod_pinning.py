# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The requirements of HLS, checked from facts: pkg/kubelet/cm/cpumanager."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ansible_collections.volcano.colocation.tests.support.hosts.qos_cases import V2, Change, plan, setting, version

POLICY = ("kubelet", "cpu_manager_policy")
CHECKPOINT = ("kubelet", "checkpoints", 0, "policy")
SMT = ("cpu", "smt", True)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([version("1.34.1")], {}),
        ([version("1.32.4")], {"no CPU quota": "kubelet 1.32 keeps the quota of pinned containers"}),
        ([version("1.34.1"), (*POLICY, "none")], {"pinned CPUs": "cpuManagerPolicy is none"}),
        ([version("1.34.1"), (*POLICY, None)], {"pinned CPUs": "cpuManagerPolicy is not known"}),
        ([version("1.34.1"), setting("systemReserved", {})], {"pinned CPUs": "no CPU is reserved"}),
        ([version("1.34.1"), (*CHECKPOINT, "none")], {"pinned CPUs": "still has the policy none"}),
        ([version("1.34.1"), (*CHECKPOINT, None)], {}),
        ([version("1.34.1"), SMT], {"whole cores": "full-pcpus-only"}),
        ([version("1.34.1"), SMT, setting("cpuManagerPolicyOptions", {"full-pcpus-only": "true"})], {}),
        (
            [version("1.34.1"), SMT, setting("cpuManagerPolicyOptions", {"full-pcpus-only": "false"})],
            {"whole cores": "full-pcpus-only"},
        ),
        ([version(None)], {}),
    ],
)
def test_what_pinning_lacks(changes: Sequence[Change], expected: dict[str, str]) -> None:
    reasons = {entry.setting: entry.reason for entry in plan(V2, *changes).unsupported if entry.level == "HLS"}
    reasons.pop("cpu.qos_level 2")
    assert set(reasons) == set(expected)
    for thing, words in expected.items():
        assert words in reasons[thing]


def test_pinning_is_not_checked_without_its_level() -> None:
    assert "HLS" not in {entry.level for entry in plan(V2, (*POLICY, "none"), levels=["BE"]).unsupported}
