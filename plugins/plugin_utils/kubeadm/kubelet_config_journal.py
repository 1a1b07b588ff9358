# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The observed kubelet-config of a cluster, and the journal of its values before the collection changed them.

The journal is a separate ConfigMap. An annotation or another key of kubelet-config would not last: kubeadm upgrade
replaces that object (cmd/kubeadm/app/util/apiclient/idempotency.go, CreateOrUpdateConfigMap). The journal is written
before kubelet-config, so that an interrupted run loses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..edit.kubelet_text import read_kubelet
from ..facts.config_file import value_at
from ..kube.identity import ClusterNode
from ..kube.last_applied import parse_record, record_data
from ..kube.objects import ConfigMap
from .play_hosts import CONFIG_KEY, FieldPath, FieldValues

JOURNAL_NAME, JOURNAL_KEY = "volcano-colocation", "kubelet-config.json"


@dataclass(frozen=True)
class JournalField:
    """``before`` is None where the field was unset. ``since``: the resourceVersion in which it was first set."""

    keys: FieldPath
    before: Any
    after: Any
    since: str


@dataclass(frozen=True)
class KubeletConfigJournal:
    """``original`` is the text before the first run, None if another client wrote in between; ``committed`` the last.

    ``base`` is the resourceVersion of kubelet-config that the last run was about to replace.
    """

    config_map: str
    original: str | None
    committed: str
    base: str
    fields: tuple[JournalField, ...]


def parse_journal(config_map: ConfigMap | None) -> KubeletConfigJournal | None:
    """The journal in a ConfigMap; ClusterError for one that the collection did not write."""
    return parse_record(config_map, JOURNAL_KEY, _parse_document)


def _parse_document(document: Mapping[str, Any]) -> KubeletConfigJournal:
    fields = (
        JournalField(tuple(entry["keys"]), entry["before"], entry["after"], entry["since"])
        for entry in document["fields"]
    )
    return KubeletConfigJournal(
        document["configmap"], document["original"], document["committed"], document["base"], tuple(fields)
    )


def render_journal(journal: KubeletConfigJournal) -> dict[str, str]:
    """The ConfigMap's data."""
    document = {
        "configmap": journal.config_map,
        "original": journal.original,
        "committed": journal.committed,
        "base": journal.base,
        "fields": [
            {"keys": list(field.keys), "before": field.before, "after": field.after, "since": field.since}
            for field in journal.fields
        ],
    }
    return record_data(JOURNAL_KEY, document)


def drop_unwritten(journal: KubeletConfigJournal | None, now: ConfigMap) -> KubeletConfigJournal | None:
    """The journal without fields that its last run recorded but never wrote; None when no field remains."""
    if journal is None:
        return None
    last = tuple(field for field in journal.fields if field.since == journal.base)
    document = read_kubelet(now.data.get(CONFIG_KEY, ""))
    done = now.data.get(CONFIG_KEY) == journal.committed or any(
        value_at(document, field.keys) == field.after for field in last
    )
    if not last or (now.version != journal.base and done):
        return journal
    remaining = tuple(field for field in journal.fields if field not in last)
    return replace(journal, fields=remaining, original=None) if remaining else None


def record_fields(
    journal: KubeletConfigJournal | None, now: ConfigMap, after: str, changed: FieldValues
) -> KubeletConfigJournal:
    """The journal with a change that is about to be written; recorded first values stay."""
    document, text = read_kubelet(now.data[CONFIG_KEY]), now.data[CONFIG_KEY]
    known = {field.keys: field for field in journal.fields} if journal else {}
    for keys, value in changed.items():
        first = known.get(keys)
        before, since = (first.before, first.since) if first else (value_at(document, keys), now.version)
        known[keys] = JournalField(keys, before, value, since)
    original: str | None = text
    if journal:
        original = journal.original if text == journal.committed else None
    return KubeletConfigJournal(now.name, original, after, now.version, tuple(known.values()))


@dataclass(frozen=True)
class KubeadmState:
    """``config_map`` is the kubelet-config that kubeadm reads now; None where the cluster has none."""

    nodes: tuple[ClusterNode, ...]
    config_map: ConfigMap | None
    journal: KubeletConfigJournal | None
    journal_version: str | None = None
