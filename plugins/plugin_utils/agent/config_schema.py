# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the agent takes a configuration: one mistake in it, and it keeps to the one before, with a line in its log.

Source: volcano pkg/agent/config/api/validate.go, applied as pkg/agent/config/utils/utils.go MergerCfg does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .config_keys import DEFAULTS, ORDERED, SECTIONS, STRICT, Path, flat, reversed_pair

GLOBAL, NODES = "globalConfig", "nodesConfig"


def problems(document: Mapping[str, Any]) -> tuple[str, ...]:
    """All mistakes in the whole document, each with its path."""
    shape = tuple(_shape(document))
    if shape:
        return shape
    base = dict(flat(document.get(GLOBAL)))
    found = list(_values(document.get(GLOBAL), GLOBAL))
    found += _order({**DEFAULTS, **base}, GLOBAL)
    for index, entry in enumerate(document.get(NODES) or ()):
        place = f"{NODES}[{index}]"
        found += _values(entry, place)
        found += _order({**DEFAULTS, **base, **dict(flat(entry))}, place)
    return tuple(dict.fromkeys(found))


def _shape(document: Mapping[str, Any]) -> Iterator[str]:
    if not isinstance(document.get(GLOBAL, {}), Mapping):
        yield f"{GLOBAL} is no object"
    entries = document.get(NODES)
    if entries is not None and not isinstance(entries, list):
        yield f"{NODES} is no list"
        return
    for index, entry in enumerate(entries or ()):
        if not isinstance(entry, Mapping):
            yield f"{NODES}[{index}] is no object"
        elif not isinstance(entry.get("selector", {}), Mapping):
            yield f"{NODES}[{index}].selector is no object"


def _values(part: object, place: str) -> Iterator[str]:
    if not isinstance(part, Mapping):
        return
    for section in SECTIONS:
        table = part.get(section)
        if table is not None and not isinstance(table, Mapping):
            yield f"{place}.{section} is no object"
    for path, value in flat(part):
        problem = SECTIONS[path[0]][path[1]].problem(value)
        if problem:
            yield f"{place}.{'.'.join(path)}: {value!r} {problem}"


def _order(values: Mapping[Path, Any], place: str) -> Iterator[str]:
    for low, high in ORDERED:
        pair = values.get(low), values.get(high)
        if not all(isinstance(each, int) for each in pair):
            continue
        if values[low] > values[high] or ((low, high) in STRICT and values[low] == values[high]):
            yield f"{place}: {reversed_pair(low, high, values)}"


def matches(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """metav1.LabelSelectorAsSelector: an empty selector matches all, an unknown operator nothing."""
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    return all(_meets(each, labels) for each in selector.get("matchExpressions") or ())


def _meets(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, values = expression.get("key", ""), expression.get("values") or ()
    answers = {
        "In": labels.get(key) in values,
        "NotIn": labels.get(key) not in values,
        "Exists": key in labels,
        "DoesNotExist": key not in labels,
    }
    return answers.get(expression.get("operator", ""), False)


def shadowed(
    document: Mapping[str, Any], is_ours: Sequence[bool], nodes: Mapping[str, Mapping[str, str]]
) -> tuple[str, ...]:
    """Nodes with two matching entries, of which one is ours: the agent takes the last and forgets the other.

    ``nodes`` are labels by the Node's name, as they will be.
    """
    found = []
    for index, entry in enumerate(document.get(NODES) or ()):
        if is_ours[index]:
            continue
        hit = [name for name, labels in nodes.items() if matches(entry.get("selector") or {}, labels)]
        if hit:
            found.append(f"{NODES}[{index}] matches {', '.join(sorted(hit))}")
    return tuple(found)
