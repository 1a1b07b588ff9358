# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about configuration files that nobody can read, or that nobody has read yet."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import NodeFacts
from ..model import Effect, Finding, Rule, Severity


def unreadable_config(facts: NodeFacts) -> Iterator[Finding]:
    for config in (facts.kubelet.config, facts.runtime.config):
        if config.problem:
            line = f":{config.problem.line}" if config.problem.line is not None else ""
            yield Finding(
                "config-unreadable",
                Severity.ERROR,
                Effect.UNKNOWN,
                f"{config.path} cannot be read.",
                (f"{config.path}{line}: {config.problem.message}",),
                "Correct the file; its owner would not start with it.",
            )


def next_restart_of_kubelet(facts: NodeFacts) -> Iterator[Finding]:
    if facts.kubelet.running and facts.kubelet.config.changed_after_start:
        yield Finding(
            "kubelet-older-than-config",
            Severity.WARNING,
            Effect.LATENT,
            "kubelet's file changed after kubelet started.",
            (facts.kubelet.config.path,),
            "What it runs with may differ from the file; the next restart takes the file.",
        )


RULES: tuple[Rule, ...] = (
    unreadable_config,
    next_restart_of_kubelet,
)
