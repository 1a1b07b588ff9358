# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints the CPU milliseconds that planning one recorded snapshot takes.

`python -P tests/bench/planning.py SNAPSHOT ARGUMENTS`: a separate script, because only the first plan of a process
is measured as such. It runs the action plugin as a play does, with Ansible's collection loader and a snapshot as node.
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


def run_plan(plugin: Any, snapshot: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """The result of node_align in check mode for a node with this ``snapshot``."""
    # These imports need the collection loader, which main() sets up.
    from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.packing import pack
    from ansible_collections.volcano.colocation.plugins.plugin_utils.node.transport import Node

    result: dict[str, Any] = plugin.execute(Node(lambda name, options: {"snapshot": pack(snapshot)}), arguments)
    if result.get("failed"):
        raise SystemExit(f"planning was refused: {result.get('msg')}")
    return result


def main(snapshot_path: str, arguments_json: str) -> int:
    init_plugin_loader()
    # Every play loads this plugin, so its time does not count.
    action_loader.get("ansible.builtin.normal", class_only=True)
    began = cpu_ms()
    kind = action_loader.get("volcano.colocation.node_align", class_only=True)
    load = cpu_ms() - began
    snapshot = json.loads(Path(snapshot_path).read_text(encoding="utf-8"))
    checked = ArgumentSpecValidator(kind.ARGUMENTS).validate(json.loads(arguments_json))
    if checked.error_messages:
        raise SystemExit("; ".join(checked.error_messages))
    plugin = kind.__new__(kind)
    plugin._task = SimpleNamespace(check_mode=True)
    modules = set(sys.modules)
    results = [run_plan(plugin, snapshot, checked.validated_parameters) for _repetition in range(REPETITIONS)]
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
