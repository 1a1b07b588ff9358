# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether an object of the API server says all that is desired, and the merge patch that it still needs.

Three ways, as kubectl apply has them: what is desired, what was desired last, and what the API server has. Fields that
neither speaks of belong to other clients and stay. Server-side apply would not do: it has no record of what was there
before, and objects that older states of the collection have written belong to another field manager.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ...module_utils.quantity import parse_quantity
from .objects import Object, apply_patch, removal_patch

ABSENT: Any = object()
_QUANTITIES = frozenset(
    ("limits", "requests", "capability", "deserved", "hard", "min", "max", "default", "defaultRequest", "capacity")
)
"""Keys of mappings whose values are quantities, which an API server writes in a form of its own."""
_WHOLE_STRUCTURES = frozenset(
    (
        *("livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "httpGet", "tcpSocket", "exec", "grpc"),
        *("valueFrom", "emptyDir", "hostPath", "configMap", "secret", "projected", "downwardAPI"),
        *("persistentVolumeClaim", "rollingUpdate"),
    )
)
"""Structures of k8s.io/api core/v1 and apps/v1 in which an API server fills fields, and which it refuses without ours:
a probe without a handler, a volume or a variable with two sources, a rollingUpdate of the type OnDelete."""
ItemKey = tuple[Any, Any, str]
FieldPath = tuple[str, ...]
"""The keys of a field. An item of a list is a part of its key, as in containers[NAME]."""


class Absent(Enum):
    """What a field is that an object does not have. ZERO: servers leave such fields of built-in kinds out (omitempty).

    Custom resources keep False and 0, and may have another default, so that there only EMPTY holds. Where DIFFERS
    holds, {} is a value too: an emptyDir that became a hostPath has lost it.
    """

    DIFFERS = "differs"
    EMPTY = "empty"
    ZERO = "zero"

    def means(self, value: Any) -> bool:
        """Whether a value is the same as none."""
        if value is None or self is Absent.DIFFERS:
            return value is None
        return not value if self is Absent.ZERO else value in ({}, [])


class Drift(Enum):
    """What becomes of a field that another client changed: it stays as long as the same is desired, or it is reset."""

    KEEP = "keep"
    RESET = "reset"


@dataclass(frozen=True)
class MergeRules:
    absent: Absent
    drift: Drift


@dataclass
class MergeResult:
    """``change`` is the merge patch (RFC 7386) that is needed. ``kept`` and ``conflicts`` name fields by their path.

    ``kept``: another client has changed them, the same is desired as before. ``conflicts``: both have changed.
    """

    change: dict[str, Any] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)


def covers(found: Any, desired: Any, absent: Absent) -> bool:
    """Whether a value says all that is desired. A mapping may say more, a list may not; 4 is as good as "4"."""
    if absent.means(found) and absent.means(desired):
        return True
    if isinstance(desired, Mapping):
        return isinstance(found, Mapping) and all(
            _covers_field(key, found.get(key), value, absent) for key, value in desired.items()
        )
    if isinstance(desired, (list, tuple)):
        same = isinstance(found, (list, tuple)) and len(found) == len(desired)
        return same and all(covers(one, other, absent) for one, other in zip(found, desired, strict=True))
    if isinstance(found, bool) or isinstance(desired, bool):
        return found is desired
    return found is not None and desired is not None and str(found) == str(desired)


def _covers_field(key: str, found: Any, desired: Any, absent: Absent) -> bool:
    """The key tells amounts from versions: 1000m is 1, and 1.10 is not 1.1."""
    if key in _QUANTITIES and isinstance(found, Mapping) and isinstance(desired, Mapping):
        return all(_same_quantity(found.get(name), value, absent) for name, value in desired.items())
    return covers(found, desired, absent)


def _same_quantity(found: Any, desired: Any, absent: Absent) -> bool:
    try:
        return parse_quantity(str(found)) == parse_quantity(str(desired))
    except ValueError:
        return covers(found, desired, absent)


def merge(live: Object, desired: Object, last: Object, rules: MergeRules, undo: Object | None = None) -> MergeResult:
    """What an object still needs. ``undo`` is the merge patch that takes ``last`` back; by default it is removed."""
    merging = _Merging(rules)
    merging.result.change = merging.mapping(live, desired, last, removal_patch(last) if undo is None else undo, ())
    return merging.result


class _Merging:
    def __init__(self, rules: MergeRules) -> None:
        self._rules, self.result = rules, MergeResult()

    def mapping(self, live: Object, desired: Object, last: Object, undo: Object, place: FieldPath) -> dict[str, Any]:
        change: dict[str, Any] = {}
        for key, value in desired.items():
            below = undo.get(key) if isinstance(undo.get(key), Mapping) else {}
            found = self._value(live.get(key, ABSENT), value, last.get(key, ABSENT), below or {}, (*place, key))
            if found is not ABSENT:
                change[key] = found
        for key, value in last.items():
            if key not in desired and key in live and key in undo:
                found = self._dropped(live[key], value, undo[key], (*place, key))
                if found is not ABSENT:
                    change[key] = found
        return change

    def _value(self, live: Any, desired: Any, last: Any, undo: Object, place: FieldPath) -> Any:
        """What a patch has to say of one field; ABSENT where nothing."""
        if isinstance(live, Mapping) and isinstance(desired, Mapping):
            return self.mapping(live, desired, last if isinstance(last, Mapping) else {}, undo, place) or ABSENT
        if _has_named_items(live) and (_has_named_items(desired) or (desired == [] and _has_named_items(last))):
            return self._list(live, desired, last if _has_named_items(last) else [], place)
        if self._covers(live, desired, place):
            return ABSENT
        if self._rules.drift is Drift.RESET or last is ABSENT:
            return desired
        if self._same(last, desired, place):
            self._keep(place)
            return ABSENT
        if live is not ABSENT and not self._covers(live, last, place):
            self.result.conflicts.append(".".join(place))
        return desired

    def _dropped(self, live: Any, last: Any, undo: Any, place: FieldPath) -> Any:
        """A field that is no longer desired is taken back, but for what other clients have put there."""
        if isinstance(live, Mapping) and isinstance(last, Mapping) and last:
            back = undo if isinstance(undo, Mapping) else removal_patch(last)
            if back == removal_patch(last) and self._goes_whole(live, last, place):
                return None
            return self.mapping(live, {}, last, back, place) or ABSENT
        if self._covers(live, last, place):
            return undo
        remaining = (
            self._others(live, last, place)
            if undo is None and _has_named_items(live) and _has_named_items(last)
            else live
        )
        if remaining == live:
            self._keep(place)
            return ABSENT
        return remaining

    def _goes_whole(self, live: Object, last: Object, place: FieldPath) -> bool:
        """Where nothing of others is in it; of a structure that is nothing without our fields, while they are ours.

        Not labels and annotations of the object itself, in which the notes of the collection are.
        """
        if len(place) == 1 or place[0] == "metadata" or not self._covers(live, last, place):
            return False
        return place[-1] in _WHOLE_STRUCTURES or self._covers(last, live, place)

    def _others(self, live: list[Any], last: list[Any], place: FieldPath) -> list[Any]:
        """The items that others have added or changed."""
        then = {_item_key(item): item for item in last}
        return [item for item in live if not self._covers(item, then.get(_item_key(item)), place)]

    def _list(self, live: list[Any], desired: list[Any], last: list[Any], place: FieldPath) -> Any:
        """Item by item: what others have added stays, what was desired last and is not now goes."""
        now, then = ({_item_key(item): item for item in items} for items in (live, last))
        result: dict[ItemKey, Any] = {}
        for item in desired:
            name, spot = _item_key(item), (*place[:-1], f"{place[-1]}[{item['name']}]")
            before = then.get(name, {})
            if name in now:
                result[name] = apply_patch(
                    now[name], self.mapping(now[name], item, before, removal_patch(before), spot)
                )
            elif self._rules.drift is Drift.KEEP and name in then and self._same(before, item, spot):
                self._keep(spot)
            else:
                result[name] = item
        others = {name: item for name, item in now.items() if name not in result and name not in then}
        everything = {**result, **others}
        if [name for name in now if name in result] == list(result):
            everything = {name: everything[name] for name in now if name in everything}
        found = list(everything.values())
        return ABSENT if found == live else found

    def _keep(self, place: FieldPath) -> None:
        self.result.kept.append(".".join(place))

    def _covers(self, found: Any, desired: Any, place: FieldPath) -> bool:
        """Whether a field covers another one, by the key of the mapping that it is in."""
        above = place[-2] if len(place) > 1 else ""
        return _covers_field(above, {} if found is ABSENT else {"": found}, {"": desired}, self._rules.absent)

    def _same(self, one: Any, other: Any, place: FieldPath) -> bool:
        return self._covers(one, other, place) and self._covers(other, one, place)


def _has_named_items(value: Any) -> bool:
    """Whether the items of a list are told apart by their names, as containers, variables and webhooks are."""
    if not isinstance(value, list) or not value:
        return False
    if not all(isinstance(item, Mapping) and isinstance(item.get("name"), str) for item in value):
        return False
    return len(set(map(_item_key, value))) == len(value)


def _item_key(item: Object) -> ItemKey:
    """Subjects of one name may be of two kinds or in two namespaces."""
    return item.get("kind"), item.get("namespace"), item["name"]
