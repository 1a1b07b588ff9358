# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which runtime's plan a node gets: the one place where the runtimes are told apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..facts.model import NodeFacts, RuntimeFacts
from ..profile import Profile
from . import containerd
from .crio import crio_changes, crio_nri_skip
from .model import Change, Skip


@dataclass(frozen=True)
class Planner:
    """``changes`` of a runtime, and what of NRI it cannot have."""

    changes: Callable[[NodeFacts, Profile], tuple[Change, ...]]
    nri_skip: Callable[[RuntimeFacts, Profile], Skip | None]


RUNTIMES: Mapping[str, Planner] = {
    "containerd": Planner(containerd.runtime_changes, containerd.nri_skip),
    "cri-o": Planner(lambda facts, profile: crio_changes(facts.runtime, profile), crio_nri_skip),
}
"""By the name that the CRI gives itself. Nodes with another runtime are refused before anything is planned."""


def planner(facts: RuntimeFacts) -> Planner | None:
    return RUNTIMES.get(facts.name or "containerd")


def runtime_changes(facts: NodeFacts, profile: Profile) -> tuple[Change, ...]:
    """What differs between the node's runtime and the profile."""
    found = planner(facts.runtime)
    return found.changes(facts, profile) if found else ()


def nri_skip(facts: NodeFacts, profile: Profile) -> Skip | None:
    """NRI asked of a runtime that has none."""
    found = planner(facts.runtime)
    return found.nri_skip(facts.runtime, profile) if found else None


def skips(facts: NodeFacts, profile: Profile) -> tuple[Skip, ...]:
    """What is left out because the profile says so."""
    skip = nri_skip(facts, profile)
    return (skip,) if skip and profile.nri.unsupported == "skip" else ()
