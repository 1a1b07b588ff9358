# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recorded answers of a real Prometheus (tests/unit/fixtures/prometheus)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.usage_data import (
    UsageData,
    parse_response,
    read_usage,
)

FIXTURES = Path(__file__).parents[2] / "unit" / "fixtures" / "prometheus"


def recorded_results(case: str) -> Mapping[str, Any]:
    """The responses by query."""
    recorded: Mapping[str, Any] = json.loads((FIXTURES / f"{case}.json").read_text(encoding="utf-8"))
    return recorded


def usage(case: str) -> UsageData:
    """What the preflight reads from the responses."""
    recorded = recorded_results(case)
    return read_usage(lambda query: parse_response(recorded[query]))
