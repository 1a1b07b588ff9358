# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Systems whose files cannot be changed, are lost at boot, or belong to the system's own manager."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...module_utils.snapshot.immutable_systems import (
    FileSystem,
    OperatingSystem,
    immutable_obstacle,
    volatile_obstacle,
    written_mounts,
)
from ..facts.node_state import NodeFacts
from ..plan.change_set import Refusal
from ..plan.draft import PlanDraft
from .rule_types import Effect, Finding, Severity


def immutable_system(facts: NodeFacts) -> Iterator[Finding]:
    system = facts.operating_system
    obstacle = immutable_obstacle(system)
    if obstacle is not None:
        yield Finding(
            "immutable-system",
            Severity.ERROR,
            Effect.UNSUPPORTED,
            obstacle.message,
            (*_identity(system), *_mounts(obstacle.places)),
            obstacle.remedy,
        )


def writes_are_lost(facts: NodeFacts) -> Iterator[Finding]:
    system = facts.operating_system
    obstacle = volatile_obstacle(system)
    if obstacle is not None:
        yield Finding(
            "writes-are-lost",
            Severity.ERROR,
            Effect.UNSUPPORTED,
            obstacle.message,
            (*_identity(system), *_mounts(obstacle.places)),
            obstacle.remedy,
        )


def read_only_usr(facts: NodeFacts) -> Iterator[Finding]:
    system = facts.operating_system
    usr = system.file_systems.get("/usr")
    if usr is None or not usr.read_only or immutable_obstacle(system) or volatile_obstacle(system):
        return
    yield Finding(
        "usr-read-only",
        Severity.INFO,
        Effect.NONE,
        "/usr is read-only, but every path that a change writes to is writable.",
        (*_identity(system), *_mounts({"/usr": usr, **written_mounts(system)})),
        "Try it on one node first: this collection was not tested on a system with a read-only /usr.",
    )


def _identity(system: OperatingSystem) -> tuple[str, ...]:
    variant = f", VARIANT_ID={system.variant}" if system.variant else ""
    return (f"os-release: ID={system.id}{variant}, {system.name}",) if system.id or system.name else ()


def _mounts(file_systems: Mapping[str, FileSystem]) -> Iterator[str]:
    for path, file_system in file_systems.items():
        leads = "" if file_system.leads_to == path else f" leads to {file_system.leads_to},"
        yield f"{path}{leads} is on {file_system}"


def immutable_refusals(facts: NodeFacts) -> tuple[Refusal, ...]:
    """For every module that runs a transaction, which needs the engine, its unit and the journal."""
    return tuple(_refusals(facts))


def refuse_immutable_system(draft: PlanDraft) -> Iterator[Refusal]:
    return _refusals(draft.facts)


def _refusals(facts: NodeFacts) -> Iterator[Refusal]:
    for rule in (immutable_system, writes_are_lost, read_only_usr):
        for finding in rule(facts):
            if finding.effect is Effect.UNSUPPORTED:
                yield Refusal(finding.code, finding.summary.rstrip("."), finding.remedy)
