# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why the runtime is not touched: the rules of the one that kubelet uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...facts.model import NodeFacts
from ...profile import Profile
from ..model import Refusal
from . import containerd
from .model import Rule

RULES_OF: Mapping[str, tuple[Rule, ...]] = {"containerd": containerd.RULES}
"""By the name that the CRI gives itself; every other runtime is refused."""


def _of_the_runtime(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    rules = RULES_OF.get(facts.runtime.name or "containerd")
    if rules is None:
        yield Refusal(
            "runtime-unsupported",
            f"kubelet uses {facts.runtime.name} at {facts.runtime.endpoint}",
            f"This release changes {' and '.join(RULES_OF)} only; assess tells what the node's own runtime has.",
        )
        return
    for rule in rules:
        yield from rule(facts, profile)


def _regenerated(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    for path, template in facts.layout.regenerated.items():
        yield Refusal(
            "config-regenerated",
            f"{facts.layout.name} makes this file anew at each start",
            f"Put the setting into {template}.",
            file=path,
        )


RULES: tuple[Rule, ...] = (_of_the_runtime, _regenerated)
