# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Agents that write to the same cgroups: several agents, rubik, stored properties of slices, and paths they expect."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts.node_state import CgroupMode, NodeFacts
from ..facts.other_writers import QOS_AGENTS
from ..profile.kubelet_fields import CGROUP_ROOT
from .evidence import quote_claims, quote_writers
from .rule_types import Effect, Finding, Severity


def two_qos_agents(facts: NodeFacts) -> Iterator[Finding]:
    agents = quote_writers(facts, *QOS_AGENTS.values())
    if len(agents) > 1:
        yield Finding(
            "two-qos-agents",
            Severity.ERROR,
            Effect.MISALIGNED,
            f"{len(agents)} agents set CPU and memory of pods on this node and overwrite each other's values.",
            agents,
            "Keep one of them: exclude the node from the node selector of the others.",
        )


def kubepods_overridden(facts: NodeFacts) -> Iterator[Finding]:
    if facts.writers.overrides:
        yield Finding(
            "kubepods-overridden",
            Severity.WARNING,
            Effect.NONE,
            "systemctl set-property has stored properties for kubelet's own slices.",
            facts.writers.overrides,
            "kubelet and these settings overwrite each other: remove them with systemctl revert SLICE.",
        )


def rubik_needs_v1(facts: NodeFacts) -> Iterator[Finding]:
    agent = quote_writers(facts, "rubik")
    if agent and facts.cgroup.mode is CgroupMode.V2:
        yield Finding(
            "rubik-needs-v1",
            Severity.ERROR,
            Effect.MISALIGNED,
            "rubik runs on a cgroup v2 node; it supports only the files of v1.",
            (*agent, facts.cgroup.reason),
            "Remove rubik from this node and use Volcano's agent, or boot the node with v1 (systemd 255 or older).",
        )


def _missing_features(facts: NodeFacts) -> Iterator[tuple[str, str]]:
    """Each feature that this kernel does not support, and what is missing.

    rubik docs/modules.md (preemption, dynCache), docs/design/psi.md, pkg/services/iocost (ioCostSupport).
    """
    kernel = facts.kernel_facts
    for name in ("cpu_qos_level", "memory_qos_level"):
        if kernel.features.get(name) is False:
            yield "preemption", f"{kernel.probed[name]} does not exist"
    if kernel.features.get("psi") is False or kernel.parameters.get("psi_v1", ())[-1:] != ("1",):
        yield "psi", "the kernel command line lacks psi=1 psi_v1=1"
    if "cgroup1_writeback" not in kernel.parameters:
        yield "ioCost", "the kernel command line lacks cgroup1_writeback"
    if kernel.features.get("resctrl_mounted") is False:
        yield "dynCache", "/sys/fs/resctrl is not mounted (rdt=l3cat,mba or, on ARM, mpam=acpi on the command line)"


def rubik_features_missing(facts: NodeFacts) -> Iterator[Finding]:
    if "rubik" not in facts.writers.evidence or facts.cgroup.mode is CgroupMode.V2:
        return
    config = facts.writers.rubik
    lacking = [(name, what) for name, what in _missing_features(facts) if config is None or name in config.features]
    if lacking:
        # Preemption is rubik's purpose; only a configuration on the node shows whether other features are enabled.
        certain = config is not None or any(name == "preemption" for name, _what in lacking)
        yield Finding(
            "rubik-kernel-features-missing",
            Severity.WARNING if certain else Severity.INFO,
            Effect.NONE,
            "rubik runs on this node, and some of its features, if enabled, have no effect on this kernel.",
            tuple(f"{name}: {what}" for name, what in lacking),
            "Boot openEuler's kernel (22.03 SP2 or newer) with these parameters, or leave the features out of"
            " enabledFeatures.",
        )


def rubik_driver_differs(facts: NodeFacts) -> Iterator[Finding]:
    """rubik docs/config.md: its driver is cgroupfs unless its file sets systemd; it detects nothing."""
    config, driver = facts.writers.rubik, facts.driver.kubelet
    if config and driver and config.cgroup_driver != driver.value:
        yield Finding(
            "rubik-driver-differs",
            Severity.ERROR,
            Effect.MISALIGNED,
            f"rubik looks for pods of the {config.cgroup_driver} driver, and kubelet uses {driver.value}.",
            (*quote_writers(facts, "rubik"), f"/var/lib/rubik/config.json: cgroupDriver {config.cgroup_driver}"),
            f'Set "cgroupDriver": "{driver.value}" in the section agent of that file, and restart rubik.',
        )


KUBELET_DIRECTORY = "/var/lib/kubelet"


def _deep_trees(facts: NodeFacts) -> tuple[str, ...]:
    """Pod trees that are not directly below the root of a hierarchy, as in kind."""
    tops = {hierarchy.mountpoint for hierarchy in facts.cgroup.hierarchies}
    return tuple(tree for tree in facts.cgroup.trees if tree.rpartition("/")[0] not in tops)


def cgroup_root_not_default(facts: NodeFacts) -> Iterator[Finding]:
    """volcano cmd/agent/app/options: --kube-cgroup-root is kubelet's cgroupRoot, empty by default."""
    setting = facts.kubelet.settings.get(CGROUP_ROOT.key)
    named = str(setting.value).strip("/") if setting else ""
    deep = _deep_trees(facts)
    if named or deep:
        yield Finding(
            "cgroup-root-not-default",
            Severity.INFO,
            Effect.NONE,
            "kubelet's pods are below a separate cgroup root; agents use the hierarchy's root unless configured.",
            (*(quote_claims(facts, CGROUP_ROOT.key) if named else ()), *deep),
            "Configure the same root for agents: --kube-cgroup-root for Volcano's.",
        )


def root_dir_not_default(facts: NodeFacts) -> Iterator[Finding]:
    """volcano pkg/agent/utils/utils.go: GetCPUManagerPolicy reads the checkpoint in KUBELET_ROOT_DIR."""
    directory = facts.kubelet.checkpoint.path.rpartition("/")[0]
    if facts.kubelet.installed and directory != KUBELET_DIRECTORY:
        yield Finding(
            "kubelet-root-dir-not-default",
            Severity.INFO,
            Effect.NONE,
            f"kubelet's directory is not {KUBELET_DIRECTORY}, where agents look for its checkpoints.",
            (f"--root-dir {directory}",),
            f"Mount {directory} into the agent; Volcano's reads the path from KUBELET_ROOT_DIR.",
        )
