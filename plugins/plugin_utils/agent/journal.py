# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was there before the collection first touched it: the agent's configuration and the Nodes' labels.

It lies in a ConfigMap of its own in the agent's namespace, and is written before what it speaks of.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..kube.errors import ClusterError
from .config_map import ABSENT, Kept
from .names import OWNER, OWNER_LABEL

NAME, ENTRY = "volcano-colocation-agent", "agent.json"
SCHEMA = 1


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
    if found is None:
        return None
    try:
        document = json.loads(found["data"][ENTRY])
        if document["schema"] != SCHEMA:
            raise ValueError(f"schema {document['schema']!r}, this version reads {SCHEMA}")
        return Journal(
            document["existed"],
            document["original"],
            document["committed"],
            tuple(Kept(tuple(each["path"]), each.get("before", ABSENT), each["after"]) for each in document["kept"]),
            document["labels"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ClusterError(
            f"ConfigMap {NAME} is not what this version of the collection keeps there"
            f" ({type(error).__name__}: {error})",
            "Nothing was changed. Look at who wrote it, and take it away if it is nobody's.",
        ) from error


def written(journal: Journal, namespace: str) -> dict[str, Any]:
    """The ConfigMap."""
    document = {
        "schema": SCHEMA,
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
        "data": {ENTRY: json.dumps(document, indent=1)},
    }


def _kept(each: Kept) -> dict[str, Any]:
    found = {"path": list(each.path), "after": each.after}
    return found if each.before is ABSENT else {**found, "before": each.before}
