# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare an object of the API server with the desired one, and make the merge patch that it needs.

Three-way, as in kubectl apply: the desired object, the last desired object, and the live object. Fields that are in
neither of the first two belong to other clients and stay. Server-side apply is not suitable: it does not record the
previous values, and objects that older versions of the collection wrote belong to another field manager.
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
"""Keys of mappings whose values are quantities, which an API server normalizes."""
_WHOLE_STRUCTURES = frozenset(
    (
        *("livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "httpGet", "tcpSocket", "exec", "grpc"),
        *("valueFrom", "emptyDir", "hostPath", "configMap", "secret", "projected", "downwardAPI"),
        *("persistentVolumeClaim", "rollingUpdate"),
    )
)
"""Structures of k8s.io/api core/v1 and apps/v1 in which an API server sets defaults, and which it refuses without the
fields of the manifest: a probe without a handler, a volume or a variable with two sources, a rollingUpdate of the type
OnDelete."""
ItemKey = tuple[Any, Any, str]
FieldPath = tuple[str, ...]
"""The keys of a field. An item of a list is part of the list's key, as in containers[NAME]."""


class Absent(Enum):
    """Which values are equal to a missing field. ZERO: servers omit zero values of built-in kinds (omitempty).

    Custom resources keep False and 0, and may have other defaults, so that EMPTY is for them. With DIFFERS, {} is a
    value too: an emptyDir that became a hostPath has lost it.
    """

    DIFFERS = "differs"
    EMPTY = "empty"
    ZERO = "zero"

    def means(self, value: Any) -> bool:
        """Whether a value is equal to a missing field."""
        if value is None or self is Absent.DIFFERS:
            return value is None
        return not value if self is Absent.ZERO else value in ({}, [])


class Drift(Enum):
    """What to do with a field that another client changed: keep it while the desired value is the same, or reset it."""

    KEEP = "keep"
    RESET = "reset"


@dataclass(frozen=True)
class MergeRules:
    absent: Absent
    drift: Drift


@dataclass
class MergeResult:
    """``change`` is the required merge patch (RFC 7386). ``preserved`` and ``conflicts`` have paths of fields.

    ``preserved``: another client changed them, the desired value is the same as before. ``conflicts``: both changed.
    """

    change: dict[str, Any] = field(default_factory=dict)
    preserved: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)


def covers(actual: Any, desired: Any, absent: Absent) -> bool:
    """Whether a value has all that is desired. A mapping may have more, a list may not; 4 and "4" are equal."""
    if absent.means(actual) and absent.means(desired):
        return True
    if isinstance(desired, Mapping):
        return isinstance(actual, Mapping) and all(
            _covers_field(key, actual.get(key), value, absent) for key, value in desired.items()
        )
    if isinstance(desired, (list, tuple)):
        same = isinstance(actual, (list, tuple)) and len(actual) == len(desired)
        return same and all(covers(one, other, absent) for one, other in zip(actual, desired, strict=True))
    if isinstance(actual, bool) or isinstance(desired, bool):
        return actual is desired
    return actual is not None and desired is not None and str(actual) == str(desired)


def _covers_field(key: str, actual: Any, desired: Any, absent: Absent) -> bool:
    """The key distinguishes quantities from versions: 1000m is 1, and 1.10 is not 1.1."""
    if key in _QUANTITIES and isinstance(actual, Mapping) and isinstance(desired, Mapping):
        return all(_same_quantity(actual.get(name), value, absent) for name, value in desired.items())
    return covers(actual, desired, absent)


def _same_quantity(actual: Any, desired: Any, absent: Absent) -> bool:
    try:
        return parse_quantity(str(actual)) == parse_quantity(str(desired))
    except ValueError:
        return covers(actual, desired, absent)


def merge(live: Object, desired: Object, last: Object, rules: MergeRules, undo: Object | None = None) -> MergeResult:
    """The change that an object needs. ``undo`` is the merge patch that reverts ``last``; by default it removes it."""
    merging = _Merging(rules)
    merging.result.change = merging.mapping(live, desired, last, removal_patch(last) if undo is None else undo, ())
    return merging.result


class _Merging:
    def __init__(self, rules: MergeRules) -> None:
        self._rules, self.result = rules, MergeResult()

    def mapping(self, live: Object, desired: Object, last: Object, undo: Object, path: FieldPath) -> dict[str, Any]:
        change: dict[str, Any] = {}
        for key, value in desired.items():
            below = undo.get(key) if isinstance(undo.get(key), Mapping) else {}
            patch = self._value(live.get(key, ABSENT), value, last.get(key, ABSENT), below or {}, (*path, key))
            if patch is not ABSENT:
                change[key] = patch
        for key, value in last.items():
            if key not in desired and key in live and key in undo:
                patch = self._dropped(live[key], value, undo[key], (*path, key))
                if patch is not ABSENT:
                    change[key] = patch
        return change

    def _value(self, live: Any, desired: Any, last: Any, undo: Object, path: FieldPath) -> Any:
        """The patch of one field; ABSENT where it needs none."""
        if isinstance(live, Mapping) and isinstance(desired, Mapping):
            return self.mapping(live, desired, last if isinstance(last, Mapping) else {}, undo, path) or ABSENT
        if _has_named_items(live) and (_has_named_items(desired) or (desired == [] and _has_named_items(last))):
            return self._list(live, desired, last if _has_named_items(last) else [], path)
        if self._covers(live, desired, path):
            return ABSENT
        if self._rules.drift is Drift.RESET or last is ABSENT:
            return desired
        if self._same(last, desired, path):
            self._keep(path)
            return ABSENT
        if live is not ABSENT and not self._covers(live, last, path):
            self.result.conflicts.append(".".join(path))
        return desired

    def _dropped(self, live: Any, last: Any, undo: Any, path: FieldPath) -> Any:
        """The patch that reverts a field that is not desired any more, without the values of other clients."""
        if isinstance(live, Mapping) and isinstance(last, Mapping) and last:
            inverse = undo if isinstance(undo, Mapping) else removal_patch(last)
            if inverse == removal_patch(last) and self._is_removed_whole(live, last, path):
                return None
            return self.mapping(live, {}, last, inverse, path) or ABSENT
        if self._covers(live, last, path):
            return undo
        remaining = (
            self._foreign_items(live, last, path)
            if undo is None and _has_named_items(live) and _has_named_items(last)
            else live
        )
        if remaining == live:
            self._keep(path)
            return ABSENT
        return remaining

    def _is_removed_whole(self, live: Object, last: Object, path: FieldPath) -> bool:
        """Whether a whole mapping is removed: no other client has fields in it, or it is invalid without its fields.

        Never the labels and annotations of the object itself, which contain records of the collection.
        """
        if len(path) == 1 or path[0] == "metadata" or not self._covers(live, last, path):
            return False
        return path[-1] in _WHOLE_STRUCTURES or self._covers(last, live, path)

    def _foreign_items(self, live: list[Any], last: list[Any], path: FieldPath) -> list[Any]:
        """The items that other clients added or changed."""
        last_items = {_item_key(item): item for item in last}
        return [item for item in live if not self._covers(item, last_items.get(_item_key(item)), path)]

    def _list(self, live: list[Any], desired: list[Any], last: list[Any], path: FieldPath) -> Any:
        """Merge item by item: items of other clients stay, items that are not desired any more are removed."""
        live_items, last_items = ({_item_key(item): item for item in items} for items in (live, last))
        result: dict[ItemKey, Any] = {}
        for item in desired:
            name, item_path = _item_key(item), (*path[:-1], f"{path[-1]}[{item['name']}]")
            last_item = last_items.get(name, {})
            if name in live_items:
                result[name] = apply_patch(
                    live_items[name],
                    self.mapping(live_items[name], item, last_item, removal_patch(last_item), item_path),
                )
            elif self._rules.drift is Drift.KEEP and name in last_items and self._same(last_item, item, item_path):
                self._keep(item_path)
            else:
                result[name] = item
        foreign = {name: item for name, item in live_items.items() if name not in result and name not in last_items}
        merged = {**result, **foreign}
        if [name for name in live_items if name in result] == list(result):
            merged = {name: merged[name] for name in live_items if name in merged}
        result_items = list(merged.values())
        return ABSENT if result_items == live else result_items

    def _keep(self, path: FieldPath) -> None:
        self.result.preserved.append(".".join(path))

    def _covers(self, actual: Any, desired: Any, path: FieldPath) -> bool:
        """Whether a field covers another one; the key of the mapping around it selects the comparison."""
        above = path[-2] if len(path) > 1 else ""
        return _covers_field(above, {} if actual is ABSENT else {"": actual}, {"": desired}, self._rules.absent)

    def _same(self, one: Any, other: Any, path: FieldPath) -> bool:
        return self._covers(one, other, path) and self._covers(other, one, path)


def _has_named_items(value: Any) -> bool:
    """Whether the items of a list are identified by their names, as containers, variables and webhooks are."""
    if not isinstance(value, list) or not value:
        return False
    if not all(isinstance(item, Mapping) and isinstance(item.get("name"), str) for item in value):
        return False
    return len(set(map(_item_key, value))) == len(value)


def _item_key(item: Object) -> ItemKey:
    """The identity of an item: RBAC subjects of the same name may differ in kind or namespace."""
    return item.get("kind"), item.get("namespace"), item["name"]
