# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The supported container runtimes, the defects of their files, and the refusals for each runtime."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..facts.node_state import NodeFacts
from ..facts.runtime_state import Defect
from ..plan.change_set import Refusal
from ..plan.draft import PlanDraft
from .containerd_files import CONTAINERD_DEFECTS, CONTAINERD_REFUSALS
from .crio import CRIO_DEFECTS, CRIO_REFUSALS
from .docker import DOCKER_DEFECTS, DOCKER_REFUSALS
from .evidence import quote_claims
from .k3s_and_rke2 import refuse_regenerated_file
from .rule_types import DefectFinding, Effect, Finding, RefusalRule, Severity

DEFECTS: Mapping[str, DefectFinding] = {**CONTAINERD_DEFECTS, **CRIO_DEFECTS, **DOCKER_DEFECTS}
"""By the defect's code."""


def runtime_defects(facts: NodeFacts) -> Iterator[Finding]:
    for code, (severity, effect, summary, remedy) in DEFECTS.items():
        defects = [defect for defect in facts.runtime.defects if defect.code == code]
        for file in dict.fromkeys(defect.file for defect in defects):
            evidence = tuple(_describe_defect(defect) for defect in defects if defect.file == file)
            yield Finding(code, severity, effect, summary.format(file=file), evidence, remedy)


def _describe_defect(defect: Defect) -> str:
    line = f":{defect.line}" if defect.line is not None else ""
    return f"{defect.file}{line}: {defect.message}"


def runtime_unsupported(facts: NodeFacts) -> Iterator[Finding]:
    if facts.runtime.name not in ("containerd", "cri-o", None):
        yield Finding(
            "runtime-unsupported",
            Severity.ERROR,
            Effect.UNSUPPORTED,
            f"kubelet uses {facts.runtime.name}, which this collection does not configure.",
            (facts.runtime.endpoint, *quote_claims(facts, "native.cgroupdriver")),
            "Move the node to containerd or CRI-O, or keep both drivers equal by hand.",
        )


def runtime_config_changed(facts: NodeFacts) -> Iterator[Finding]:
    """The CRI reports each handler's driver, but not the other values that the runtime uses."""
    changed = tuple(config.path for config in facts.runtime.layers if config.changed_after_start)
    if facts.runtime.running and changed and facts.driver.live is None:
        yield Finding(
            "runtime-config-changed-after-start",
            Severity.WARNING,
            Effect.LATENT,
            f"{facts.runtime.name}'s files changed after it started, and it does not report the values that it uses.",
            changed,
            "It may still run with the old values; the next restart applies the files.",
        )


REFUSALS_BY_RUNTIME: Mapping[str, tuple[RefusalRule, ...]] = {
    "containerd": CONTAINERD_REFUSALS,
    "cri-o": CRIO_REFUSALS,
    "docker": DOCKER_REFUSALS,
}
"""By the runtime's name in the CRI; every other runtime is refused."""


def _refuse_by_runtime(draft: PlanDraft) -> Iterator[Refusal]:
    rules = REFUSALS_BY_RUNTIME.get(draft.runtime.name or "containerd")
    if rules is None:
        yield Refusal(
            "runtime-unsupported",
            f"kubelet uses {draft.runtime.name} at {draft.runtime.endpoint}",
            "This release changes containerd and CRI-O only; assess reports the settings of other runtimes.",
        )
        return
    for rule in rules:
        yield from rule(draft)


RUNTIME_REFUSALS: tuple[RefusalRule, ...] = (_refuse_by_runtime, refuse_regenerated_file)


def refusals_for(name: str, module: str) -> tuple[RefusalRule, ...]:
    """Rules of a module that configures the runtime ``name``; ``module`` is the one for the other runtime."""

    def another(draft: PlanDraft) -> Iterator[Refusal]:
        # A node without a runtime has no name for it; containerd's rules refuse it.
        if (draft.runtime.name or "containerd") == name:
            for rule in RUNTIME_REFUSALS:
                yield from rule(draft)
        else:
            used = draft.runtime.name or "an unknown runtime"
            yield Refusal(
                "another-runtime",
                f"kubelet uses {used} at {draft.runtime.endpoint}, not {name}",
                f"Use {module} for this node, or node_align, which detects the runtime.",
            )

    return (another,)
