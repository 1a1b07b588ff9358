# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An image: the files of a node that does not run. Nothing is in force there but what files say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_OF_A_KERNEL = (
    "kernel_release",
    "kernel_command_line",
    "boot_id",
    "machine_id_sha256",
    "booted_at",
    "pid1",
    "swaps",
)
REASON = "an image: no cgroups are mounted before its first boot"
_NOTHING_MOUNTED = {"mountinfo": [], "mountinfo_read": True, "filesystem_types": {}, "files": {}, "trees": []}


def is_image(snapshot: Mapping[str, Any]) -> bool:
    """Whether the snapshot was taken below another folder than the root."""
    return bool(snapshot.get("root", "/") != "/")


def at_rest(snapshot: Mapping[str, Any]) -> dict[str, Any]:
    """The snapshot without what runs: whoever builds an image often has his own /proc and /sys mounted in it."""
    return {
        **snapshot,
        "system": {**snapshot["system"], **dict.fromkeys(_OF_A_KERNEL), "filesystems": {}},
        "services": {**snapshot["services"], "version": None, "units": {}},
        "cpus": {"online": None},
        "cgroups": _NOTHING_MOUNTED,
        "kernel": None,
        "containers": {},
        "kubelet": {**snapshot["kubelet"], "processes": [], "healthz": None, "configz": None},
        "runtime": _resting_runtime(snapshot["runtime"]),
        "writers": {**snapshot.get("writers", {}), "commands": {}},
        "other_runtimes": [],
        **_resting_distribution(snapshot),
    }


def _resting_runtime(runtime: Mapping[str, Any]) -> dict[str, Any]:
    others = {name: {**runtime[name], "processes": []} for name in ("crio", "docker") if runtime.get(name)}
    return {**runtime, **others, "processes": [], "nri_sockets": {}}


def _resting_distribution(snapshot: Mapping[str, Any]) -> dict[str, Any]:
    found = snapshot.get("distribution")
    return {"distribution": {**found, "supervisors": []}} if isinstance(found, Mapping) else {}
