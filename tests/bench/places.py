# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Directories of the benchmark, and the environment of every contestant."""

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
"""The variable with the path of the file that the callback plugin writes."""


def environment(base: Mapping[str, str]) -> dict[str, str]:
    """The environment of all contestants: ansible.cfg of this directory instead of the user's, and bytecode."""
    # A user has no PYTHONPATH. Without bytecode each run would compile all of Ansible again.
    variables = {
        name: value
        for name, value in base.items()
        if not name.startswith("ANSIBLE_") and name != "PYTHONDONTWRITEBYTECODE"
    }
    tools = tool_environment(variables)
    del tools["PYTHONPATH"]
    return {
        **tools,
        "ANSIBLE_CONFIG": str(BENCH / "ansible.cfg"),
        "COLOCATION_LAB_STATE": str(OUTPUT / "nodes"),
    }
