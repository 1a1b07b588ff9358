# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where our verdict on a kubelet configuration differs from kubelet's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.kubelet_layers import render_value
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.field_schema import FieldType, KubeletField
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.kubelet_fields import OBSERVED
from ansible_collections.volcano.colocation.plugins.plugin_utils.releases.versions import Version

from .kubelet_judge import Case, KubeletJudge, Verdict
from .kubelet_ours import MACHINE, OurVerdict, our_verdict

EMPTY: tuple[Any, ...] = (None, "", 0, "0", False, [], {})
"""What a field that is not set comes out as."""
FILLED = frozenset(("enforceNodeAllocatable", "evictionHard", "containerRuntimeEndpoint", "cgroupRoot"))
"""Defaults that kubelet fills in and that we say nothing of."""


def differences(judge: KubeletJudge, cases: Sequence[Case]) -> list[str]:
    """One line for each case on which we do not agree."""
    verdicts = judge.load(cases, MACHINE)
    return [
        f"{case.name}: {reason}"
        for case, verdict in zip(cases, verdicts, strict=True)
        for reason in difference(verdict, our_verdict(case, judge.version), judge.version)
    ]


def difference(theirs: Verdict, ours: OurVerdict, version: Version) -> Iterator[str]:
    if theirs.error is not None:
        if not ours.refusals:
            yield f"kubelet does not start ({theirs.step}: {theirs.error}), and no finding says so"
        return
    if ours.refusals:
        said = "; ".join(f"{each.code}: {', '.join(each.evidence)}" for each in ours.refusals)
        yield f"kubelet starts, and we say that it does not: {said}"
        return
    yield from _values(theirs.config or {}, ours.values, version)


def _values(theirs: Mapping[str, Any], ours: Mapping[str, Any], version: Version) -> Iterator[str]:
    """Of a field that came later, ours is what the next kubelet would find: rules about upgrades ask for it."""
    for field in [field for field in OBSERVED if version >= field.since]:
        found, said = _decoded(field, theirs.get(field.key)), _decoded(field, ours.get(field.key))
        if said is None and field.key in FILLED:
            continue
        if found != said:
            yield f"{field.key} is {render_value(theirs.get(field.key))}, ours is {render_value(ours.get(field.key))}"


def _decoded(field: KubeletField, value: Any) -> Any:
    """Comparable: what is empty is not set, and a default written as a text is its value."""
    if value in EMPTY and not (isinstance(value, (bool, int)) and field.type is FieldType.SWITCH):
        return None
    if field.type is FieldType.MEMORY and isinstance(value, list):
        return [
            {"numaNode": str(each["numaNode"]), "limits": {key: str(amount) for key, amount in each["limits"].items()}}
            for each in value
        ]
    if isinstance(value, Mapping):
        return {str(key): render_value(each) for key, each in value.items()} or None
    if isinstance(value, list):
        return [render_value(each) for each in value] or None
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    return render_value(value)
