# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Feature gates of each kubelet, and options of its CPU and topology manager. kubelet does not start with a wrong one:
an unknown gate, a locked gate with another value, an option that it does not accept.

Sources: pkg/features/kube_features.go, pkg/kubelet/cm/cpumanager/policy_options.go and
pkg/kubelet/cm/topologymanager/policy_options.go per version.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from . import kubelet_generated
from .versions import Version, format_version


@dataclass(frozen=True)
class OptionHistory:
    """The first version of each stage; None for a stage that it never had."""

    alpha: Version | None
    beta: Version | None
    stable: Version | None


CPU_OPTIONS: dict[str, OptionHistory] = {
    "full-pcpus-only": OptionHistory((1, 22), (1, 23), (1, 33)),
    "distribute-cpus-across-numa": OptionHistory((1, 23), (1, 33), None),
    "align-by-socket": OptionHistory((1, 25), None, None),
    "distribute-cpus-across-cores": OptionHistory((1, 31), None, None),
    "strict-cpu-reservation": OptionHistory((1, 32), (1, 33), (1, 35)),
    "prefer-align-cpus-by-uncorecache": OptionHistory((1, 32), (1, 34), (1, 36)),
}
TOPOLOGY_OPTIONS: dict[str, OptionHistory] = {
    "prefer-closest-numa-nodes": OptionHistory((1, 26), (1, 28), (1, 32)),
    "max-allowable-numa-nodes": OptionHistory(None, (1, 31), (1, 35)),
}
INCOMPATIBLE: tuple[tuple[str, str], ...] = (
    ("full-pcpus-only", "distribute-cpus-across-cores"),
    ("distribute-cpus-across-numa", "distribute-cpus-across-cores"),
    ("prefer-align-cpus-by-uncorecache", "distribute-cpus-across-cores"),
    ("prefer-align-cpus-by-uncorecache", "distribute-cpus-across-numa"),
)
_TRUE = frozenset(("1", "t", "T", "true", "TRUE", "True"))
_FALSE = frozenset(("0", "f", "F", "false", "FALSE", "False"))


@dataclass(frozen=True)
class Manager:
    """Names of a manager's gates, and the versions since which they are on by default."""

    options: Mapping[str, OptionHistory]
    gate: str
    gate_alpha: Version
    gate_on: Version
    stage_gate: str
    beta_on: Version


CPU_MANAGER = Manager(CPU_OPTIONS, "CPUManagerPolicyOptions", (1, 22), (1, 23), "CPUManagerPolicy%sOptions", (1, 23))
TOPOLOGY_MANAGER = Manager(
    TOPOLOGY_OPTIONS, "TopologyManagerPolicyOptions", (1, 26), (1, 28), "TopologyManagerPolicy%sOptions", (1, 28)
)


def parse_bool(value: object) -> bool | None:
    """Go's strconv.ParseBool; None for a text that it does not accept."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return True if text in _TRUE else False if text in _FALSE else None


def _is_gate_on(gates: Mapping[str, object], name: str, default: object) -> bool:
    chosen = parse_bool(gates[name]) if name in gates else None
    return bool(default) if chosen is None else chosen


def stage_in(history: OptionHistory, version: Version) -> str | None:
    """``Alpha``, ``Beta``, empty for a stable option, None if the version does not have the option."""
    stages = (("", history.stable), ("Beta", history.beta), ("Alpha", history.alpha))
    return next((stage for stage, since in stages if since and version >= since), None)


def gate_errors(
    manager: Manager, options: Mapping[str, object], gates: Mapping[str, object], version: Version
) -> Iterator[str]:
    """Why a kubelet of this version would not start with options at all."""
    if options and not _is_gate_on(gates, manager.gate, version >= manager.gate_on):
        yield f"the gate {manager.gate} is off"


def option_errors(
    manager: Manager, options: Mapping[str, object], gates: Mapping[str, object], version: Version
) -> Iterator[str]:
    """Why a kubelet of this version would not start with these options."""
    yield from gate_errors(manager, options, gates, version)
    for name, value in options.items():
        stage = stage_in(manager.options[name], version) if name in manager.options else None
        if stage is None:
            yield f"Kubernetes {format_version(version)} has no option {name}"
            continue
        gate = manager.stage_gate % stage
        if stage and not _is_gate_on(gates, gate, stage == "Beta" and version >= manager.beta_on):
            yield f"{name} needs the gate {gate}"
        yield from _find_wrong_value(name, value)


def _find_wrong_value(name: str, value: object) -> Iterator[str]:
    if name == "max-allowable-numa-nodes":
        if not str(value).isdecimal() or len(str(value)) > 9 or int(str(value)) < 8:
            yield f"{name}={value} is not a number of 8 or more"
    elif parse_bool(value) is None:
        yield f"{name}={value} is neither true nor false"


def option_conflicts(options: Mapping[str, object], topology_policy: str | None) -> Iterator[str]:
    """Pairs that exclude each other, cpumanager ValidateStaticPolicyOptions."""
    chosen = {name for name, value in options.items() if parse_bool(value)}
    for first, second in INCOMPATIBLE:
        if {first, second} <= chosen:
            yield f"{first} and {second} exclude each other"
    if "align-by-socket" in chosen and topology_policy == "single-numa-node":
        yield "align-by-socket cannot be combined with topologyManagerPolicy single-numa-node"


DRIVER_FROM_CRI = "KubeletCgroupDriverFromCRI"
DRIVER_FROM_CRI_ON: Version = (1, 31)
"""The first version in which this gate is on by default."""
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
            yield f"{name} was added in {format_version(gate.since)}"
        elif gate and gate.locked and version >= gate.locked and parse_bool(value) is False:
            yield f"{name} is locked to true since {format_version(gate.locked)}"
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
        yield f"{format_version(version)} has no gate {name}"
    elif known.endswith(LOCKED) and parse_bool(value) is (not is_default_on(known)):
        yield f"{name} is locked to {known[: -len(LOCKED)]} in {format_version(version)}"


def is_default_on(known: str) -> bool:
    """The default of a gate in ``kubelet_generated.GATES``."""
    return known.startswith("true")


def asks_cri(version: Version | None, gates: Any) -> bool:
    """Whether this kubelet asks the CRI for the driver when it starts."""
    gate = GATES[DRIVER_FROM_CRI]
    if version is None or version < gate.since:
        return False
    if gate.locked and version >= gate.locked:
        return True
    return _is_gate_on(gates if isinstance(gates, Mapping) else {}, DRIVER_FROM_CRI, version >= DRIVER_FROM_CRI_ON)
