# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that kubelet would not decode are not edited: of another kind, or with a field of another type."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.kubelet_types import kind_problem, type_problems
from ...facts.model import NodeFacts
from ...kubelet_fields import (
    CPU_MANAGER_POLICY,
    KUBE_RESERVED,
    MEMORY_MANAGER_POLICY,
    OBSERVED,
    RESERVED_MEMORY,
    RESERVED_SYSTEM_CPUS,
    SYSTEM_RESERVED,
    TOPOLOGY_MANAGER_POLICY,
)
from ...profile import Profile
from ..kubelet_after import desired_fields
from ..kubelet_place import decoded_files
from ..model import Refusal
from .model import Rule

TOLD_OTHERWISE = frozenset(
    (
        CPU_MANAGER_POLICY,
        KUBE_RESERVED,
        MEMORY_MANAGER_POLICY,
        RESERVED_MEMORY,
        RESERVED_SYSTEM_CPUS,
        SYSTEM_RESERVED,
        TOPOLOGY_MANAGER_POLICY,
    )
)
"""Fields whose values have rules of their own, which say more: startup.py."""
BEGINNING = "Begin it with the lines apiVersion: kubelet.config.k8s.io/v1beta1 and kind: KubeletConfiguration"


def _kind(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    if not any(True for _each in desired_fields(profile)):
        return
    for config in decoded_files(facts):
        problem = kind_problem(config)
        if problem:
            yield Refusal(
                "kubelet-config-kind",
                f"kubelet does not start with this file: {problem.message}",
                f"{BEGINNING}; or name kubelet's own file in its --config.",
                file=config.path,
                line=problem.line,
            )


def _types(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    desired = {field for field, _keys, _value in desired_fields(profile)}
    looked_at = [field for field in OBSERVED if field not in desired | TOLD_OTHERWISE] if desired else []
    for config in decoded_files(facts):
        for problem in type_problems(config, looked_at):
            yield Refusal(
                "kubelet-field-type",
                f"kubelet does not start with this file: {problem.message}",
                "Correct the value, or take it out.",
                file=config.path,
                line=problem.line,
            )


RULES: tuple[Rule, ...] = (_kind, _types)
