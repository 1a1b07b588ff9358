# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The agent's ConfigMap with the settings of the collection, and the journal of its previous content.

Other clients write the ConfigMap too: their keys and the order of keys do not change. The text is JSON, so it has no
comments to preserve. The journal is a separate ConfigMap in the agent's namespace. It is written before the changes
that it records, and also records the labels of Nodes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..edit.json_syntax import read_json
from ..edit.text_errors import ParseError
from ..kube.api_errors import ClusterError
from ..kube.last_applied import parse_record, record_data
from ..kube.object_changes import ObjectChange
from ..kube.objects import ConfigMap
from .colocation_schema import (
    ADDED_SECTIONS,
    DEFAULT_OVERSUBSCRIPTION,
    DEFAULTS,
    GLOBAL_CONFIG,
    NODE_CONFIGS,
    ConfigPath,
    ConfigValues,
)
from .owned_objects import CONFIG_KEY, CONFIG_MAP, OWNER, OWNER_LABEL, POOL_LABEL, create_object, patch_object

LOCATION = f"ConfigMap {CONFIG_MAP}, key {CONFIG_KEY}"
UNSET: Any = type("Absent", (), {"__repr__": lambda self: "unset"})()
"""The value of a missing key, as opposed to null."""


@dataclass(frozen=True)
class PreservedField:
    """A managed value below globalConfig: the value before the first run of the collection, and the one it wrote."""

    path: ConfigPath
    before: Any
    after: Any


@dataclass(frozen=True)
class DesiredConfig:
    """``common`` is for globalConfig, ``pools`` for nodesConfig.

    Managed entries of other pools are removed, except those in ``other_pools``, which are in use by other Nodes.
    """

    common: ConfigValues
    pools: Mapping[str, ConfigValues]
    other_pools: frozenset[str]


@dataclass(frozen=True)
class MergedConfig:
    """``text`` is unchanged if it has the desired content. ``foreign``: managed values that another client changed."""

    text: str
    document: Mapping[str, Any]
    preserved: tuple[PreservedField, ...]
    foreign: tuple[str, ...] = ()


def parse_config(text: str | None) -> dict[str, Any]:
    """The document; ClusterError with the line if the text is not valid."""
    if text is None or not text.strip():
        return {}
    try:
        return read_json(text)
    except ParseError as error:
        raise ClusterError(
            f"{LOCATION}:{error.line or 1}: {error.message}",
            f"Nothing was changed. The agent cannot read it either. {error.remedy}.",
        ) from error


def pool_of(entry: Mapping[str, Any]) -> str | None:
    """The pool of a managed entry of nodesConfig; None for an entry of another client."""
    selector = entry.get("selector")
    if not isinstance(selector, Mapping) or set(selector) != {"matchLabels"}:
        return None
    labels = selector["matchLabels"]
    return labels[POOL_LABEL] if isinstance(labels, Mapping) and set(labels) == {POOL_LABEL} else None


def merge_config(text: str | None, desired: DesiredConfig, preserved: Sequence[PreservedField]) -> MergedConfig:
    """The ConfigMap's text with the desired values, and the previous values for the journal."""
    document = parse_config(text)
    common = document.setdefault(GLOBAL_CONFIG, {}) if isinstance(document.get(GLOBAL_CONFIG, {}), dict) else None
    if common is None:
        raise ClusterError(
            f"{LOCATION}: {GLOBAL_CONFIG} is not an object", "Nothing was changed. Find out which client wrote it."
        )
    obsolete = [setting for setting in preserved if setting.path not in desired.common]
    foreign = _restore_values(common, obsolete)
    known = {entry.path: entry for entry in preserved}
    now = []
    for path, value in desired.common.items():
        before = known[path].before if path in known else _get(common, path)
        _set(common, path, value)
        now.append(PreservedField(path, before, value))
    _merge_entries(document, desired)
    return MergedConfig(_render_config(text, document), document, tuple(now), foreign)


def _merge_entries(document: dict[str, Any], desired: DesiredConfig) -> None:
    """Update managed entries of nodesConfig in place, append new ones, and remove those of pools without Nodes."""
    current = document.get(NODE_CONFIGS) or []
    if not isinstance(current, list):
        raise ClusterError(
            f"{LOCATION}: {NODE_CONFIGS} is not a list", "Nothing was changed. Find out which client wrote it."
        )
    entries, configured = [], set()
    for entry in current:
        pool = pool_of(entry) if isinstance(entry, Mapping) else None
        if pool in desired.pools:
            configured.add(pool)
            new = _entry(str(pool), desired.pools[str(pool)])
            # An agent that starts may write the document again, with its own order of keys.
            entries.append(entry if _same_content(entry, new) else new)
        elif pool is None or pool in desired.other_pools:
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
    """(the text without managed values, managed values that another client changed); None if the key did not exist.

    ``committed`` is the text that the collection wrote over ``original``. If ``text`` is still ``committed``,
    ``original`` is restored byte for byte.
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
    """Restore previous values in place; report managed values that another client changed, which are not restored."""
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
    """Whether two values are equal and of the same type: True is not 1."""
    return type(one) is type(other) and bool(one == other)


def _same_content(one: Any, other: Any) -> bool:
    """Whether two JSON values differ at most in the order of keys."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def is_written_by_agents(text: str) -> bool:
    """Whether a text has only what an agent adds at its start: pkg/agent/config/configmgr.go updateConfigMap."""
    added: dict[str, Any] = {}
    for path, value in {**DEFAULTS, **DEFAULT_OVERSUBSCRIPTION}.items():
        if path[0] in ADDED_SECTIONS:
            _set(added, path, value)
    return _same_content(parse_config(text), {GLOBAL_CONFIG: added})


def _get(table: Mapping[str, Any], path: ConfigPath) -> Any:
    value: Any = table
    for key in path:
        if not isinstance(value, Mapping) or key not in value:
            return UNSET
        value = value[key]
    return value


def _set(table: dict[str, Any], path: ConfigPath, value: Any) -> None:
    """Set a value; for UNSET, delete it, and its section if that becomes empty."""
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
    """``committed`` is the text that the collection wrote, and ``original`` the same text without managed values.

    Both are None if there was none. ``existed``: whether the ConfigMap existed before. ``labels``: previous values by
    Node and label, None if a label was not set.
    """

    existed: bool = False
    original: str | None = None
    committed: str | None = None
    preserved: tuple[PreservedField, ...] = ()
    labels: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)


def parse_journal(config_map: Mapping[str, Any] | None) -> AgentJournal | None:
    """The journal in a ConfigMap; ClusterError for a ConfigMap that is not managed."""
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
    """The ConfigMap of a journal."""
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
    """Replace the ``known`` journal; ``version`` prevents that simultaneous runs overwrite each other's records."""
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
