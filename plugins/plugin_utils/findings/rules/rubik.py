# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about rubik, openEuler's agent: what it needs of the kernel and of its own configuration."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.node_state import CgroupMode, NodeFacts
from ..evidence import seen
from ..model import Effect, Finding, Rule, Severity


def without_v1(facts: NodeFacts) -> Iterator[Finding]:
    agent = seen(facts, "rubik")
    if agent and facts.cgroup.mode is CgroupMode.V2:
        yield Finding(
            "rubik-needs-v1",
            Severity.ERROR,
            Effect.MISALIGNED,
            "rubik runs on a cgroup v2 node; it knows only the files of v1.",
            (*agent, facts.cgroup.reason),
            "Take rubik off this node and use Volcano's agent, or boot the node with v1 (systemd 255 or older).",
        )


def _lacking(facts: NodeFacts) -> Iterator[tuple[str, str]]:
    """Each feature that this kernel does not serve, and what it lacks.

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


def without_kernel(facts: NodeFacts) -> Iterator[Finding]:
    if "rubik" not in facts.writers.seen or facts.cgroup.mode is CgroupMode.V2:
        return
    config = facts.writers.rubik
    lacking = [(name, what) for name, what in _lacking(facts) if config is None or name in config.features]
    if lacking:
        # Preemption is what rubik is there for; whether others are on, only a configuration on the node tells.
        certain = config is not None or any(name == "preemption" for name, _what in lacking)
        yield Finding(
            "rubik-kernel-features-missing",
            Severity.WARNING if certain else Severity.INFO,
            Effect.NONE,
            "rubik runs here, and some of its features, if they are on, do nothing on this kernel.",
            tuple(f"{name}: {what}" for name, what in lacking),
            "Boot openEuler's kernel (22.03 SP2 or newer) with these parameters, or leave the features out of"
            " enabledFeatures.",
        )


def driver_differs(facts: NodeFacts) -> Iterator[Finding]:
    """rubik docs/config.md: its driver is cgroupfs unless its file says systemd; it looks at nothing else."""
    config, driver = facts.writers.rubik, facts.kubelet.cgroup_driver
    if config and driver and config.cgroup_driver != driver.value:
        yield Finding(
            "rubik-driver-differs",
            Severity.ERROR,
            Effect.MISALIGNED,
            f"rubik looks for pods of the {config.cgroup_driver} driver, and kubelet uses {driver.value}.",
            (*seen(facts, "rubik"), f"/var/lib/rubik/config.json: cgroupDriver {config.cgroup_driver}"),
            f'Write "cgroupDriver": "{driver.value}" into the part agent of that file, and restart rubik.',
        )


RULES: tuple[Rule, ...] = (
    without_v1,
    without_kernel,
    driver_differs,
)
