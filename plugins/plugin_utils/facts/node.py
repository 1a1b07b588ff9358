# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole node: one snapshot in, NodeFacts out. Pure; the same snapshot always gives the same facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...module_utils.snapshot.immutable_systems import interpret_system
from .boot import first_line, interpret_boot
from .cgroups import interpret_cgroups
from .cpus import interpret_cpus, online, sockets
from .embedded import as_embedded
from .image import REASON, at_rest, is_image
from .kernel import interpret_kernel
from .kubelet import interpret_kubelet
from .layout import interpret_layout
from .model import LedgerProblem, NodeFacts, RecordProblem
from .pods import interpret_pods
from .runtime import interpret_runtime, other_runtimes
from .systemd import interpret_systemd
from .writers import interpret_writers

SNAPSHOT_SCHEMA = 1
SECTIONS = ("system", "services", "cpus", "cgroups", "containers", "kubelet", "runtime")


class SnapshotError(ValueError):
    """The document is no snapshot that this version reads."""


def require_sections(snapshot: Mapping[str, Any]) -> None:
    """Raise SnapshotError for a document of another schema, or without one of the sections."""
    if snapshot.get("schema") != SNAPSHOT_SCHEMA:
        raise SnapshotError(
            f"snapshot schema {snapshot.get('schema')!r} is not the {SNAPSHOT_SCHEMA} that this version reads"
        )
    missing = [name for name in SECTIONS if not isinstance(snapshot.get(name), Mapping)]
    if missing:
        raise SnapshotError(f"not a whole snapshot: it lacks {', '.join(missing)}")


def interpret(snapshot: Mapping[str, Any]) -> NodeFacts:
    """NodeFacts of a snapshot document; SnapshotError for a document of another schema or shape."""
    require_sections(snapshot)
    image = is_image(snapshot)
    snapshot = at_rest(snapshot) if image else snapshot
    system, units = snapshot["system"], snapshot["services"]["units"]
    kubelet, kubelet_claims = interpret_kubelet(snapshot["kubelet"], units, snapshot["runtime"]["cri"])
    runtime, runtime_claims = interpret_runtime(snapshot["runtime"], units, snapshot["kubelet"])
    layout, layout_claims = interpret_layout(snapshot, units, runtime)
    if layout.kubelet_inside:
        kubelet, kubelet_claims = as_embedded(kubelet, layout_claims, snapshot)
    pods, pod_claims = interpret_pods(snapshot["containers"], snapshot["runtime"]["cri"])
    cgroup = interpret_cgroups(snapshot["cgroups"])
    if image:
        cgroup = replace(cgroup, reason=REASON)
    kernel = replace(interpret_kernel(snapshot, cgroup), boot=interpret_boot(snapshot.get("boot")))
    line = first_line(kernel.boot) if image else kernel.parameters
    return NodeFacts(
        hostname=system["hostname"],
        kernel=system["kernel_release"],
        pid1=system["pid1"],
        systemd_version=snapshot["services"]["version"],
        online_cpus=online(snapshot["cpus"]),
        cgroup=cgroup,
        kubelet=kubelet,
        runtime=runtime,
        pods=pods,
        unfinished_transactions=tuple(snapshot.get("unfinished_transactions", ())),
        ledger_problem=LedgerProblem(**snapshot["ledger_problem"]) if snapshot.get("ledger_problem") else None,
        record_problems=tuple(RecordProblem(**each) for each in snapshot.get("record_problems", ())),
        claims=(*kubelet_claims, *runtime_claims, *layout_claims, *pod_claims),
        layout=layout,
        image=image,
        other_runtimes=other_runtimes(snapshot, runtime),
        cpus=interpret_cpus(snapshot["cpus"]),
        sockets=sockets(snapshot["cpus"]),
        kernel_facts=kernel,
        systemd=interpret_systemd(snapshot["services"], line or {}),
        writers=interpret_writers(snapshot.get("writers", {}), units),
        operating_system=interpret_system(system),
    )
