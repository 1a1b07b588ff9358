# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The agent's ConfigMap, which others write too: ours goes in, theirs stays, and ours can be taken out again.

The text is JSON, so that there are no comments to keep; the order of keys, and keys that nobody here knows, stay.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..kube.errors import ClusterError
from .config_keys import Leaves, Path
from .config_schema import GLOBAL, NODES
from .names import CONFIG_MAP, KEY, POOL

PLACE = f"ConfigMap {CONFIG_MAP}, key {KEY}"
ABSENT: Any = type("Absent", (), {"__repr__": lambda self: "unset"})()
"""The value of a key that is not there, which is not null."""


@dataclass(frozen=True)
class Kept:
    """One of our values below globalConfig: what was there before the first of our runs, and what we wrote."""

    path: Path
    before: Any
    after: Any


@dataclass(frozen=True)
class Wanted:
    """``common`` goes below globalConfig, ``pools`` into nodesConfig; entries of ours not in ``alive`` go."""

    common: Leaves
    pools: Mapping[str, Leaves]
    alive: frozenset[str]


@dataclass(frozen=True)
class Merged:
    """``text`` is the old one where it says what is wanted. ``foreign``: ours that others changed since."""

    text: str
    document: Mapping[str, Any]
    kept: tuple[Kept, ...]
    foreign: tuple[str, ...] = ()


def parsed(text: str | None) -> dict[str, Any]:
    """The document; ClusterError with the line for what is none."""
    if text is None or not text.strip():
        return {}
    try:
        found = json.loads(text, object_pairs_hook=_unique)
    except ValueError as error:
        raise ClusterError(
            f"{PLACE} cannot be read: {error}",
            "Nothing was changed. The agent cannot read it either: put it right first.",
        ) from error
    if not isinstance(found, dict):
        raise ClusterError(f"{PLACE} is no JSON object", "Nothing was changed. Look at who wrote it.")
    return found


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _value in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} stands twice")
    return found


def pool_of(entry: Mapping[str, Any]) -> str | None:
    """The pool of an entry that we wrote; None for one of others."""
    selector = entry.get("selector")
    if not isinstance(selector, Mapping) or set(selector) != {"matchLabels"}:
        return None
    labels = selector["matchLabels"]
    return labels[POOL] if isinstance(labels, Mapping) and set(labels) == {POOL} else None


def merged(text: str | None, wanted: Wanted, kept: Sequence[Kept]) -> Merged:
    """The ConfigMap's text with what is wanted, and what to remember of it."""
    document = parsed(text)
    common = document.setdefault(GLOBAL, {}) if isinstance(document.get(GLOBAL, {}), dict) else None
    if common is None:
        raise ClusterError(f"{PLACE}: {GLOBAL} is no object", "Nothing was changed. Look at who wrote it.")
    gone = [each for each in kept if each.path not in wanted.common]
    foreign = _put_back(common, gone)
    known = {each.path: each for each in kept}
    now = []
    for path, value in wanted.common.items():
        before = known[path].before if path in known else _get(common, path)
        _set(common, path, value)
        now.append(Kept(path, before, value))
    _entries(document, wanted)
    return Merged(_text(text, document), document, tuple(now), foreign)


def _entries(document: dict[str, Any], wanted: Wanted) -> None:
    """nodesConfig with ours: each stays in its place, new ones come last, those of pools that are gone go."""
    found = document.get(NODES) or []
    if not isinstance(found, list):
        raise ClusterError(f"{PLACE}: {NODES} is no list", "Nothing was changed. Look at who wrote it.")
    entries, seen = [], set()
    for entry in found:
        pool = pool_of(entry) if isinstance(entry, Mapping) else None
        if pool in wanted.pools:
            seen.add(pool)
            entries.append(_entry(str(pool), wanted.pools[str(pool)]))
        elif pool is None or pool in wanted.alive:
            entries.append(entry)
    entries += [_entry(pool, leaves) for pool, leaves in wanted.pools.items() if pool not in seen]
    if entries or NODES in document:
        document[NODES] = entries


def _entry(pool: str, leaves: Leaves) -> dict[str, Any]:
    entry: dict[str, Any] = {"selector": {"matchLabels": {POOL: pool}}}
    for path, value in leaves.items():
        _set(entry, path, value)
    return entry


def without(
    text: str, original: str | None, committed: str, kept: Sequence[Kept]
) -> tuple[str | None, tuple[str, ...]]:
    """(the text without ours, values of ours that others changed since); None where the key was not there.

    ``original`` is what ``committed`` was made of. It comes back byte for byte if nobody else wrote since.
    """
    if text == committed:
        return original, ()
    document = parsed(text)
    foreign: tuple[str, ...] = ()
    if isinstance(document.get(GLOBAL), dict):
        foreign = _put_back(document[GLOBAL], kept)
        if not document[GLOBAL] and GLOBAL not in parsed(original):
            del document[GLOBAL]
    if isinstance(document.get(NODES), list):
        entries = [each for each in document[NODES] if not isinstance(each, Mapping) or pool_of(each) is None]
        document[NODES] = entries
        if not entries and NODES not in parsed(original):
            del document[NODES]
    if not document and original is None:
        return None, foreign
    return _text(text, document), foreign


def _put_back(common: dict[str, Any], kept: Iterable[Kept]) -> tuple[str, ...]:
    """Each of ours as it was before; what somebody else has changed since stays and is told."""
    foreign = []
    for each in kept:
        now = _get(common, each.path)
        if _same(now, each.after):
            _set(common, each.path, each.before)
        elif not _same(now, each.before):
            foreign.append(
                f"{GLOBAL}.{'.'.join(each.path)} was {each.before}, the collection made it {each.after},"
                f" now it is {now}"
            )
    return tuple(foreign)


def _same(one: Any, other: Any) -> bool:
    """True is not 1 here."""
    return type(one) is type(other) and bool(one == other)


def _get(table: Mapping[str, Any], path: Path) -> Any:
    value: Any = table
    for key in path:
        if not isinstance(value, Mapping) or key not in value:
            return ABSENT
        value = value[key]
    return value


def _set(table: dict[str, Any], path: Path, value: Any) -> None:
    """Set or, for ABSENT, take away, together with a section that holds nothing else then."""
    for key in path[:-1]:
        below = table.get(key)
        if value is ABSENT and not isinstance(below, dict):
            return
        if value is ABSENT and set(below or ()) == {path[-1]}:
            del table[key]
            return
        if not isinstance(below, dict):
            below = table[key] = {}
        table = below
    if value is ABSENT:
        table.pop(path[-1], None)
    else:
        table[path[-1]] = value


def _text(old: str | None, document: Mapping[str, Any]) -> str:
    if old is not None and old.strip() and json.dumps(parsed(old)) == json.dumps(document):
        return old
    return json.dumps(document, indent=4) + "\n"
