# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The documentation of kubelet's settings for modules, role and docs page, from the table of its fields."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.field_schema import (
    FieldImpact,
    FieldType,
    KubeletField,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.kubelet_fields import (
    CPU_MANAGER_POLICY,
    FIELDS,
    MEMORY_MANAGER_POLICY,
    OLDEST,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.releases.versions import Version

PREFIX = "colocation_"
EMPTY = {FieldType.TEXT: "", FieldType.TABLE: {}, FieldType.LIST: [], FieldType.MEMORY: ""}
"""The role's defaults by type, which do not change a field; other types have none."""

_ENTRIES, _EMPTY = "Entries that are not listed do not change.", "If unset or empty, the field does not change."
_UNCHANGED = {FieldType.TABLE: _ENTRIES, FieldType.LIST: _EMPTY, FieldType.MEMORY: _EMPTY}
_CONDITIONS = {
    FieldImpact.DRAIN: "",
    FieldImpact.DRAIN_UNDER_STATIC_CPU: " where the CPU manager's policy is V(static)",
    FieldImpact.DRAIN_UNDER_STATIC_MEMORY: " where the memory manager's policy is V(Static)",
}
_UNDER = {
    FieldImpact.DRAIN: "",
    FieldImpact.DRAIN_UNDER_STATIC_CPU: " under `static`",
    FieldImpact.DRAIN_UNDER_STATIC_MEMORY: " under `Static`",
}
_CPU, _MEMORY = "`cpu_manager_state`", "`memory_manager_state`"
_CHECKPOINTS = {FieldImpact.DRAIN_UNDER_STATIC_CPU: _CPU, FieldImpact.DRAIN_UNDER_STATIC_MEMORY: _MEMORY}


def of_module(field: KubeletField) -> list[str]:
    """The paragraphs of a module's option."""
    return [*_paragraphs(field), _UNCHANGED.get(field.type, "If unset, the field does not change.")]


def of_role(field: KubeletField) -> list[str]:
    """The paragraphs of the role's variable."""
    return [
        re.sub(r"\bO\((\w+)\)", rf"C({PREFIX}\1)", text) for text in (*_paragraphs(field), _unchanged_by_role(field))
    ]


def _unchanged_by_role(field: KubeletField) -> str:
    if field.role_default:
        return (
            f"Empty does not change it. If unset, C(provision) and C(verify) use V({field.role_default}), and so does"
            " C(assess) if any other variable of the profile is set."
        )
    if field.type is FieldType.TABLE:
        return _ENTRIES
    return "Empty does not change it." if field.type in EMPTY else "If unset, the field does not change."


def _paragraphs(field: KubeletField) -> Iterator[str]:
    yield from field.description.split("\n")
    yield " ".join(_statements(field))


def _statements(field: KubeletField) -> Iterator[str]:
    if field.since > OLDEST:
        yield f"Requires Kubernetes {_text(field.since)} or newer."
    if field.unit:
        yield f"The value is {field.unit}."
    if field.default:
        yield f"kubelet's default is V({field.default}){_later(field, 'V(%s)')}."
    yield "A change needs a restart of kubelet."
    for entry, impact in (("", field.impact), *field.entry_impacts):
        if impact in _CONDITIONS:
            changed = f"a change of C({entry})" if entry else "it"
            yield f"Pods are stopped for {changed}{_CONDITIONS[impact]}."


def _text(version: Version) -> str:
    return ".".join(map(str, version))


def _later(field: KubeletField, form: str) -> str:
    return "".join(f", from {_text(since)} on {form % value if value else 'none'}" for since, value in field.later)


def fields_table() -> str:
    """The table of docs/kubelet.md with the field of each option and the impact of a change."""
    head = ("| option | field | since | default | a change takes | checkpoint |", "|---|---|---|---|---|---|")
    return "\n".join((*head, *(_row(f"`{field.option}`", f"`{field.key}`", *_columns(field)) for field in FIELDS)))


def sources_table() -> str:
    """The table of docs/kubelet.md with the values of each option, its flag, and the source."""
    head = ("| option | value | flag | source |", "|---|---|---|---|")
    rows = (
        _row(f"`{field.option}`", _value(field), field.flag and f"`{field.flag}`", field.source) for field in FIELDS
    )
    return "\n".join((*head, *rows))


def _row(*cells: str) -> str:
    return re.sub(r" +", " ", f"| {' | '.join(cells)} |")


def _columns(field: KubeletField) -> tuple[str, str, str, str]:
    """The columns since, default, impact and checkpoint."""
    since = _text(field.since) if field.since >= OLDEST else ""
    default = f"`{field.default}`{_later(field, '`%s`')}" if field.default else ""
    return since, default, _takes(field), _checkpoint(field)


def _takes(field: KubeletField) -> str:
    if field.impact in _UNDER:
        return f"drain{_UNDER[field.impact]}"
    entries = [f" for `{entry}`{_UNDER[impact]}" for entry, impact in field.entry_impacts]
    return f"drain{','.join(entries)}" if entries else "restart"


def _checkpoint(field: KubeletField) -> str:
    if field in (CPU_MANAGER_POLICY, MEMORY_MANAGER_POLICY):
        return _CPU if field is CPU_MANAGER_POLICY else _MEMORY
    checkpoints = [checkpoint for impact, checkpoint in _CHECKPOINTS.items() if impact in field.impacts]
    return "both" if len(checkpoints) > 1 else "".join(checkpoints)


def _value(field: KubeletField) -> str:
    if field.type is FieldType.SWITCH:
        return "`true` or `false`"
    return ", ".join(f"`{choice}`" for choice in field.choices) or re.sub(r"V\((.*?)\)", r"`\1`", field.unit)
