# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was in the cluster before the collection first touched it, in a ConfigMap beside the scheduler's.

It is written before anything else is, so that a run that is cut off loses nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from ..kube.last_applied import read_record, record_data
from ..kube.objects import ConfigMap, Object, Ref

NAME, ENTRY = "volcano-colocation-scheduler", "journal.json"


@dataclass(frozen=True)
class Entry:
    """An object: made by us, or changed, and then ``back`` is the merge patch that takes that back.

    ``after`` is what it was to say after the last run.
    """

    ref: Ref
    created: bool
    back: Object
    after: Object


@dataclass(frozen=True)
class Text:
    """The scheduler's configuration: ``original`` before the first run, ``previous`` and ``committed`` around the last.

    ``foreign``: somebody else wrote between two runs of ours, so that the original is not ours to put back.
    """

    ref: Ref
    key: str
    original: str
    previous: str
    committed: str
    foreign: bool = False


@dataclass(frozen=True)
class Journal:
    entries: tuple[Entry, ...] = ()
    text: Text | None = None

    def entry(self, ref: Ref) -> Entry | None:
        return next((each for each in self.entries if each.ref.same(ref)), None)


def read_journal(found: ConfigMap | None) -> Journal:
    """The journal of a ConfigMap, empty where there is none; ClusterError for one that is not ours."""
    return read_record(found, ENTRY, _journal) or Journal()


def _journal(document: Mapping[str, Any]) -> Journal:
    entries = tuple(Entry(**{**each, "ref": Ref(**each["ref"])}) for each in document["entries"])
    text = document["text"]
    return Journal(entries, Text(**{**text, "ref": Ref(**text["ref"])}) if text else None)


def written(journal: Journal) -> dict[str, str]:
    """The ConfigMap's data."""
    text = asdict(journal.text) if journal.text else None
    return record_data(ENTRY, {"text": text, "entries": [asdict(each) for each in journal.entries]})


def noted(journal: Journal, changed: Iterable[Entry], text: Text | None) -> Journal:
    """The journal with what is about to be written."""
    entries = {each.ref.key: each for each in journal.entries}
    for each in changed:
        entries[each.ref.key] = each
    return Journal(tuple(entries.values()), text or journal.text)


def noted_text(known: Text | None, ref: Ref, key: str, before: str, after: str) -> Text:
    """A change of the configuration that is about to be written; what was there first stays what was there first."""
    if known is None or not (known.ref.same(ref) and known.key == key):
        return Text(ref, key, before, before, after)
    own = before in (known.original, known.previous, known.committed)
    return replace(known, previous=before, committed=after, foreign=known.foreign or not own)
