# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node compared with a profile: from a snapshot to the facts document, alike for a live and a recorded node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any

from ..facts.interpreter import interpret
from ..profile.node_profile import Profile, desired_fields, parse_profile, parse_targets
from ..report.facts_document import facts_document
from ..rules.upgrade import upgrade_findings
from ..rules.verdict import all_findings, judge, own_findings
from .node_plan import make_plan

LOCATION_OPTIONS = ("kubelet_strategy", "kubeadm_patches", "containerd_strategy")
"""Options that decide where values are written; they are not values of the node."""


class Source(str, Enum):
    """The origin of a value, as far as known: Ansible passes the value of a variable, not the file that sets it."""

    SET = "set"
    ROLE_DEFAULT = "role-default"


@dataclass(frozen=True)
class ComparedValue:
    """A value of the profile; ``option`` names it as the modules do, such as ``system_reserved.cpu``."""

    option: str
    value: Any
    source: Source


@dataclass(frozen=True)
class ComparedProfile:
    """``specified``: whether the node was compared with a profile; otherwise it has no ``values``."""

    specified: bool = False
    values: tuple[ComparedValue, ...] = ()

    def to_result(self) -> dict[str, Any]:
        """The section ``profile`` of the facts document."""
        return {"specified": self.specified, "options": [asdict(value) for value in self.values]}


def parse_compared_profile(options: Mapping[str, Any]) -> tuple[Profile, ComparedProfile]:
    """The profile to compare with, and its values for a report. ProfileError names a wrong option.

    Defaults of the role are a profile only together with a value that was set, or with ``compare_defaults``.
    """
    profile = parse_profile(options)
    values = tuple(_values(profile, frozenset(options.get("profile_defaults") or ())))
    if options.get("compare_defaults") or any(value.source is Source.SET for value in values):
        return profile, ComparedProfile(bool(values), values)
    return parse_profile({name: options.get(name) for name in LOCATION_OPTIONS}), ComparedProfile()


def _values(profile: Profile, defaults: frozenset[str]) -> Iterator[ComparedValue]:
    for option, value in _desired_values(profile):
        yield ComparedValue(option, value, Source.ROLE_DEFAULT if option in defaults else Source.SET)


def _desired_values(profile: Profile) -> Iterator[tuple[str, Any]]:
    for field, keys, value in desired_fields(profile):
        yield ".".join((field.option, *keys[1:])), value
    if profile.nri.enabled is not None:
        yield "nri.enabled", profile.nri.enabled
    for name, text in profile.nri.settings.items():
        yield f"nri.{name}", text


def assess(snapshot: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The facts document, compared with profile and targets in ``arguments``; SnapshotError, ProfileError.

    Without a profile the node is only compared with itself, now and after a restart.
    """
    (profile, compared), targets = parse_compared_profile(arguments), parse_targets(arguments)
    facts = interpret(snapshot)
    plan = make_plan(facts, profile, allow_disruption=True)
    findings = all_findings(facts, plan) if compared.specified else own_findings(facts, plan)
    findings += upgrade_findings(facts, targets)
    return facts_document(facts, findings, judge(findings), compared.to_result())
