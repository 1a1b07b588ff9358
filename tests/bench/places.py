# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders of the benchmark, and the environment that every contestant runs in."""

from __future__ import annotations

from collections.abc import Mapping

from ..run.places import CACHE, CHECKOUT, tool_environment

BENCH = CHECKOUT / "tests" / "bench"
OUTPUT = CACHE / "bench"
REPORT = OUTPUT / "report.json"
LOGS = OUTPUT / "logs"
MANY = OUTPUT / "many"
DOCUMENT = CHECKOUT / "docs" / "benchmark.md"
SNAPSHOTS = CHECKOUT / "tests" / "unit" / "fixtures" / "snapshots"
RECORD_VARIABLE = "COLOCATION_BENCH_RECORD"
"""Names the file that the callback plugin writes."""


def environment(base: Mapping[str, str]) -> dict[str, str]:
    """The same for all: ansible.cfg in this folder instead of the user's, and bytecode is kept."""
    # PYTHONPATH goes: a user has none. Without bytecode each run would compile all of Ansible anew.
    kept = {
        name: value
        for name, value in base.items()
        if not name.startswith("ANSIBLE_") and name != "PYTHONDONTWRITEBYTECODE"
    }
    tools = tool_environment(kept)
    del tools["PYTHONPATH"]
    return {
        **tools,
        "ANSIBLE_CONFIG": str(BENCH / "ansible.cfg"),
        "COLOCATION_LAB_STATE": str(OUTPUT / "nodes"),
    }
