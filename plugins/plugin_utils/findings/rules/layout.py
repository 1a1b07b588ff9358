# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about who installed the node, and what its installer writes anew."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.node_state import NodeFacts
from ..model import Effect, Finding, Rule, Severity


def kubelet_inside(facts: NodeFacts) -> Iterator[Finding]:
    if facts.layout.kubelet_inside and facts.kubelet.start.config_dir is None:
        yield Finding(
            "kubelet-inside-other-process",
            Severity.INFO,
            Effect.UNSUPPORTED,
            f"{facts.layout.kubelet_inside} runs kubelet inside its own process; its values in force cannot be read.",
            facts.layout.evidence,
            f"Set kubelet's values as kubelet-arg in {facts.layout.kubelet_inside}'s configuration,"
            " or upgrade it to 1.32, which reads drop-ins.",
        )


def config_regenerated(facts: NodeFacts) -> Iterator[Finding]:
    for path, template in facts.layout.regenerated.items():
        state = "is there" if template in facts.layout.templates else "is not there yet"
        yield Finding(
            "config-regenerated",
            Severity.INFO,
            Effect.NONE,
            f"{facts.layout.name} makes {path} anew at each start.",
            (*facts.layout.evidence, f"{template} {state}"),
            _remedy(facts, template),
        )


def _remedy(facts: NodeFacts, template: str) -> str:
    folder = f"{template.removesuffix('.tmpl')}.d"
    if f"{folder}/*.toml" in facts.runtime.imports:
        return f"Write a drop-in of {folder} instead, which it imports."
    return f"Change {template} instead; begin it with the base template so that upgrades still reach the node."


RULES: tuple[Rule, ...] = (
    kubelet_inside,
    config_regenerated,
)
