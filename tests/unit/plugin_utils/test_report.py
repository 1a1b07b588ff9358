# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The readable block of a node."""

from __future__ import annotations

from ansible_collections.volcano.colocation.plugins.plugin_utils.report import node_block
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.nodes import ALIGNED, DIFFERING, golden, put


def test_the_block_of_an_aligned_node() -> None:
    block = node_block("node1", golden("facts", ALIGNED))
    assert block.splitlines()[:6] == [
        "node1: ALIGNED",
        "  cgroup     v2 (cgroup2 is mounted at /sys/fs/cgroup)",
        "  system     systemd 257.13-1~deb13u1, kernel 6.12.107+deb13-cloud-amd64, CPUs 0-1",
        "  kubelet    1.20.2, healthy, cgroup driver systemd (/var/lib/kubelet/config.yaml), CPU manager static",
        "  runtime    containerd 1.7.24~ds1, handlers: runc systemd, NRI on",
        "  pods       3 pod(s), cgroups of processes: 6 in kubepods.slice",
    ]


def test_the_block_of_the_mismatch_names_finding_evidence_and_remedy() -> None:
    lines = node_block("node1", golden("facts", DIFFERING)).splitlines()
    at = lines.index("  error   kubelet uses systemd, containerd uses cgroupfs. [driver-mismatch]")
    assert lines[at + 1] == "          - cgroupDriver = systemd (/var/lib/kubelet/config.yaml)"
    assert "          > Align both to one driver: ansible-playbook volcano.colocation.provision." in lines
    assert lines[5].endswith("6 misplaced")


def test_what_is_missing_or_unknown_is_said() -> None:
    facts = golden("facts", DIFFERING)
    gone = put(put(facts, False, "kubelet", "installed"), False, "runtime", "installed")
    assert "  kubelet    not installed" in node_block("n", gone)
    assert "  runtime    no containerd" in node_block("n", gone)
    vague = put(put(facts, None, "kubelet", "version"), None, "kubelet", "cgroup_driver")
    vague = put(put(vague, None, "kubelet", "cgroup_driver_source"), False, "kubelet", "healthy")
    vague = put(put(vague, None, "kubelet", "cpu_manager_policy"), None, "runtime", "version")
    vague = put(put(vague, None, "runtime", "nri", "running"), 0, "pods", "cgroupfs_paths")
    vague = put(vague, [], "pods", "misplaced_paths")
    block = node_block("n", vague)
    assert "version unknown, not healthy, cgroup driver unknown, CPU manager unknown" in block
    assert "containerd version unknown, handlers: runc cgroupfs, NRI unknown" in block
    assert "cgroups of processes: none" in block


def test_a_containerd_without_nri() -> None:
    assert "NRI not supported" in node_block("n", put(golden("facts", DIFFERING), False, "runtime", "nri", "supported"))
