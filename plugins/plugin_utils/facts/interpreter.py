# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""NodeFacts of a snapshot of the whole node. Pure: the same snapshot always gives the same facts.

For an image (the files of a node that does not run) only files are interpreted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...module_utils.snapshot.immutable_systems import interpret_system
from .cgroup_driver import cri_claims, decide_driver, driver_inside_k3s, k3s_claims, runtime_config
from .cgroup_tree import interpret_cgroups, interpret_pods
from .container_runtime import interpret_runtime, other_runtimes
from .kubelet_settings import interpret_kubelet
from .machine import (
    count_sockets,
    interpret_boot,
    interpret_cpus,
    interpret_kernel,
    interpret_systemd,
    next_command_line,
    parse_online_cpus,
)
from .node_layout import as_embedded, interpret_layout
from .node_state import LedgerProblem, NodeFacts, RecordProblem
from .other_writers import interpret_writers

_KERNEL_FIELDS = (
    "kernel_release",
    "kernel_command_line",
    "boot_id",
    "machine_id_sha256",
    "booted_at",
    "pid1",
    "swaps",
)
NO_CGROUPS_REASON = "an image: no cgroups are mounted before its first boot"
_NOTHING_MOUNTED = {"mountinfo": [], "mountinfo_read": True, "filesystem_types": {}, "files": {}, "trees": []}


def is_image(snapshot: Mapping[str, Any]) -> bool:
    """Whether the snapshot was taken below a directory other than ``/``."""
    return bool(snapshot.get("root", "/") != "/")


def without_running_state(snapshot: Mapping[str, Any]) -> dict[str, Any]:
    """The snapshot without running state: /proc and /sys in an image are often those of the host that builds it."""
    return {
        **snapshot,
        "system": {**snapshot["system"], **dict.fromkeys(_KERNEL_FIELDS), "filesystems": {}},
        "services": {**snapshot["services"], "version": None, "units": {}},
        "cpus": {"online": None},
        "cgroups": _NOTHING_MOUNTED,
        "kernel": None,
        "containers": {},
        "kubelet": {**snapshot["kubelet"], "processes": [], "healthz": None, "configz": None},
        "runtime": _without_runtime_processes(snapshot["runtime"]),
        "writers": {**snapshot.get("writers", {}), "commands": {}},
        "other_runtimes": [],
        **_without_supervisors(snapshot),
    }


def _without_runtime_processes(runtime: Mapping[str, Any]) -> dict[str, Any]:
    runtimes = {name: {**runtime[name], "processes": []} for name in ("crio", "docker") if runtime.get(name)}
    return {**runtime, **runtimes, "processes": [], "nri_sockets": {}}


def _without_supervisors(snapshot: Mapping[str, Any]) -> dict[str, Any]:
    distribution = snapshot.get("distribution")
    return {"distribution": {**distribution, "supervisors": []}} if isinstance(distribution, Mapping) else {}


SNAPSHOT_SCHEMA = 1
SECTIONS = ("system", "services", "cpus", "cgroups", "containers", "kubelet", "runtime")


class SnapshotError(ValueError):
    """This version cannot read the document as a snapshot."""


def require_sections(snapshot: Mapping[str, Any]) -> None:
    """Raise SnapshotError for a document with another schema, or if a section is missing."""
    if snapshot.get("schema") != SNAPSHOT_SCHEMA:
        raise SnapshotError(
            f"snapshot schema {snapshot.get('schema')!r} cannot be read; this version reads schema {SNAPSHOT_SCHEMA}"
        )
    missing = [name for name in SECTIONS if not isinstance(snapshot.get(name), Mapping)]
    if missing:
        raise SnapshotError(f"incomplete snapshot, missing sections: {', '.join(missing)}")


def interpret(snapshot: Mapping[str, Any]) -> NodeFacts:
    """NodeFacts of a snapshot document; SnapshotError for a document with another schema or without a section."""
    require_sections(snapshot)
    image = is_image(snapshot)
    snapshot = without_running_state(snapshot) if image else snapshot
    system, units = snapshot["system"], snapshot["services"]["units"]
    kubelet, kubelet_claims = interpret_kubelet(snapshot["kubelet"], units)
    runtime, runtime_claims = interpret_runtime(snapshot["runtime"], units, snapshot["kubelet"])
    layout, layout_claims = interpret_layout(snapshot, units, runtime)
    cri_config = runtime_config(snapshot["runtime"]["cri"])
    driver = decide_driver(kubelet, runtime, runtime_claims, cri_config)
    if layout.kubelet_inside:
        layout_claims = layout_claims or k3s_claims(driver)
        kubelet, kubelet_claims = as_embedded(kubelet, snapshot)
        driver = driver_inside_k3s(driver, kubelet, layout_claims, cri_config)
    driver_claims = cri_claims(cri_config, runtime, driver, layout)
    pods, pod_claims = interpret_pods(snapshot["containers"], snapshot["runtime"]["cri"])
    cgroup = interpret_cgroups(snapshot["cgroups"])
    if image:
        cgroup = replace(cgroup, reason=NO_CGROUPS_REASON)
    kernel = replace(interpret_kernel(snapshot, cgroup), boot=interpret_boot(snapshot.get("boot")))
    line = next_command_line(kernel.boot) if image else kernel.parameters
    return NodeFacts(
        hostname=system["hostname"],
        kernel=system["kernel_release"],
        pid1=system["pid1"],
        systemd_version=snapshot["services"]["version"],
        online_cpus=parse_online_cpus(snapshot["cpus"]),
        cgroup=cgroup,
        kubelet=kubelet,
        runtime=runtime,
        driver=driver,
        pods=pods,
        unfinished_transactions=tuple(snapshot.get("unfinished_transactions", ())),
        ledger_problem=LedgerProblem(**snapshot["ledger_problem"]) if snapshot.get("ledger_problem") else None,
        record_problems=tuple(RecordProblem(**problem) for problem in snapshot.get("record_problems", ())),
        claims=(*kubelet_claims, *driver_claims, *runtime_claims, *layout_claims, *pod_claims),
        layout=layout,
        image=image,
        other_runtimes=other_runtimes(snapshot, runtime),
        cpus=interpret_cpus(snapshot["cpus"]),
        sockets=count_sockets(snapshot["cpus"]),
        kernel_facts=kernel,
        systemd=interpret_systemd(snapshot["services"], line or {}),
        writers=interpret_writers(snapshot.get("writers", {}), units),
        operating_system=interpret_system(system),
    )
