# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cost of settings on the cgroups of the benchmark's node, and the number of calls to its systemd."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...plugins.module_utils.state import installed_engine
from .node import BenchNode
from .places import BENCH
from .qos_cost import QosCost, combined, qos_targets
from .reaches import Target

PLACE = "on the node"
COLLECTION = "ansible_collections/volcano/colocation"
PACKAGES = ("ansible_collections", "ansible_collections/volcano", COLLECTION, f"{COLLECTION}/plugins")
SCRIPTS = ("__init__.py", "qos_work.py", "qos_node.py")
OPTIONS = ("__init__.py", "setting_request.py")
MODULE_UTILS = Path(str(installed_engine.__file__)).parents[1]
MAIN = """\
import sys

from ansible_collections.volcano.colocation.tests.bench.qos_node import main

sys.exit(main())
"""
UNIT = "colocationbench"
REMOTE = (
    "file=$(mktemp) && cat >$file && systemd-run --quiet --collect --wait --pipe"
    f" --unit={UNIT} --slice={UNIT}.slice --property=Delegate=yes python3 -B $file </dev/null;"
    f" status=$?; systemctl stop {UNIT}.slice; rm -f $file; exit $status"
)
"""Runs a zip as a service with a delegated cgroup; stopping its slice removes everything below."""


@dataclass(frozen=True)
class NodeQosCost:
    """``calls`` and ``again``: for each unit the calls that set its properties, in the first run and in the second."""

    raw: QosCost
    calls: Sequence[int]
    again: Sequence[int]


def node_qos_cost(node: BenchNode) -> NodeQosCost:
    """The NodeQosCost that a process on the node measures."""
    return of_report(json.loads(node.run(REMOTE, program())))


def program() -> bytes:
    """A zip that Python runs: the code that modules send to a node, and the measurement."""
    code = {f"{package}/__init__.py": b"" for package in (*PACKAGES, f"{COLLECTION}/tests")}
    for name, text in installed_engine.sources().items():
        code[f"{COLLECTION}/plugins/module_utils/{name.partition('/')[2]}"] = text
    for name in OPTIONS:
        text = (MODULE_UTILS / "cgroup_qos" / name).read_bytes()
        code[f"{COLLECTION}/plugins/module_utils/cgroup_qos/{name}"] = text
    for name in SCRIPTS:
        code[f"{COLLECTION}/tests/bench/{name}"] = (BENCH / name).read_bytes()
    code["__main__.py"] = MAIN.encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in code.items():
            archive.writestr(name, text)
    return packed.getvalue()


def of_report(report: Mapping[str, Any]) -> NodeQosCost:
    """The NodeQosCost of a process's output; QosError unless bare loop and raw backend wrote every file."""
    units = report["units"]
    return NodeQosCost(combined(report, PLACE), [unit["calls"] for unit in units], [unit["again"] for unit in units])


def node_qos_targets(cost: NodeQosCost) -> tuple[Target, ...]:
    return (
        *qos_targets(cost.raw),
        _calls(f"calls for the {cost.raw.settings} properties of a unit", cost.calls, 1),
        _calls("calls of the second run", cost.again, 0),
    )


def _calls(what: str, counts: Sequence[int], expected: int) -> Target:
    value = ", ".join(str(count) for count in sorted({*counts}))
    return Target(what, value, str(expected), {*counts} == {expected}, counted=True)
