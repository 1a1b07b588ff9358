# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Directories and environment of the fault injection."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..run.places import CACHE, CHECKOUT, tool_environment

GUEST = Path(__file__).resolve().parent / "guest"
OUTPUT = CACHE / "faults"
RESULTS = CHECKOUT / "tests" / "faults" / "results.jsonl"
"""Part of the repository, because the runs take hours."""
SHORT_RESULTS = OUTPUT / "results.jsonl"
"""Results of the shorter set, which runs with the other tests and does not change the checkout."""
LOGS = OUTPUT / "logs"
DOCUMENT = CHECKOUT / "docs" / "faults.md"


def environment(base: Mapping[str, str]) -> dict[str, str]:
    """Return the environment, with nodes that are separate from those of other tests and of a developer."""
    return {**tool_environment(base), "COLOCATION_LAB_STATE": str(OUTPUT / "nodes")}
