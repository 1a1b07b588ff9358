# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about what the next boot, with this systemd and kernel command line, makes of cgroups."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.machine import UNIFIED, major_version, parse_switch
from ...facts.node_state import CgroupMode, NodeFacts
from ..model import Effect, Finding, Rule, Severity

V1 = (CgroupMode.V1, CgroupMode.HYBRID)


def _versions(facts: NodeFacts) -> tuple[str, ...]:
    given = facts.kernel_facts.parameters.get(UNIFIED)
    return (
        f"systemd runs as {facts.systemd.running}, installed is {facts.systemd.installed or facts.systemd.running}",
        f"kernel command line: {UNIFIED}={given[-1]}" if given else f"kernel command line: no {UNIFIED}",
    )


def reboot_changes_mode(facts: NodeFacts) -> Iterator[Finding]:
    mode, after = facts.cgroup.mode, facts.systemd.next_mode
    v1_now, v1_after = mode in V1, after in V1
    if mode is CgroupMode.UNKNOWN or after is None or v1_now == v1_after or facts.cgroup.nested:
        return
    yield Finding(
        "reboot-changes-cgroup-mode",
        Severity.ERROR,
        Effect.LATENT,
        f"cgroup {mode.value} is in force, and the next boot will not give it again.",
        (facts.systemd.next_mode_reason or "", *_versions(facts)),
        "Decide before the node reboots: move to v2 (drain, set systemd.unified_cgroup_hierarchy=1, reboot), or keep"
        " v1 with systemd 255 or older.",
    )


def v1_asked_in_vain(facts: NodeFacts) -> Iterator[Finding]:
    version = major_version(facts.systemd.installed or facts.systemd.running)
    asked = parse_switch(facts.kernel_facts.parameters.get(UNIFIED)) is False
    if asked and version is not None and version >= 256 and facts.cgroup.mode is CgroupMode.V2:
        yield Finding(
            "cgroup-v1-request-ignored",
            Severity.WARNING,
            Effect.NONE,
            "The kernel command line asks for cgroup v1, and the node has v2.",
            (facts.systemd.next_mode_reason or "", *_versions(facts)),
            f"Take {UNIFIED}=0 off the kernel command line: systemd 256 may refuse to boot with it, 257 waits 30 s.",
        )


RULES: tuple[Rule, ...] = (
    reboot_changes_mode,
    v1_asked_in_vain,
)
