# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Snapshots that were recorded on nodes, with edits to texts of files where a test needs them.

``tests/unit/fixtures/origins.yml`` describes how each node was made; ``tests/system/record.py`` records it.
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
"""{path of a file: {old: new}}; the file contains the old text once."""


@dataclass(frozen=True)
class Origin:
    """How a recorded node is made: the lab's options, shell commands to run on it, and the profile to provision.

    ``script`` is the path of a shell script in the checkout.
    """

    node: str
    lab: tuple[str, ...]
    shell: str = ""
    script: str = ""
    profile: Mapping[str, Any] | None = None


def origins() -> Mapping[str, Origin]:
    """Return the origin of each recorded host."""
    return _origins_of("hosts")


def captured_origins() -> Mapping[str, Origin]:
    """Return the origin of each snapshot that is not in the directory of hosts."""
    return _origins_of("snapshots")


def by_hand() -> Mapping[str, str]:
    """Return why each of the other hosts was written by hand."""
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
                assert entry["text"].count(old) == 1, f"{old!r} occurs {entry['text'].count(old)} times in {path}"
                entry["text"] = entry["text"].replace(old, new)
            entry["sha256"] = hashlib.sha256(entry["text"].encode()).hexdigest()
    return changed


def _entries(value: Any, path: str) -> Iterator[dict[str, Any]]:
    """Yield the entries of a snapshot for the file at ``path``."""
    if isinstance(value, dict):
        entry = value.get(path)
        if isinstance(entry, dict) and "text" in entry:
            yield entry
        for nested in value.values():
            yield from _entries(nested, path)
