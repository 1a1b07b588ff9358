# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about systemd-oomd and TuneD: what they report, and where they are silent."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.catalogue import findings
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.rule_types import Finding
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    Snapshot,
    captured,
    facts_of,
    put,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_machine import (
    SWAPS,
    command_line,
    oomd,
    tuned,
    unit,
)

DROP_IN = "/etc/systemd/system.conf.d/00-tuned.conf"
NO_SWAP = SWAPS.splitlines()[0]


def findings_by_code(snapshot: Snapshot) -> dict[str, Finding]:
    return {finding.code: finding for finding in findings(facts_of(snapshot))}


def swaps(snapshot: Snapshot, table: str | None) -> Snapshot:
    return put(snapshot, table, "system", "swaps")


def by_swap(snapshot: Snapshot) -> Snapshot:
    """A copy with what Debian's package of systemd-oomd sets."""
    return oomd(snapshot, "-.slice", ManagedOOMSwap="kill", ManagedOOMMemoryPressure="auto")


def protected(snapshot: Snapshot) -> Snapshot:
    for name in ("kubelet.service", "containerd.service"):
        snapshot = unit(snapshot, name, ManagedOOMPreference="omit")
    return snapshot


SILENT: dict[str, tuple[str, Callable[[Snapshot], Snapshot]]] = {
    "oomd that watches no slice of pods": ("oomd-kills-pods", lambda node: oomd(node, "user.slice")),
    "oomd that watches nothing": ("oomd-kills-pods", lambda node: oomd(node, ManagedOOMSwap="auto")),
    "oomd that does not run": (
        "oomd-kills-pods",
        lambda node: unit(oomd(node), "systemd-oomd.service", ActiveState="inactive"),
    ),
    "oomd that acts on swap, without swap": ("oomd-kills-pods", lambda node: swaps(by_swap(node), NO_SWAP)),
    "oomd below kubepods.slice only": ("oomd-kills-services", oomd),
    "oomd that spares the services": ("oomd-kills-services", lambda node: protected(oomd(node, "system.slice"))),
    "oomd and services in another slice": (
        "oomd-kills-services",
        lambda node: unit(
            unit(oomd(node, "system.slice"), "kubelet.service", ControlGroup="/runtime.slice/kubelet.service"),
            "containerd.service",
            ControlGroup="/runtime.slice/containerd.service",
        ),
    ),
    "files of a TuneD that does not run": ("tuned-runs", lambda node: tuned(node, process="", cpu_partitioning="1")),
    "CPUs of a TuneD that does not run": (
        "tuned-places-processes",
        lambda node: tuned(node, process="", cpu_partitioning="1"),
    ),
    "TuneD that isolates no CPUs": ("tuned-places-processes", tuned),
}


@pytest.mark.parametrize("case", SILENT)
def test_a_rule_is_silent(case: str) -> None:
    code, variant = SILENT[case]
    assert code not in findings_by_code(variant(captured(ALIGNED)))


@pytest.mark.parametrize("table", [SWAPS, None], ids=["on", "unknown"])
def test_oomd_acts_on_swap_unless_the_node_has_none(table: str | None) -> None:
    evidence = findings_by_code(swaps(by_swap(captured(ALIGNED)), table))["oomd-kills-pods"].evidence
    assert evidence == ("systemd-oomd: unit systemd-oomd.service", "-.slice: ManagedOOMSwap=kill")


def test_every_slice_of_pods_is_watched() -> None:
    node = captured(ALIGNED)
    for name in ("kubepods-burstable.slice", "kubepods-besteffort.slice"):
        assert findings_by_code(oomd(node, name))["oomd-kills-pods"].evidence[1:] == (
            f"{name}: ManagedOOMMemoryPressure=kill",
        )


def test_each_service_that_oomd_may_kill_is_named() -> None:
    node = unit(oomd(captured(ALIGNED), "system.slice"), "containerd.service", ManagedOOMPreference="avoid")
    node = unit(node, "crio.service", ControlGroup="/system.slice/crio.service", ManagedOOMPreference="omit")
    assert findings_by_code(node)["oomd-kills-services"].evidence[1:] == (
        "system.slice: ManagedOOMMemoryPressure=kill",
        "kubelet.service: ManagedOOMPreference=none in system.slice",
        "containerd.service: ManagedOOMPreference=avoid in system.slice",
    )


def test_tuned_is_reported_with_its_profile() -> None:
    assert findings_by_code(tuned(captured(ALIGNED)))["tuned-runs"].evidence == (
        "tuned: 1 process(es) tuned",
        "active profile: cpu-partitioning",
    )


def test_node_tuning_is_reported_by_its_name() -> None:
    node = put(captured(ALIGNED), {"commands": {"cluster-node-tu": 1, "tuned": 1}, "folders": {}}, "writers")
    assert findings_by_code(node)["tuned-runs"].evidence == (
        "tuned: 1 process(es) tuned",
        "node-tuning: 1 process(es) cluster-node-tu",
    )


def test_isolated_cpus_are_quoted_with_their_file_and_the_kernels_parameters() -> None:
    node = command_line(tuned(captured(ALIGNED), "0", cpu_partitioning="1"), "quiet isolcpus=1 nohz_full=1")
    assert findings_by_code(node)["tuned-places-processes"].evidence == (
        f"CPUAffinity=0 ({DROP_IN})",
        "isolated_cores=1 (/etc/tuned/cpu-partitioning-variables.conf)",
        "isolcpus=1",
        "nohz_full=1",
    )


def test_the_affinity_that_a_removed_tuned_left_is_reported() -> None:
    findings = findings_by_code(tuned(captured(ALIGNED), "0", process=""))
    assert findings["tuned-places-processes"].evidence == (f"CPUAffinity=0 ({DROP_IN})",)
    assert "tuned-runs" not in findings
