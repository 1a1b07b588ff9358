# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about the next kernel command line, as the boot loader's files would give it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ....module_utils.snapshot.boot_evidence import CGROUP_PARAMETERS, ENTRIES, GRUB
from ...facts.node_state import NodeFacts, Parameters
from ..model import Effect, Finding, Rule, Severity


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


RULES: tuple[Rule, ...] = (next_line_differs,)
