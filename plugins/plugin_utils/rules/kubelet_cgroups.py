# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How cgroups are mounted, which controllers each level hands down, and kubelet's trees of pods."""

from __future__ import annotations

from collections.abc import Iterator

from ...module_utils.cgroup.kubelet_names import Driver, KubeletTree
from ..facts.node_state import NodeFacts, RealtimeThread
from .rule_types import Effect, Finding, Severity

ENFORCED = frozenset({"cpu", "cpuset", "memory", "pids"})
"""What kubelet enables itself on v2; io is enabled by systemd only, and kubelet runs without it."""


def controllers_split(facts: NodeFacts) -> Iterator[Finding]:
    split = facts.cgroup.split
    if split:
        yield Finding(
            "cgroup-controllers-split",
            Severity.ERROR,
            Effect.MISALIGNED,
            f"Some controllers are not in the hierarchy that kubelet uses ({facts.cgroup.mode.value}).",
            tuple(f"{name} is at {point}" for name, point in split.items()),
            "Boot with one hierarchy for all: systemd.unified_cgroup_hierarchy=1 and no cgroup_no_v1=NAME, or all v1.",
        )


def controllers_missing(facts: NodeFacts) -> Iterator[Finding]:
    missing = set(facts.cgroup.missing) - facts.cgroup.split.keys() - {"io"}
    if missing:
        given = facts.kernel_facts.parameters
        said = [f"{name}={','.join(given[name])}" for name in ("cgroup_disable", "cgroup_no_v1") if name in given]
        yield Finding(
            "cgroup-controllers-missing",
            Severity.ERROR,
            Effect.MISALIGNED,
            f"The kernel does not offer the controller(s) {', '.join(sorted(missing))}, which kubelet needs.",
            (f"cgroup {facts.cgroup.mode.value}: {' '.join(facts.cgroup.controllers)}", *said),
            "Take cgroup_disable= off the kernel command line, add cgroup_enable=memory where the distribution turns it"
            " off, or boot a kernel that has them; kernels from 6.12 on may lack v1's memory and cpuset.",
        )


def _unit(thread: RealtimeThread) -> str:
    """The unit or, outside one, the cgroup that a thread is in."""
    parts = [part for part in thread.cgroup.split("/") if part.endswith((".service", ".scope"))]
    return parts[-1] if parts else thread.cgroup


def _blocking(facts: NodeFacts) -> tuple[RealtimeThread, ...]:
    """Real-time threads outside the root, unless the kernel was built so that they do not matter."""
    return () if facts.cgroup.group_scheduling == "n" else facts.cgroup.realtime


def realtime_blocks_cpu(facts: NodeFacts) -> Iterator[Finding]:
    threads = _blocking(facts)
    if threads:
        yield Finding(
            "realtime-blocks-cpu",
            Severity.ERROR,
            Effect.MISALIGNED,
            "The cpu controller is not enabled, and real-time threads outside the root cgroup keep it from being.",
            tuple(
                f"pid {each.pid} thread {each.tid} {each.comm}: {each.policy} {each.priority} in {_unit(each)}"
                for each in threads
            ),
            "Give each unit named here a drop-in with RestrictRealtime=yes (or CPUSchedulingPolicy=other), then reboot;"
            " or boot a kernel without CONFIG_RT_GROUP_SCHED (6.16 and newer: rt_group_sched=0).",
        )


def controllers_not_enabled(facts: NodeFacts) -> Iterator[Finding]:
    """Only once kubelet has made its tree: before that nobody needed the controllers."""
    driver = facts.driver.kubelet
    own = [tree for tree in facts.cgroup.trees if driver and tree.endswith(KubeletTree(driver).pods())]
    if not own:
        return
    wanted = ENFORCED - {"cpu"} if _blocking(facts) else ENFORCED
    lacking = [
        f"{level.path}/cgroup.subtree_control lacks {' '.join(sorted(wanted & set(level.missing)))}"
        for level in facts.cgroup.levels
        if wanted & set(level.missing) and any(f"{tree}/".startswith(f"{level.path}/") for tree in own)
    ]
    if lacking:
        yield Finding(
            "cgroup-controllers-not-enabled",
            Severity.ERROR,
            Effect.MISALIGNED,
            "A level of kubelet's cgroup tree does not hand down the controllers that pods need.",
            tuple(lacking),
            "Restart kubelet, which enables them; where it cannot, its log says which write the kernel refused.",
        )


def idle_qos_class(facts: NodeFacts) -> Iterator[Finding]:
    if facts.cgroup.idle:
        yield Finding(
            "idle-qos-class",
            Severity.ERROR,
            Effect.LATENT,
            "cpu.idle is 1 on a QoS class: kubelet will not start again.",
            facts.cgroup.idle,
            "Write 0 to it before kubelet restarts, and find who wrote 1: idle is for pods, not for classes.",
        )


def cgroups_read_only(facts: NodeFacts) -> Iterator[Finding]:
    in_force = set(facts.cgroup.mountpoints.values())
    found = tuple(
        each.mountpoint for each in facts.cgroup.hierarchies if each.read_only and each.mountpoint in in_force
    )
    if found:
        yield Finding(
            "cgroups-read-only",
            Severity.ERROR,
            Effect.UNSUPPORTED,
            "The cgroup file system is mounted read-only: nothing can make a pod's cgroup here.",
            found,
            "Run against the node itself; a container that is to be a node needs to be privileged.",
        )


def cgroup_root_nested(facts: NodeFacts) -> Iterator[Finding]:
    if facts.cgroup.nested:
        yield Finding(
            "cgroup-root-nested",
            Severity.INFO,
            Effect.NONE,
            "This node runs inside a container: what it calls the root of cgroups is a part of its host's.",
            (facts.cgroup.nested,),
            "Limits of the host hold above everything set here; agents may need the path that the host sees.",
        )


def _count_pods(facts: NodeFacts, tree: str) -> str:
    count = facts.cgroup.pods.get(tree)
    return "" if count is None else f": {count} folder(s) of pods"


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
            f"A cgroup tree of the {other.value} driver lies beside kubelet's own.",
            tuple(f"{tree}{_count_pods(facts, tree)}" for tree in stale),
            "Agents and monitoring may read the wrong one. kubelet 1.20 makes one itself with the systemd driver on"
            " v2; otherwise a reboot of the drained node removes it.",
        )
