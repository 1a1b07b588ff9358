# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fields and feature gates that the kubelet of this release does not have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..facts.node_state import NodeFacts
from ..plan.change_set import Refusal
from ..plan.draft import PlanDraft
from ..profile.kubelet_fields import ENFORCE_NODE_ALLOCATABLE, FEATURE_GATES, OLDEST
from ..profile.node_profile import Desired
from ..profile.option_names import variable_of
from ..releases import kubelet_features
from ..releases.kubelet_features import GATES
from ..releases.versions import Version, format_version, minor
from .evidence import quote_claims, table
from .reservations import COMPRESSIBLE, COMPRESSIBLE_SINCE
from .rule_types import Finding, start_failure


def feature_gates_refused(facts: NodeFacts) -> Iterator[Finding]:
    version = minor(facts.kubelet.version)
    reasons = tuple(kubelet_features.gate_problems(table(facts, FEATURE_GATES.key), version)) if version else ()
    if reasons:
        yield start_failure(
            "feature-gates-refused",
            "kubelet does not start with these featureGates.",
            (*reasons, *quote_claims(facts, FEATURE_GATES.key)),
            "Remove them from featureGates.",
        )


def refuse_newer_fields(draft: PlanDraft) -> Iterator[Refusal]:
    """kubelet warns about an unknown field and ignores it, pkg/kubelet/kubeletconfig/util/codec."""
    version = minor(draft.kubelet.version)
    for field in dict.fromkeys(field for field, _keys, _value in draft.desired):
        if version and version < field.since:
            yield Refusal(
                "kubelet-too-old-for-field",
                f"kubelet {draft.kubelet.version} would ignore {field.key}, which was added in"
                f" {format_version(field.since)}",
                f"Remove {variable_of(field.option)} for this node, or upgrade kubelet first.",
                variable=field.option,
            )


def _newer_than_oldest(desired: Iterable[Desired]) -> Iterator[tuple[str, str, Version]]:
    """(option, name, first version) of each setting in the profile that some supported version does not have."""
    for field, keys, value in desired:
        if field.since > OLDEST:
            yield field.option, field.key, field.since
        if field is ENFORCE_NODE_ALLOCATABLE:
            yield from ((field.option, level, COMPRESSIBLE_SINCE) for level in value if level in COMPRESSIBLE)
        if field is FEATURE_GATES and keys[1] in GATES:
            yield field.option, keys[1], GATES[keys[1]].since


def refuse_unknown_version(draft: PlanDraft) -> Iterator[Refusal]:
    if minor(draft.kubelet.version) is not None or not draft.kubelet.installed:
        return
    for option, name, since in dict.fromkeys(_newer_than_oldest(draft.desired)):
        yield Refusal(
            "kubelet-version-unknown",
            f"{name} was added in kubelet {format_version(since)}, and this kubelet does not report its version",
            f"Remove {variable_of(option)} for this node, or find out why kubelet --version does not answer.",
            variable=option,
        )
