# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The feature gates that rules know: kubelet does not start with an unknown gate, or if a locked one is changed.

Source: pkg/features/kube_features.go. Other gates are known only for the versions of ``kubelet_generated``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from . import kubelet_generated
from .kubelet_policy_options import parse_bool
from .versions import Version

DRIVER_FROM_CRI = "KubeletCgroupDriverFromCRI"
MEMORY_MANAGER = "MemoryManager"
MEMORY_QOS = "MemoryQoS"
LOCKED = " locked"
"""Suffix in ``kubelet_generated.GATES`` of a gate that is locked to its default."""


@dataclass(frozen=True)
class Gate:
    """The first version that has a gate, and the first in which it is locked to true."""

    since: Version
    locked: Version | None = None


GATES: Mapping[str, Gate] = {
    "CPUManagerPolicyOptions": Gate((1, 22), (1, 33)),
    "CPUManagerPolicyAlphaOptions": Gate((1, 23)),
    "CPUManagerPolicyBetaOptions": Gate((1, 23)),
    "TopologyManagerPolicyOptions": Gate((1, 26), (1, 36)),
    "TopologyManagerPolicyAlphaOptions": Gate((1, 26)),
    "TopologyManagerPolicyBetaOptions": Gate((1, 26)),
    MEMORY_MANAGER: Gate((1, 21), (1, 32)),
    MEMORY_QOS: Gate((1, 22)),
    DRIVER_FROM_CRI: Gate((1, 28), (1, 34)),
    "DisableCPUQuotaWithExclusiveCPUs": Gate((1, 33), (1, 37)),
}


def gate_problems(gates: Mapping[str, object], version: Version) -> Iterator[str]:
    """Why a kubelet of this version would not start with these gates."""
    table = kubelet_generated.GATES.get(version)
    for name, value in gates.items():
        gate = GATES.get(name)
        if table is not None and (gate is None or (version >= gate.since and name not in table)):
            yield from _find_table_problems(table, name, value, version)
        elif gate and version < gate.since:
            yield f"{name} was added in {_format(gate.since)}"
        elif gate and gate.locked and version >= gate.locked and parse_bool(value) is False:
            yield f"{name} is locked to true since {_format(gate.locked)}"
    yield from _missing_dependencies(gates, version)


def _missing_dependencies(gates: Mapping[str, object], version: Version) -> Iterator[str]:
    """Gates that are on while a gate that they depend on is off: Validate of the gates, since 1.35."""
    table = kubelet_generated.GATES.get(version)
    if table is None or {"AllAlpha", "AllBeta"} & set(gates):
        return
    on = {name: parse_bool(gates[name]) if name in gates else is_default_on(known) for name, known in table.items()}
    for name, needed in kubelet_generated.GATE_NEEDS[version].items():
        off = [gate for gate in needed.split("|") if on.get(gate) is False]
        if on.get(name) and off and gates.keys() & {name, *off}:
            yield f"{name} is on but needs {', '.join(off)}"


def _find_table_problems(table: Mapping[str, str], name: str, value: object, version: Version) -> Iterator[str]:
    """Problems of a gate that is not in ``GATES``, in a version whose gates are all known."""
    known = table.get(name)
    if known is None:
        yield f"{_format(version)} has no gate {name}"
    elif known.endswith(LOCKED) and parse_bool(value) is (not is_default_on(known)):
        yield f"{name} is locked to {known[: -len(LOCKED)]} in {_format(version)}"


def is_default_on(known: str) -> bool:
    """The default of a gate in ``kubelet_generated.GATES``."""
    return known.startswith("true")


def _format(version: Version) -> str:
    return ".".join(map(str, version))
