# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a manifest says held against an object as it is and as the manifest last said: kubectl's three ways, but one.

A field that the manifest says as before stays as somebody else has set it since: what the scheduler's role writes into
Volcano's ConfigMap is not undone by the next installation. kubectl apply would put it back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...module_utils.quantity import parse_quantity
from ..kube.objects import Object, patched

ABSENT: Any = object()
_AMOUNTS = frozenset(
    ("limits", "requests", "capability", "deserved", "hard", "min", "max", "default", "defaultRequest", "capacity")
)
"""Keys of mappings whose values are quantities, which a server writes in a form of its own."""


@dataclass
class Merged:
    """``change`` is the merge patch (RFC 7386) that is needed. ``kept`` and ``conflicts`` name fields by their path.

    ``kept``: the manifest says them as before, somebody else has set them since. ``conflicts``: both have changed.
    """

    change: dict[str, Any] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)


def merge(live: Object, wanted: Object, last: Object) -> Merged:
    """Three ways for the fields that the manifest says or used to say. All others are others'."""
    result = Merged()
    result.change = _mapping(live, wanted, last, "", result)
    return result


def is_as_wanted(found: Any, wanted: Any) -> bool:
    """Whether a value says all that is wanted. What is empty or zero need not be there; a list has no further items."""
    if found is None or found is ABSENT:
        return not wanted
    if isinstance(wanted, Mapping):
        return isinstance(found, Mapping) and all(_says(key, found.get(key), each) for key, each in wanted.items())
    if isinstance(wanted, list):
        same = isinstance(found, list) and len(found) == len(wanted)
        return same and all(is_as_wanted(one, other) for one, other in zip(found, wanted, strict=True))
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    return wanted is not None and str(found) == str(wanted)


def _says(key: str, found: Any, wanted: Any) -> bool:
    """The same for what stands under a key, which tells amounts from versions: 1000m is 1, and 1.10 is not 1.1."""
    if key in _AMOUNTS and isinstance(found, Mapping) and isinstance(wanted, Mapping):
        return all(_same_quantity(found.get(name), each) for name, each in wanted.items())
    return is_as_wanted(found, wanted)


def _same_quantity(found: Any, wanted: Any) -> bool:
    try:
        return parse_quantity(str(found)) == parse_quantity(str(wanted))
    except ValueError:
        return is_as_wanted(found, wanted)


def _mapping(live: Object, wanted: Object, last: Object, place: str, told: Merged) -> dict[str, Any]:
    change: dict[str, Any] = {}
    for key, value in wanted.items():
        found = _value(live.get(key, ABSENT), value, last.get(key, ABSENT), f"{place}{key}", told)
        if found is not ABSENT:
            change[key] = found
    for key, value in last.items():
        if key not in wanted and key in live:
            found = _dropped(live[key], value, f"{place}{key}", told)
            if found is not ABSENT:
                change[key] = found
    return change


def _value(live: Any, wanted: Any, last: Any, place: str, told: Merged) -> Any:
    """What a patch has to say of one field; ABSENT where nothing."""
    if isinstance(live, Mapping) and isinstance(wanted, Mapping):
        return _mapping(live, wanted, last if isinstance(last, Mapping) else {}, f"{place}.", told) or ABSENT
    if _named(live) and _named(wanted):
        return _list(live, wanted, last if _named(last) else [], place, told)
    if _is_right(live, wanted, place):
        return ABSENT
    if last is not ABSENT and _same(last, wanted):
        told.kept.append(place)
        return ABSENT
    if last is not ABSENT and live is not ABSENT and not is_as_wanted(live, last):
        told.conflicts.append(place)
    return wanted


def _is_right(live: Any, wanted: Any, place: str) -> bool:
    """A value that is no mapping, by the key of the mapping that it is in."""
    above = place.rpartition(".")[0].rpartition(".")[2]
    return _says(above, {"": live}, {"": wanted}) if live is not ABSENT else not wanted


def _dropped(live: Any, last: Any, place: str, told: Merged) -> Any:
    """The manifest says this field no longer: it goes, but for what others have put there."""
    if isinstance(live, Mapping) and isinstance(last, Mapping) and last:
        return _mapping(live, {}, last, f"{place}.", told) or ABSENT
    if is_as_wanted(live, last):
        return None
    told.kept.append(place)
    return ABSENT


def _same(one: Any, other: Any) -> bool:
    return is_as_wanted(one, other) and is_as_wanted(other, one)


def _named(value: Any) -> bool:
    """Whether the items of a list are told apart by their names, as containers, variables and webhooks are."""
    if not isinstance(value, list) or not value:
        return False
    names = [each.get("name") if isinstance(each, Mapping) else None for each in value]
    return all(isinstance(each, str) for each in names) and len(set(names)) == len(names)


def _list(live: list[Any], wanted: list[Any], last: list[Any], place: str, told: Merged) -> Any:
    """Item by item: what others have added stays, what the manifest had and drops goes."""
    now, then = ({each["name"]: each for each in items} for items in (live, last))
    result: dict[str, Any] = {}
    for each in wanted:
        name, spot = each["name"], f"{place}[{each['name']}]"
        if name in now:
            result[name] = patched(now[name], _mapping(now[name], each, then.get(name, {}), f"{spot}.", told))
        elif name in then and _same(then[name], each):
            told.kept.append(spot)
        else:
            result[name] = each
    others = {name: each for name, each in now.items() if name not in result and name not in then}
    everything = {**result, **others}
    if [name for name in now if name in result] == list(result):
        everything = {name: everything[name] for name in now if name in everything}
    found = list(everything.values())
    return ABSENT if found == live else found
