# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why the runtime is not touched: the rules of the one that kubelet uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..change_set import Refusal
from ..draft import PlanDraft
from . import containerd, crio, docker, regenerated
from .model import Rule

RULES_OF: Mapping[str, tuple[Rule, ...]] = {"containerd": containerd.RULES, "cri-o": crio.RULES, "docker": docker.RULES}
"""By the name that the CRI gives itself; every other runtime is refused."""


def _of_the_runtime(draft: PlanDraft) -> Iterator[Refusal]:
    rules = RULES_OF.get(draft.runtime.name or "containerd")
    if rules is None:
        yield Refusal(
            "runtime-unsupported",
            f"kubelet uses {draft.runtime.name} at {draft.runtime.endpoint}",
            "This release changes containerd and CRI-O only; assess tells what the node's own runtime has.",
        )
        return
    for rule in rules:
        yield from rule(draft)


RULES: tuple[Rule, ...] = (_of_the_runtime, *regenerated.RULES)


def rules_for(name: str, module: str) -> tuple[Rule, ...]:
    """The rules of a module that configures one runtime; ``module`` is the one for the other nodes."""

    def another(draft: PlanDraft) -> Iterator[Refusal]:
        # A node without any runtime has no name for it, and is refused by containerd's rules.
        if (draft.runtime.name or "containerd") == name:
            for rule in RULES:
                yield from rule(draft)
        else:
            used = draft.runtime.name or "no runtime that was found"
            yield Refusal(
                "another-runtime",
                f"kubelet uses {used} at {draft.runtime.endpoint}, not {name}",
                f"Use {module} there, or node_align, which finds out by itself.",
            )

    return (another,)
