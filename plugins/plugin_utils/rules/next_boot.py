# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cgroup version after the next boot: boot loader, kernel command line, systemd; and an image's first boot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...module_utils.snapshot.boot_evidence import CGROUP_PARAMETERS, ENTRIES, GRUB
from ..facts.machine import UNIFIED, major_version, next_command_line, parse_switch
from ..facts.node_state import CgroupMode, NodeFacts, Parameters
from .rule_types import Effect, Finding, Severity


def _quote(name: str, values: tuple[str, ...] | None) -> str:
    return "nothing" if values is None else " ".join(f"{name}={value}" if value else name for value in values)


def _differences(path: str, configured: Parameters, now: Parameters, names: Iterable[str]) -> Iterator[str]:
    for name in sorted(CGROUP_PARAMETERS.intersection(names)):
        if configured.get(name) != now.get(name):
            yield f"{path}: {_quote(name, configured.get(name))}; now: {_quote(name, now.get(name))}"


def next_line_differs(facts: NodeFacts) -> Iterator[Finding]:
    """If the node boots loader entries, grub's defaults lack what grubby added; only what they add is compared."""
    boot, now = facts.kernel_facts.boot or {}, facts.kernel_facts.parameters
    if facts.image or facts.cgroup.nested:
        return
    entries = any(path.startswith(ENTRIES) for path in boot)
    differences = [
        line
        for path, configured in boot.items()
        for line in _differences(path, configured, now, configured if entries and path == GRUB else (*configured, *now))
    ]
    if differences:
        yield Finding(
            "next-boot-command-line-differs",
            Severity.WARNING,
            Effect.LATENT,
            "The boot loader's files set other cgroup parameters than the current kernel command line.",
            tuple(differences),
            "Decide which is right before the node reboots. To apply an edit, run update-grub (grub2-mkconfig -o"
            " /boot/grub2/grub.cfg), or grubby --update-kernel=ALL --args=... if the node has loader entries.",
        )


V1 = (CgroupMode.V1, CgroupMode.HYBRID)


def _versions(facts: NodeFacts) -> tuple[str, ...]:
    values = facts.kernel_facts.parameters.get(UNIFIED)
    return (
        f"systemd {facts.systemd.running} runs, {facts.systemd.installed or facts.systemd.running} is installed",
        f"kernel command line: {UNIFIED}={values[-1]}" if values else f"kernel command line: no {UNIFIED}",
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
        f"The node uses cgroup {mode.value} now, and another version after the next boot.",
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
            "The kernel command line requests cgroup v1, but the node uses v2.",
            (facts.systemd.next_mode_reason or "", *_versions(facts)),
            f"Remove {UNIFIED}=0 from the kernel command line: systemd 256 may refuse to boot with it, 257 waits 30 s.",
        )


def _command_line(facts: NodeFacts) -> str:
    line = next_command_line(facts.kernel_facts.boot)
    if line is None:
        return "kernel command line: unknown, no file in the image sets it"
    parameters = " ".join(f"{name}={value}" if value else name for name, values in line.items() for value in values)
    return f"kernel command line: {parameters or 'no cgroup parameters'}"


def offline_image(facts: NodeFacts) -> Iterator[Finding]:
    if not facts.image:
        return
    systemd = facts.systemd
    mode = (
        f"cgroup {systemd.next_mode.value}" if systemd.next_mode else "a cgroup version that the files do not determine"
    )
    why = (systemd.next_mode_reason,) if systemd.next_mode_reason else ()
    yield Finding(
        "offline-image",
        Severity.INFO,
        Effect.NONE,
        f"These are the files of a node that does not run. Its first boot will use {mode}.",
        (f"systemd {systemd.installed or 'unknown'}", _command_line(facts), *why),
        "Assess the node again once it runs: effective values, pods and mounted cgroups are not in files.",
    )
