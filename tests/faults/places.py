# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders of the fault injection, its environment."""

from __future__ import annotations

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


def environment(base: Mapping[str, str]) -> dict[str, str]:
    """Its nodes are neither those of the other tests nor a developer's."""
    return {**tool_environment(base), "COLOCATION_LAB_STATE": str(OUTPUT / "nodes")}
