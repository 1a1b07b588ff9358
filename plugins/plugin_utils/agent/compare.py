# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of an object differs from what is wanted, without the fields that only the server or others fill."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .names import OWNER, OWNER_LABEL

APPLIED = "colocation.volcano.sh/applied"
"""Annotation with our last word on an object: what we no longer say is told from what we never said."""

Object = Mapping[str, Any]


def stamped(wanted: Object) -> dict[str, Any]:
    """The object with our word on it noted in itself."""
    note = json.dumps(wanted, sort_keys=True, separators=(",", ":"))
    metadata = wanted["metadata"]
    return {
        **wanted,
        "metadata": {**metadata, "annotations": {**(metadata.get("annotations") or {}), APPLIED: note}},
    }


def last_applied(live: Object) -> dict[str, Any]:
    """The object as it was applied last; {} where that is not known."""
    note = ((live.get("metadata") or {}).get("annotations") or {}).get(APPLIED)
    try:
        found = json.loads(note) if note else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) and "metadata" in found else {}


def shown(live: Any, wanted: Any) -> Any:
    """Of a live value what the wanted one speaks of: a diff of the two has no line that only the server wrote."""
    if isinstance(wanted, Mapping) and isinstance(live, Mapping):
        return {key: shown(live[key], each) for key, each in wanted.items() if key in live}
    if isinstance(wanted, list) and isinstance(live, list) and len(live) == len(wanted):
        return [shown(one, other) for one, other in zip(live, wanted, strict=True)]
    return live


def before(live: Object | None, wanted: Object) -> Any:
    """The left side of a diff: our last word as it is now, and what else is wanted."""
    if live is None:
        return None
    return shown(live, _joined(last_applied(live), wanted))


def _joined(one: Any, other: Any) -> Any:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return {key: _joined(one.get(key), other.get(key)) for key in {**other, **one}}
    return one if other is None else other


def is_ours(live: Object | None) -> bool:
    """Whether the collection made the object."""
    labels = ((live or {}).get("metadata") or {}).get("labels") or {}
    return bool(labels.get(OWNER_LABEL) == OWNER)
