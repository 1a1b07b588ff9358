# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The observed kubelet-config of a cluster, and the journal of what it had before the collection changed it.

The journal is a ConfigMap of its own. An annotation or another key of kubelet-config would not last: kubeadm upgrade
writes that object again as a whole (cmd/kubeadm/app/util/apiclient/idempotency.go, CreateOrUpdateConfigMap). It is
written before kubelet-config, so that a run that is cut off between the two loses nothing.
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
    """``before`` is None where the field was not there. ``since``: the version it was first set in."""

    keys: FieldPath
    before: Any
    after: Any
    since: str


@dataclass(frozen=True)
class KubeletConfigJournal:
    """``original`` is the text that ``committed`` was made of, over all runs; None once others wrote in between.

    ``base`` is the version of kubelet-config that the last run meant to replace.
    """

    config_map: str
    original: str | None
    committed: str
    base: str
    fields: tuple[JournalField, ...]


def parse_journal(found: ConfigMap | None) -> KubeletConfigJournal | None:
    """The journal of a ConfigMap; ClusterError for one that is not ours."""
    return parse_record(found, JOURNAL_KEY, _parse_document)


def _parse_document(document: Mapping[str, Any]) -> KubeletConfigJournal:
    fields = (
        JournalField(tuple(each["keys"]), each["before"], each["after"], each["since"]) for each in document["fields"]
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
            {"keys": list(each.keys), "before": each.before, "after": each.after, "since": each.since}
            for each in journal.fields
        ],
    }
    return record_data(JOURNAL_KEY, document)


def drop_unwritten(journal: KubeletConfigJournal | None, now: ConfigMap) -> KubeletConfigJournal | None:
    """The journal without what its last run announced and never wrote; None when nothing is left."""
    if journal is None:
        return None
    last = tuple(each for each in journal.fields if each.since == journal.base)
    document = read_kubelet(now.data.get(CONFIG_KEY, ""))
    done = now.data.get(CONFIG_KEY) == journal.committed or any(
        value_at(document, each.keys) == each.after for each in last
    )
    if not last or (now.version != journal.base and done):
        return journal
    left = tuple(each for each in journal.fields if each not in last)
    return replace(journal, fields=left, original=None) if left else None


def record_fields(
    journal: KubeletConfigJournal | None, now: ConfigMap, after: str, changed: FieldValues
) -> KubeletConfigJournal:
    """The journal with a change that is about to be written; what was there first stays what was there first."""
    document, text = read_kubelet(now.data[CONFIG_KEY]), now.data[CONFIG_KEY]
    known = {each.keys: each for each in journal.fields} if journal else {}
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
    """``config_map`` is the kubelet-config that kubeadm reads now; None where there is none."""

    nodes: tuple[ClusterNode, ...]
    config_map: ConfigMap | None
    journal: KubeletConfigJournal | None
    journal_version: str | None = None
