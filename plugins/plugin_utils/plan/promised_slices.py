# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The node as it will be once the slices are made that kubelet's reservations name, for a plan that is made before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...module_utils.cgroup.kubelet_names import Driver
from ...module_utils.snapshot.cgroup_evidence import reserved_paths
from ..facts.model import NodeFacts
from ..findings.rules.reservations import NEEDED_V2, lacking, places
from ..profile import Profile
from ..qos.reservations import slice_of


@dataclass(frozen=True)
class Promised:
    """``facts`` with the slices in them; ``slices`` are the names of those that are still to be made for that."""

    facts: NodeFacts
    slices: tuple[str, ...] = ()
    driver: Driver | None = None


def promised(facts: NodeFacts, profile: Profile) -> Promised:
    """The node with the slices that the profile names. What is no slice under its driver stays as it is found."""
    driver = profile.cgroup_driver or facts.kubelet.cgroup_driver
    missing = {path: name for path, name in _named(profile, driver) if lacking(facts, path)}
    if not missing:
        return Promised(facts, driver=driver)
    everywhere = tuple(sorted(places(facts)))
    offered = tuple(name for name in NEEDED_V2 if name in facts.cgroup.controllers)
    cgroup = replace(
        facts.cgroup,
        reserved={**(facts.cgroup.reserved or {}), **dict.fromkeys(missing, everywhere)},
        reserved_controllers={**facts.cgroup.reserved_controllers, **dict.fromkeys(missing, offered)},
    )
    return Promised(replace(facts, cgroup=cgroup), tuple(missing.values()), driver)


def _named(profile: Profile, driver: Driver | None) -> Iterator[tuple[str, str]]:
    """(path below a hierarchy's top, name) of each slice."""
    for named in profile.reserved_cgroups:
        name = slice_of(named, driver) if driver else ""
        if name:
            yield reserved_paths(named)[-1], name
