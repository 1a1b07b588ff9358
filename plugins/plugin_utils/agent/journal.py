# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was there before the collection first touched it: the agent's configuration and the Nodes' labels.

It lies in a ConfigMap of its own in the agent's namespace, and is written before what it speaks of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..kube.last_applied import read_record, record_data
from ..kube.objects import ConfigMap
from .config_map import ABSENT, Kept
from .names import OWNER, OWNER_LABEL

NAME, ENTRY = "volcano-colocation-agent", "agent.json"


@dataclass(frozen=True)
class Journal:
    """``original`` is the text that ``committed`` was made of, over all runs; None where there was none.

    ``labels``: by Node and label the value before ours, None where it had none.
    """

    existed: bool = False
    original: str | None = None
    committed: str | None = None
    kept: tuple[Kept, ...] = ()
    labels: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)


def read_journal(found: Mapping[str, Any] | None) -> Journal | None:
    """The journal of a ConfigMap; ClusterError for one that is not ours."""
    return read_record(ConfigMap.of(found), ENTRY, _journal)


def _journal(document: Mapping[str, Any]) -> Journal:
    return Journal(
        document["existed"],
        document["original"],
        document["committed"],
        tuple(Kept(tuple(each["path"]), each.get("before", ABSENT), each["after"]) for each in document["kept"]),
        document["labels"],
    )


def written(journal: Journal, namespace: str) -> dict[str, Any]:
    """The ConfigMap."""
    document = {
        "existed": journal.existed,
        "original": journal.original,
        "committed": journal.committed,
        "kept": [_kept(each) for each in journal.kept],
        "labels": journal.labels,
    }
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": NAME, "namespace": namespace, "labels": {OWNER_LABEL: OWNER}},
        "data": record_data(ENTRY, document),
    }


def _kept(each: Kept) -> dict[str, Any]:
    found = {"path": list(each.path), "after": each.after}
    return found if each.before is ABSENT else {**found, "before": each.before}
