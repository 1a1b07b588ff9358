# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints what planning one recorded snapshot costs in CPU milliseconds.

`python -P tests/bench/planning.py SNAPSHOT ARGUMENTS`: a script of its own, since a process has only one first time. It
drives the action plugin as a play does, through Ansible's own collection loader, the snapshot in the place of a node.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.plugins.loader import action_loader, init_plugin_loader

REPETITIONS = 21


def cpu_ms() -> float:
    return time.process_time() * 1000


def planned(plugin: Any, snapshot: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """The result of node_align under check mode for a node that looks like ``snapshot``."""
    # Only after the loader is set up: these imports go through it.
    from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.packing import pack
    from ansible_collections.volcano.colocation.plugins.plugin_utils.node.transport import Node

    result: dict[str, Any] = plugin.execute(Node(lambda name, given: {"snapshot": pack(snapshot)}), arguments)
    if result.get("failed"):
        raise SystemExit(f"planning was refused: {result.get('msg')}")
    return result


def main(snapshot_path: str, given: str) -> int:
    init_plugin_loader()
    # What every play loads anyway is not ours.
    action_loader.get("ansible.builtin.normal", class_only=True)
    began = cpu_ms()
    kind = action_loader.get("volcano.colocation.node_align", class_only=True)
    load = cpu_ms() - began
    snapshot = json.loads(Path(snapshot_path).read_text(encoding="utf-8"))
    checked = ArgumentSpecValidator(kind.ARGUMENTS).validate(json.loads(given))
    if checked.error_messages:
        raise SystemExit("; ".join(checked.error_messages))
    plugin = kind.__new__(kind)
    plugin._task = SimpleNamespace(check_mode=True)
    modules = set(sys.modules)
    results = [planned(plugin, snapshot, checked.validated_parameters) for _repetition in range(REPETITIONS)]
    times = [result["usage"]["planning_ms"] for result in results]
    report = {
        "changes": len(results[0]["plan"]["changes"]),
        "load_ms": round(load, 1),
        "first_ms": times[0],
        "again_ms": statistics.median(times[1:]),
        "imported": len(set(sys.modules) - modules),
    }
    print(json.dumps(report))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
