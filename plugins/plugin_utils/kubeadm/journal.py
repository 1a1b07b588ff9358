# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was in the cluster's kubelet-config before the collection first touched it.

It lies in a ConfigMap of its own. An annotation or another key of kubelet-config would not last: kubeadm upgrade
writes that object anew as a whole (cmd/kubeadm/app/util/apiclient/idempotency.go, CreateOrUpdateConfigMap).
It is written before kubelet-config is, so that a run that is cut off between the two loses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..edit.kubelet_text import read_kubelet
from ..facts.config_file import value_at
from ..kube.last_applied import read_record, record_data
from ..kube.objects import ConfigMap
from .model import KEY, Fields, Keys

NAME, ENTRY = "volcano-colocation", "kubelet-config.json"


@dataclass(frozen=True)
class Field:
    """``before`` is None where the field was not there. ``since``: the version it was first set in."""

    keys: Keys
    before: Any
    after: Any
    since: str


@dataclass(frozen=True)
class Journal:
    """``original`` is the text that ``committed`` was made of, over all runs; None once others wrote in between.

    ``base`` is the version of kubelet-config that the last run meant to replace.
    """

    config_map: str
    original: str | None
    committed: str
    base: str
    fields: tuple[Field, ...]


def read_journal(found: ConfigMap | None) -> Journal | None:
    """The journal of a ConfigMap; ClusterError for one that is not ours."""
    return read_record(found, ENTRY, _journal)


def _journal(document: Mapping[str, Any]) -> Journal:
    fields = (Field(tuple(each["keys"]), each["before"], each["after"], each["since"]) for each in document["fields"])
    return Journal(document["configmap"], document["original"], document["committed"], document["base"], tuple(fields))


def written(journal: Journal) -> dict[str, str]:
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
    return record_data(ENTRY, document)


def settled(journal: Journal | None, now: ConfigMap) -> Journal | None:
    """The journal without what its last run announced and never wrote; None when nothing is left."""
    if journal is None:
        return None
    last = tuple(each for each in journal.fields if each.since == journal.base)
    document = read_kubelet(now.data.get(KEY, ""))
    done = now.data.get(KEY) == journal.committed or any(value_at(document, each.keys) == each.after for each in last)
    if not last or (now.version != journal.base and done):
        return journal
    left = tuple(each for each in journal.fields if each not in last)
    return replace(journal, fields=left, original=None) if left else None


def noted(journal: Journal | None, now: ConfigMap, after: str, changed: Fields) -> Journal:
    """The journal with a change that is about to be written; what was there first stays what was there first."""
    document, text = read_kubelet(now.data[KEY]), now.data[KEY]
    known = {each.keys: each for each in journal.fields} if journal else {}
    for keys, value in changed.items():
        first = known.get(keys)
        before, since = (first.before, first.since) if first else (value_at(document, keys), now.version)
        known[keys] = Field(keys, before, value, since)
    original: str | None = text
    if journal:
        original = journal.original if text == journal.committed else None
    return Journal(now.name, original, after, now.version, tuple(known.values()))
