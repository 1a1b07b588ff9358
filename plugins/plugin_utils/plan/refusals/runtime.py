# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why the runtime is not touched: the rules of the one that kubelet uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...facts.model import NodeFacts
from ...profile import Profile
from ..model import Refusal
from . import containerd, crio, docker, regenerated
from .model import Rule

RULES_OF: Mapping[str, tuple[Rule, ...]] = {"containerd": containerd.RULES, "cri-o": crio.RULES, "docker": docker.RULES}
"""By the name that the CRI gives itself; every other runtime is refused."""


def _of_the_runtime(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    rules = RULES_OF.get(facts.runtime.name or "containerd")
    if rules is None:
        yield Refusal(
            "runtime-unsupported",
            f"kubelet uses {facts.runtime.name} at {facts.runtime.endpoint}",
            "This release changes containerd and CRI-O only; assess tells what the node's own runtime has.",
        )
        return
    for rule in rules:
        yield from rule(facts, profile)


RULES: tuple[Rule, ...] = (_of_the_runtime, *regenerated.RULES)


def rules_for(name: str, module: str) -> tuple[Rule, ...]:
    """The rules of a module that configures one runtime; ``module`` is the one for the other nodes."""

    def another(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
        # A node without any runtime has no name for it, and is refused by containerd's rules.
        if (facts.runtime.name or "containerd") == name:
            for rule in RULES:
                yield from rule(facts, profile)
        else:
            used = facts.runtime.name or "no runtime that was found"
            yield Refusal(
                "another-runtime",
                f"kubelet uses {used} at {facts.runtime.endpoint}, not {name}",
                f"Use {module} there, or node_align, which finds out by itself.",
            )

    return (another,)
