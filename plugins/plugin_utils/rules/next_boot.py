# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the next boot makes of cgroups: boot loader, kernel command line, systemd; and the first boot of an image."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...module_utils.snapshot.boot_evidence import CGROUP_PARAMETERS, ENTRIES, GRUB
from ..facts.machine import UNIFIED, major_version, next_command_line, parse_switch
from ..facts.node_state import CgroupMode, NodeFacts, Parameters
from .rule_types import Effect, Finding, Severity


def _shown(name: str, values: tuple[str, ...] | None) -> str:
    return "nothing" if values is None else " ".join(f"{name}={value}" if value else name for value in values)


def _differences(path: str, said: Parameters, now: Parameters, names: Iterable[str]) -> Iterator[str]:
    for name in sorted(CGROUP_PARAMETERS.intersection(names)):
        if said.get(name) != now.get(name):
            yield f"{path}: {_shown(name, said.get(name))}; in force: {_shown(name, now.get(name))}"


def next_line_differs(facts: NodeFacts) -> Iterator[Finding]:
    """Where entries are booted, grub's defaults lack what grubby gave the entries: only what they add tells."""
    boot, now = facts.kernel_facts.boot or {}, facts.kernel_facts.parameters
    if facts.image or facts.cgroup.nested:
        return
    entries = any(path.startswith(ENTRIES) for path in boot)
    found = [
        line
        for path, said in boot.items()
        for line in _differences(path, said, now, said if entries and path == GRUB else (*said, *now))
    ]
    if found:
        yield Finding(
            "next-boot-command-line-differs",
            Severity.WARNING,
            Effect.LATENT,
            "The boot loader's files say other things of cgroups than the kernel command line in force.",
            tuple(found),
            "Decide which is right before the node reboots. An edit takes effect with update-grub (grub2-mkconfig -o"
            " /boot/grub2/grub.cfg), or grubby --update-kernel=ALL --args=... where there are loader entries.",
        )


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


def _command_line(facts: NodeFacts) -> str:
    line = next_command_line(facts.kernel_facts.boot)
    if line is None:
        return "kernel command line: no file in the image tells"
    given = " ".join(f"{name}={value}" if value else name for name, values in line.items() for value in values)
    return f"kernel command line: {given or 'nothing about cgroups'}"


def offline_image(facts: NodeFacts) -> Iterator[Finding]:
    if not facts.image:
        return
    systemd = facts.systemd
    mode = f"cgroup {systemd.next_mode.value}" if systemd.next_mode else "a cgroup version that files do not tell"
    why = (systemd.next_mode_reason,) if systemd.next_mode_reason else ()
    yield Finding(
        "offline-image",
        Severity.INFO,
        Effect.NONE,
        f"These are the files of a node that does not run. Its first boot gives {mode}.",
        (f"systemd {systemd.installed or 'unknown'}", _command_line(facts), *why),
        "Judge the node again once it runs: values in force, pods and the mounted cgroups are not in files.",
    )
