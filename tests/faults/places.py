# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders of the fault injection, its environment, and which code it tries."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from ..run.places import CACHE, CHECKOUT, tool_environment

GUEST = Path(__file__).resolve().parent / "guest"
OUTPUT = CACHE / "faults"
RESULTS = CHECKOUT / "tests" / "faults" / "results.jsonl"
"""In the repository, since hours went into it."""
SHORT_RESULTS = OUTPUT / "results.jsonl"
"""Of the shorter set, which runs with the other tests and leaves the checkout as it is."""
LOGS = OUTPUT / "logs"
DOCUMENT = CHECKOUT / "docs" / "faults.md"
CODE = ("plugins", "roles/node", "playbooks/provision.yml")
"""What a result depends on."""


def environment(base: Mapping[str, str]) -> dict[str, str]:
    """Its nodes are neither those of the other tests nor a developer's."""
    return {**tool_environment(base), "COLOCATION_LAB_STATE": str(OUTPUT / "nodes")}


def code_digest(checkout: Path) -> str:
    """A short name of the collection's code as it is now."""
    found = hashlib.sha256()
    tops = [checkout / top for top in CODE]
    for path in sorted(path for top in tops for path in (top, *top.rglob("*"))):
        if path.is_file() and path.suffix != ".pyc":
            found.update(str(path.relative_to(checkout)).encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()[:12]
