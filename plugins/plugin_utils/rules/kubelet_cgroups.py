# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How cgroups are mounted, which controllers each level enables for its children, and kubelet's pod trees."""

from __future__ import annotations

from collections.abc import Iterator

from ...module_utils.cgroup.kubelet_names import Driver, KubeletTree
from ..facts.node_state import NodeFacts, RealtimeThread
from .rule_types import Effect, Finding, Severity

ENFORCED = frozenset({"cpu", "cpuset", "memory", "pids"})
"""Controllers that kubelet enables on v2; only systemd enables io, and kubelet runs without it."""


def controllers_split(facts: NodeFacts) -> Iterator[Finding]:
    split = facts.cgroup.split
    if split:
        yield Finding(
            "cgroup-controllers-split",
            Severity.ERROR,
            Effect.MISALIGNED,
            f"Some controllers are not in the hierarchy that kubelet uses ({facts.cgroup.mode.value}).",
            tuple(f"{name} is at {point}" for name, point in split.items()),
            "Boot with one hierarchy for all controllers: systemd.unified_cgroup_hierarchy=1 and no cgroup_no_v1=NAME,"
            " or v1 for all.",
        )


def controllers_missing(facts: NodeFacts) -> Iterator[Finding]:
    missing = set(facts.cgroup.missing) - facts.cgroup.split.keys() - {"io"}
    if missing:
        parameters = facts.kernel_facts.parameters
        disabling = [
            f"{name}={','.join(parameters[name])}" for name in ("cgroup_disable", "cgroup_no_v1") if name in parameters
        ]
        yield Finding(
            "cgroup-controllers-missing",
            Severity.ERROR,
            Effect.MISALIGNED,
            f"The kernel does not offer the controller(s) {', '.join(sorted(missing))}, which kubelet needs.",
            (f"cgroup {facts.cgroup.mode.value}: {' '.join(facts.cgroup.controllers)}", *disabling),
            "Remove cgroup_disable= from the kernel command line, add cgroup_enable=memory if the distribution disables"
            " it, or boot a kernel that has the controllers; kernels from 6.12 on may lack v1's memory and cpuset.",
        )


def _unit(thread: RealtimeThread) -> str:
    """The unit of a thread, or its cgroup if it is not in a unit."""
    parts = [part for part in thread.cgroup.split("/") if part.endswith((".service", ".scope"))]
    return parts[-1] if parts else thread.cgroup


def _blocking(facts: NodeFacts) -> tuple[RealtimeThread, ...]:
    """Real-time threads outside the root cgroup; empty for a kernel without group scheduling, which ignores them."""
    return () if facts.cgroup.group_scheduling == "n" else facts.cgroup.realtime


def realtime_blocks_cpu(facts: NodeFacts) -> Iterator[Finding]:
    threads = _blocking(facts)
    if threads:
        yield Finding(
            "realtime-blocks-cpu",
            Severity.ERROR,
            Effect.MISALIGNED,
            "The cpu controller cannot be enabled because of real-time threads outside the root cgroup.",
            tuple(
                f"pid {thread.pid} thread {thread.tid} {thread.comm}:"
                f" {thread.policy} {thread.priority} in {_unit(thread)}"
                for thread in threads
            ),
            "Set RestrictRealtime=yes (or CPUSchedulingPolicy=other) in a drop-in of each unit in the evidence, then"
            " reboot; or boot a kernel without CONFIG_RT_GROUP_SCHED (6.16 and newer: rt_group_sched=0).",
        )


def controllers_not_enabled(facts: NodeFacts) -> Iterator[Finding]:
    """Only after kubelet has created its tree: before that the controllers are not needed."""
    driver = facts.driver.kubelet
    own = [tree for tree in facts.cgroup.trees if driver and tree.endswith(KubeletTree(driver).pods())]
    if not own:
        return
    enforced = ENFORCED - {"cpu"} if _blocking(facts) else ENFORCED
    lacking = [
        f"{level.path}/cgroup.subtree_control lacks {' '.join(sorted(enforced & set(level.missing)))}"
        for level in facts.cgroup.levels
        if enforced & set(level.missing) and any(f"{tree}/".startswith(f"{level.path}/") for tree in own)
    ]
    if lacking:
        yield Finding(
            "cgroup-controllers-not-enabled",
            Severity.ERROR,
            Effect.MISALIGNED,
            "A level of kubelet's cgroup tree does not enable the controllers that pods need.",
            tuple(lacking),
            "Restart kubelet, which enables them; if it cannot, its log shows which write the kernel refused.",
        )


def idle_qos_class(facts: NodeFacts) -> Iterator[Finding]:
    if facts.cgroup.idle:
        yield Finding(
            "idle-qos-class",
            Severity.ERROR,
            Effect.LATENT,
            "cpu.idle is 1 on a QoS class: kubelet will not start again.",
            facts.cgroup.idle,
            "Write 0 to the file before kubelet restarts, and find out which program wrote 1: cpu.idle is for pods, not"
            " for QoS classes.",
        )


def cgroups_read_only(facts: NodeFacts) -> Iterator[Finding]:
    effective = set(facts.cgroup.mountpoints.values())
    read_only = tuple(
        hierarchy.mountpoint
        for hierarchy in facts.cgroup.hierarchies
        if hierarchy.read_only and hierarchy.mountpoint in effective
    )
    if read_only:
        yield Finding(
            "cgroups-read-only",
            Severity.ERROR,
            Effect.UNSUPPORTED,
            "The cgroup file system is mounted read-only: no cgroup for a pod can be created.",
            read_only,
            "Run against the node itself; a container that acts as a node must be privileged.",
        )


def cgroup_root_nested(facts: NodeFacts) -> Iterator[Finding]:
    if facts.cgroup.nested:
        yield Finding(
            "cgroup-root-nested",
            Severity.INFO,
            Effect.NONE,
            "This node runs inside a container: its cgroup root is a cgroup of the host.",
            (facts.cgroup.nested,),
            "The host's limits also apply to this node; agents may need the cgroup path on the host.",
        )


def _count_pods(facts: NodeFacts, tree: str) -> str:
    count = facts.cgroup.pods.get(tree)
    return "" if count is None else f": {count} pod cgroup(s)"


def second_kubepods_tree(facts: NodeFacts) -> Iterator[Finding]:
    driver = facts.driver.kubelet
    if driver is None:
        return
    other = Driver.CGROUPFS if driver is Driver.SYSTEMD else Driver.SYSTEMD
    stale = tuple(tree for tree in facts.cgroup.trees if tree.endswith("/" + KubeletTree(other).pods()))
    if stale:
        yield Finding(
            "second-kubepods-tree",
            Severity.INFO,
            Effect.NONE,
            f"A cgroup tree of the {other.value} driver exists beside kubelet's own.",
            tuple(f"{tree}{_count_pods(facts, tree)}" for tree in stale),
            "Agents and monitoring may read the wrong tree. kubelet 1.20 creates it itself with the systemd driver on"
            " v2; otherwise a reboot of the drained node removes it.",
        )
