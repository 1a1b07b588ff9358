# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the collection's verdict on a kubelet configuration differs from kubelet's."""

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
"""Values that mean that a field is not set."""
FILLED = frozenset(("enforceNodeAllocatable", "evictionHard", "containerRuntimeEndpoint", "cgroupRoot"))
"""Fields whose defaults kubelet fills in and the collection does not report."""


def differences(judge: KubeletJudge, cases: Sequence[Case]) -> list[str]:
    """One line for each case on which the collection and kubelet disagree."""
    verdicts = judge.load(cases, MACHINE)
    return [
        f"{case.name}: {reason}"
        for case, verdict in zip(cases, verdicts, strict=True)
        for reason in difference(verdict, our_verdict(case, judge.version), judge.version)
    ]


def difference(expected: Verdict, actual: OurVerdict, version: Version) -> Iterator[str]:
    if expected.error is not None:
        if not actual.refusals:
            yield f"kubelet does not start ({expected.step}: {expected.error}), and no finding says so"
        return
    if actual.refusals:
        refusals = "; ".join(f"{refusal.code}: {', '.join(refusal.evidence)}" for refusal in actual.refusals)
        yield f"kubelet starts, and the collection says that it does not: {refusals}"
        return
    yield from _values(expected.config or {}, actual.values, version)


def _values(expected: Mapping[str, Any], actual: Mapping[str, Any], version: Version) -> Iterator[str]:
    """Differences of values, for fields that this version has.

    The collection also reads later fields, because rules about upgrades need them.
    """
    for field in [field for field in OBSERVED if version >= field.since]:
        expected_value, actual_value = _decoded(field, expected.get(field.key)), _decoded(field, actual.get(field.key))
        if actual_value is None and field.key in FILLED:
            continue
        if expected_value != actual_value:
            right, wrong = render_value(expected.get(field.key)), render_value(actual.get(field.key))
            yield f"{field.key} is {right}, and the collection says {wrong}"


def _decoded(field: KubeletField, value: Any) -> Any:
    """A comparable value: an empty value is not set, and a number equals its text."""
    if value in EMPTY and not (isinstance(value, (bool, int)) and field.type is FieldType.SWITCH):
        return None
    if field.type is FieldType.MEMORY and isinstance(value, list):
        return [
            {
                "numaNode": str(entry["numaNode"]),
                "limits": {key: str(amount) for key, amount in entry["limits"].items()},
            }
            for entry in value
        ]
    if isinstance(value, Mapping):
        return {str(key): render_value(item) for key, item in value.items()} or None
    if isinstance(value, list):
        return [render_value(item) for item in value] or None
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    return render_value(value)
