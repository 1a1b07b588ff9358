# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Snapshots that were recorded on nodes, as hosts of the field: with texts of files edited, where a test asks for it.

``tests/unit/fixtures/origins.yml`` says of each how its node was made; ``tests/system/record.py`` records it.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

FIXTURES = Path(__file__).parents[2] / "unit" / "fixtures"
ORIGINS = FIXTURES / "origins.yml"
SUFFIX = ".snapshot.json"

Edits = Mapping[str, Mapping[str, str]]
"""{path of a file: {old: new}}; the old text stands in it once."""


@dataclass(frozen=True)
class Origin:
    """How a recorded node is made: the lab's options, what a shell runs on it, and a profile that it is brought to.

    ``script`` is the path of a shell script in the checkout.
    """

    node: str
    lab: tuple[str, ...]
    shell: str = ""
    script: str = ""
    profile: Mapping[str, Any] | None = None


def origins() -> Mapping[str, Origin]:
    """Of each host that was recorded."""
    return _origins_of("hosts")


def captured_origins() -> Mapping[str, Origin]:
    """Of each of the snapshots that are not in the folder of hosts."""
    return _origins_of("snapshots")


def by_hand() -> Mapping[str, str]:
    """Why each of the other hosts was written by hand."""
    return {name: group["why"] for group in _table()["by_hand"] for name in group["hosts"]}


def _origins_of(section: str) -> Mapping[str, Origin]:
    entries: Mapping[str, Mapping[str, Any]] = _table()[section]
    return {name: Origin(**{**entry, "lab": tuple(entry["lab"])}) for name, entry in entries.items()}


@cache
def _table() -> Mapping[str, Any]:
    table: Mapping[str, Any] = yaml.safe_load(ORIGINS.read_text(encoding="utf-8"))
    return table


def load(path: Path) -> dict[str, Any]:
    """The snapshot of a file."""
    snapshot: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return snapshot


def edited(snapshot: Mapping[str, Any], edits: Edits) -> dict[str, Any]:
    """A copy in which the texts of files are changed, wherever the snapshot has them."""
    changed: dict[str, Any] = copy.deepcopy(dict(snapshot))
    for path, replacements in edits.items():
        entries = list(_entries(changed, path))
        assert entries, f"{path} is not in the snapshot"
        for entry in entries:
            for old, new in replacements.items():
                assert entry["text"].count(old) == 1, f"{old!r} stands {entry['text'].count(old)} times in {path}"
                entry["text"] = entry["text"].replace(old, new)
            entry["sha256"] = hashlib.sha256(entry["text"].encode()).hexdigest()
    return changed


def _entries(value: Any, path: str) -> Iterator[dict[str, Any]]:
    """What a snapshot has of the file at ``path``."""
    if isinstance(value, dict):
        entry = value.get(path)
        if isinstance(entry, dict) and "text" in entry:
            yield entry
        for each in value.values():
            yield from _entries(each, path)
