# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said of an image, the files of a node that does not run."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.machine import next_command_line
from ...facts.node_state import NodeFacts
from ..model import Effect, Finding, Rule, Severity


def _command_line(facts: NodeFacts) -> str:
    line = next_command_line(facts.kernel_facts.boot)
    if line is None:
        return "kernel command line: no file in the image tells"
    given = " ".join(f"{name}={value}" if value else name for name, values in line.items() for value in values)
    return f"kernel command line: {given or 'nothing about cgroups'}"


def image(facts: NodeFacts) -> Iterator[Finding]:
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


RULES: tuple[Rule, ...] = (image,)
