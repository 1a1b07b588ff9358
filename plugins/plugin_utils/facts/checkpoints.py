# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's checkpoints: which policy and CPUs they hold, and whether their checksum is right."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ...module_utils.quantity import parse_cpu_list
from .model import Checkpoint

PLAIN_KEYS = frozenset(("policyName", "defaultCpuSet", "entries", "checksum"))
OTHER_FORMATS_SINCE = (1, 36)
"""From here a gate adds fields to the checkpoint that count into its checksum and may be missing in the file."""


def fnv32a(content: bytes) -> int:
    """Go's hash/fnv New32a."""
    value = 0x811C9DC5
    for byte in content:
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return value


def _go_map(table: Mapping[str, Any]) -> str:
    inner = (f"{key}:{_go_map(value) if isinstance(value, Mapping) else value}" for key, value in sorted(table.items()))
    return f"map[{' '.join(inner)}]"


def _entries(state: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = {} if state.get("entries") is None else state["entries"]
    return found


def cpu_checksum(state: Mapping[str, Any]) -> int:
    """The checksum of a cpu_manager_state document.

    kubelet hashes the struct as go-spew prints it with %#v, Checksum being 0: pkg/kubelet/checkpointmanager/checksum,
    pkg/util/hash DeepHashObject, pkg/kubelet/cm/cpumanager/state/checkpoint.go.
    """
    printed = (
        f"(*state.CPUManagerCheckpoint){{PolicyName:(string){state['policyName']}"
        f" DefaultCPUSet:(string){state.get('defaultCpuSet', '')}"
        f" Entries:(map[string]map[string]string){_go_map(_entries(state))}"
        " Checksum:(checksum.Checksum)0}"
    )
    return fnv32a(printed.encode("utf-8", "surrogateescape"))


def _checksum(state: Mapping[str, Any], version: tuple[int, int] | None) -> str:
    stored = state.get("checksum", 0)
    if stored == 0:
        return "absent"
    if stored == cpu_checksum(state):
        return "valid"
    known = version is not None and version < OTHER_FORMATS_SINCE and set(state) <= PLAIN_KEYS
    return "invalid" if known else "unverified"


def interpret_checkpoint(path: str, captured: Mapping[str, Any], version: tuple[int, int] | None = None) -> Checkpoint:
    """cpu_manager_state, JSON of pkg/kubelet/cm/cpumanager/state: unreadable content has no policy."""
    if "text" not in captured:
        return Checkpoint(path, captured["kind"] != "missing")
    try:
        state = json.loads(captured["text"])
        shared = parse_cpu_list(state.get("defaultCpuSet", ""))
        lists = [cpus for containers in _entries(state).values() for cpus in containers.values()]
        cpus = shared.union(*map(parse_cpu_list, lists))
        return Checkpoint(path, True, str(state["policyName"]), cpus, shared, _checksum(state, version))
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return Checkpoint(path, True)


def interpret_memory_checkpoint(path: str, captured: Mapping[str, Any]) -> Checkpoint:
    """memory_manager_state. Its checksum covers Go structs behind pointers and is not verified here."""
    if "text" not in captured:
        return Checkpoint(path, captured["kind"] != "missing")
    try:
        state = json.loads(captured["text"])
        policy = str(state["policyName"])
        return Checkpoint(path, True, policy, checksum="unverified" if state.get("checksum") else "absent")
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return Checkpoint(path, True)
