# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The agent's ConfigMap with the settings of the collection, and the journal of what was there before.

Other clients write the ConfigMap too: their keys and the order of keys stay. It is JSON, so there are no comments to
keep. The journal is a ConfigMap of its own in the agent's namespace, written before what it records; it has the labels
of the Nodes as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..kube.api_errors import ClusterError
from ..kube.last_applied import parse_record, record_data
from ..kube.object_changes import ObjectChange
from ..kube.objects import ConfigMap
from .colocation_schema import GLOBAL_CONFIG, NODE_CONFIGS, ConfigPath, ConfigValues
from .owned_objects import CONFIG_KEY, CONFIG_MAP, OWNER, OWNER_LABEL, POOL_LABEL, create_object, patch_object

LOCATION = f"ConfigMap {CONFIG_MAP}, key {CONFIG_KEY}"
UNSET: Any = type("Absent", (), {"__repr__": lambda self: "unset"})()
"""The value of a key that is not there, which is not null."""


@dataclass(frozen=True)
class PreservedField:
    """One of our values below globalConfig: what was there before the first of our runs, and what we wrote."""

    path: ConfigPath
    before: Any
    after: Any


@dataclass(frozen=True)
class DesiredConfig:
    """``common`` goes below globalConfig, ``pools`` into nodesConfig; entries of ours not in ``alive`` go."""

    common: ConfigValues
    pools: Mapping[str, ConfigValues]
    alive: frozenset[str]


@dataclass(frozen=True)
class MergedConfig:
    """``text`` is the old one where it says what is wanted. ``foreign``: ours that others changed since."""

    text: str
    document: Mapping[str, Any]
    preserved: tuple[PreservedField, ...]
    foreign: tuple[str, ...] = ()


def parse_config(text: str | None) -> dict[str, Any]:
    """The document; ClusterError with the line for what is none."""
    if text is None or not text.strip():
        return {}
    try:
        document = json.loads(text, object_pairs_hook=_unique_keys)
    except ValueError as error:
        raise ClusterError(
            f"{LOCATION} cannot be read: {error}",
            "Nothing was changed. The agent cannot read it either: put it right first.",
        ) from error
    if not isinstance(document, dict):
        raise ClusterError(f"{LOCATION} is no JSON object", "Nothing was changed. Look at who wrote it.")
    return document


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        names = [name for name, _value in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} stands twice")
    return table


def pool_of(entry: Mapping[str, Any]) -> str | None:
    """The pool of an entry that we wrote; None for one of others."""
    selector = entry.get("selector")
    if not isinstance(selector, Mapping) or set(selector) != {"matchLabels"}:
        return None
    labels = selector["matchLabels"]
    return labels[POOL_LABEL] if isinstance(labels, Mapping) and set(labels) == {POOL_LABEL} else None


def merge_config(text: str | None, desired: DesiredConfig, preserved: Sequence[PreservedField]) -> MergedConfig:
    """The ConfigMap's text with what is wanted, and what to remember of it."""
    document = parse_config(text)
    common = document.setdefault(GLOBAL_CONFIG, {}) if isinstance(document.get(GLOBAL_CONFIG, {}), dict) else None
    if common is None:
        raise ClusterError(f"{LOCATION}: {GLOBAL_CONFIG} is no object", "Nothing was changed. Look at who wrote it.")
    obsolete = [setting for setting in preserved if setting.path not in desired.common]
    foreign = _restore_values(common, obsolete)
    known = {entry.path: entry for entry in preserved}
    now = []
    for path, value in desired.common.items():
        before = known[path].before if path in known else _get(common, path)
        _set(common, path, value)
        now.append(PreservedField(path, before, value))
    _entries(document, desired)
    return MergedConfig(_render_config(text, document), document, tuple(now), foreign)


def _entries(document: dict[str, Any], desired: DesiredConfig) -> None:
    """nodesConfig with ours: each stays in its place, new ones come last, those of pools that are gone go."""
    current = document.get(NODE_CONFIGS) or []
    if not isinstance(current, list):
        raise ClusterError(f"{LOCATION}: {NODE_CONFIGS} is no list", "Nothing was changed. Look at who wrote it.")
    entries, configured = [], set()
    for entry in current:
        pool = pool_of(entry) if isinstance(entry, Mapping) else None
        if pool in desired.pools:
            configured.add(pool)
            entries.append(_entry(str(pool), desired.pools[str(pool)]))
        elif pool is None or pool in desired.alive:
            entries.append(entry)
    entries += [_entry(pool, leaves) for pool, leaves in desired.pools.items() if pool not in configured]
    if entries or NODE_CONFIGS in document:
        document[NODE_CONFIGS] = entries


def _entry(pool: str, leaves: ConfigValues) -> dict[str, Any]:
    entry: dict[str, Any] = {"selector": {"matchLabels": {POOL_LABEL: pool}}}
    for path, value in leaves.items():
        _set(entry, path, value)
    return entry


def restore_config(
    text: str, original: str | None, committed: str, preserved: Sequence[PreservedField]
) -> tuple[str | None, tuple[str, ...]]:
    """(the text without ours, values of ours that others changed since); None where the key was not there.

    ``original`` is what ``committed`` was made of. It comes back byte for byte if nobody else wrote since.
    """
    if text == committed:
        return original, ()
    document = parse_config(text)
    foreign: tuple[str, ...] = ()
    if isinstance(document.get(GLOBAL_CONFIG), dict):
        foreign = _restore_values(document[GLOBAL_CONFIG], preserved)
        if not document[GLOBAL_CONFIG] and GLOBAL_CONFIG not in parse_config(original):
            del document[GLOBAL_CONFIG]
    if isinstance(document.get(NODE_CONFIGS), list):
        entries = [
            entry for entry in document[NODE_CONFIGS] if not isinstance(entry, Mapping) or pool_of(entry) is None
        ]
        document[NODE_CONFIGS] = entries
        if not entries and NODE_CONFIGS not in parse_config(original):
            del document[NODE_CONFIGS]
    if not document and original is None:
        return None, foreign
    return _render_config(text, document), foreign


def _restore_values(common: dict[str, Any], preserved: Iterable[PreservedField]) -> tuple[str, ...]:
    """Each of ours as it was before; what somebody else has changed since stays and is told."""
    foreign = []
    for entry in preserved:
        now = _get(common, entry.path)
        if _same(now, entry.after):
            _set(common, entry.path, entry.before)
        elif not _same(now, entry.before):
            foreign.append(
                f"{GLOBAL_CONFIG}.{'.'.join(entry.path)} was {entry.before}, the collection made it {entry.after},"
                f" now it is {now}"
            )
    return tuple(foreign)


def _same(one: Any, other: Any) -> bool:
    """True is not 1 here."""
    return type(one) is type(other) and bool(one == other)


def _get(table: Mapping[str, Any], path: ConfigPath) -> Any:
    value: Any = table
    for key in path:
        if not isinstance(value, Mapping) or key not in value:
            return UNSET
        value = value[key]
    return value


def _set(table: dict[str, Any], path: ConfigPath, value: Any) -> None:
    """Set or, for ABSENT, take away, together with a section that holds nothing else then."""
    for key in path[:-1]:
        below = table.get(key)
        if value is UNSET and not isinstance(below, dict):
            return
        if value is UNSET and set(below or ()) == {path[-1]}:
            del table[key]
            return
        if not isinstance(below, dict):
            below = table[key] = {}
        table = below
    if value is UNSET:
        table.pop(path[-1], None)
    else:
        table[path[-1]] = value


def _render_config(old: str | None, document: Mapping[str, Any]) -> str:
    if old is not None and old.strip() and json.dumps(parse_config(old)) == json.dumps(document):
        return old
    return json.dumps(document, indent=4) + "\n"


JOURNAL_NAME, JOURNAL_KEY = "volcano-colocation-agent", "agent.json"


@dataclass(frozen=True)
class AgentJournal:
    """``original`` is the text that ``committed`` was made of, over all runs; None where there was none.

    ``labels``: by Node and label the value before ours, None where it had none.
    """

    existed: bool = False
    original: str | None = None
    committed: str | None = None
    preserved: tuple[PreservedField, ...] = ()
    labels: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)


def parse_journal(config_map: Mapping[str, Any] | None) -> AgentJournal | None:
    """The journal of a ConfigMap; ClusterError for one that is not ours."""
    return parse_record(ConfigMap.of(config_map), JOURNAL_KEY, _parse_document)


def _parse_document(document: Mapping[str, Any]) -> AgentJournal:
    return AgentJournal(
        document["existed"],
        document["original"],
        document["committed"],
        tuple(
            PreservedField(tuple(item["path"]), item.get("before", UNSET), item["after"]) for item in document["kept"]
        ),
        document["labels"],
    )


def render_journal(journal: AgentJournal, namespace: str) -> dict[str, Any]:
    """The ConfigMap."""
    document = {
        "existed": journal.existed,
        "original": journal.original,
        "committed": journal.committed,
        "kept": [_render_field(preserved) for preserved in journal.preserved],
        "labels": journal.labels,
    }
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": JOURNAL_NAME, "namespace": namespace, "labels": {OWNER_LABEL: OWNER}},
        "data": record_data(JOURNAL_KEY, document),
    }


def change_journal(
    known: AgentJournal | None, version: str | None, journal: AgentJournal, namespace: str
) -> Iterator[ObjectChange]:
    """From the journal that was read, of ``version``, to another one. Two runs at once must not lose each other's."""
    sent = render_journal(journal, namespace)
    if known is None:
        yield create_object(sent)
    elif journal != known:
        yield patch_object(
            {**sent, "metadata": {**sent["metadata"], "resourceVersion": version}},
            render_journal(known, namespace),
            sent,
        )


def _render_field(preserved: PreservedField) -> dict[str, Any]:
    item = {"path": list(preserved.path), "after": preserved.after}
    return item if preserved.before is UNSET else {**item, "before": preserved.before}
