# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which settings a node supports, by its facts document (docs/schema/facts-1.json), and why not the others.

The data of the tasks that a QoS profile results in is defined here as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver, KubeletTree, QosClass
from ...module_utils.quantity import parse_cpu_list
from ...module_utils.settings.ownership import MEMORY_QOS_BY_DEFAULT, CgroupLevel, refusal
from ...module_utils.settings.registry import knob as knob_of
from ..facts.kubelet_state import Setting
from ..facts.node_state import CgroupMode
from ..profile.kubelet_fields import CGROUP_ROOT, FEATURE_GATES
from ..profile.validators import ProfileError
from ..releases.kubelet_features import parse_bool
from ..releases.versions import minor
from ..rules.memory_qos import GATE, SAFE_KERNEL

KnobValues = Mapping[str, Any]
"""Values by the name of their knob; None restores the value from before the first change."""


@dataclass(frozen=True)
class CgroupTask:
    """Options of cgroup_qos: the target, qos_class (with level: pods, each of its pods) or pod, and the settings."""

    target: Mapping[str, Any]
    settings: KnobValues


@dataclass(frozen=True)
class SliceTask:
    """Options of systemd_slice, which restores a property that it set before and that is no longer in the options."""

    name: str
    state: str = "present"
    description: str | None = None
    properties: Mapping[str, Any] = field(default_factory=dict)
    controllers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unsupported:
    """A setting of a level that this node does not get, and why; level "system" is the slices beside the pods."""

    level: str
    setting: str
    reason: str


@dataclass(frozen=True)
class QosPlan:
    """``reserved`` are the slices that must exist before kubelet's configuration names them.

    ``levels``: the settings of a pod of each of the Volcano agent's levels on this node. ``kubelet``: kubelet's values
    that cgroup_qos needs, as far as they are known.
    """

    cgroups: tuple[CgroupTask, ...] = ()
    slices: tuple[SliceTask, ...] = ()
    reserved: tuple[SliceTask, ...] = ()
    unsupported: tuple[Unsupported, ...] = ()
    levels: Mapping[str, KnobValues] = field(default_factory=dict)
    kubelet: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class KubeletSettings:
    running: bool
    version: tuple[int, int] | None
    driver: Driver | None
    cpu_manager_policy: str | None
    checkpoint_policy: str | None
    root_dir: str | None
    settings: Mapping[str, Setting]

    def value(self, key: str) -> Any:
        """A field's effective value; None if it is not set."""
        return self.settings[key].value if key in self.settings else None

    @property
    def cgroup_root(self) -> str:
        return str(self.value(CGROUP_ROOT.key) or "/")

    @property
    def memory_qos(self) -> bool | None:
        """The gate MemoryQoS as kubelet's configuration sets it; None if it is not set."""
        gates = self.value(FEATURE_GATES.key)
        return parse_bool(gates[GATE]) if isinstance(gates, Mapping) and GATE in gates else None

    @property
    def protects_memory(self) -> bool:
        """Whether kubelet may write memory.min and memory.low itself (KEP-2570)."""
        if self.memory_qos is not None:
            return self.memory_qos
        return self.version is None or self.version >= MEMORY_QOS_BY_DEFAULT


@dataclass(frozen=True)
class QosNode:
    """``features`` are True, False or None for unknown; ``probed`` names the file that shows each."""

    mode: CgroupMode
    reason: str
    controllers: frozenset[str]
    trees: tuple[str, ...]
    online_cpus: frozenset[int]
    smt: bool | None
    release: str | None
    features: Mapping[str, bool | None]
    probed: Mapping[str, str]
    sysctls: Mapping[str, str]
    kubelet: KubeletSettings

    @property
    def v2(self) -> bool:
        return self.mode is CgroupMode.V2

    @property
    def kernel(self) -> tuple[int, int] | None:
        return minor(self.release)

    @property
    def tree_exists(self) -> bool:
        """Whether kubelet has created its cgroups under the effective driver."""
        if self.kubelet.driver is None:
            return False
        pods = KubeletTree(self.kubelet.driver, self.kubelet.cgroup_root).pods()
        return any(tree.endswith(f"/{pods}") for tree in self.trees)


def _parse_kubelet(section: Mapping[str, Any]) -> KubeletSettings:
    checkpoints = [
        checkpoint for checkpoint in section["checkpoints"] if checkpoint["path"].endswith("cpu_manager_state")
    ]
    driver = section["cgroup_driver"]
    return KubeletSettings(
        running=section["running"],
        version=minor(section["version"]),
        driver=Driver(driver) if driver else None,
        cpu_manager_policy=section["cpu_manager_policy"],
        checkpoint_policy=checkpoints[0]["policy"] if checkpoints else None,
        root_dir=checkpoints[0]["path"].rpartition("/")[0] if checkpoints else None,
        settings={key: Setting(setting["value"], setting["source"]) for key, setting in section["settings"].items()},
    )


def parse_node(document: Mapping[str, Any]) -> QosNode:
    """The node of a facts document; ProfileError for a document that is not of schema 1."""
    try:
        cgroup, kernel, cpu = document["cgroup"], document["kernel"], document["cpu"]
        return QosNode(
            mode=CgroupMode(cgroup["mode"]),
            reason=cgroup["reason"],
            controllers=frozenset(cgroup["controllers"]),
            trees=tuple(cgroup["trees"]),
            online_cpus=parse_cpu_list(cpu["online"] or ""),
            smt=cpu["smt"],
            release=kernel["release"],
            features=kernel["features"],
            probed=kernel["probed"],
            sysctls=kernel["sysctls"],
            kubelet=_parse_kubelet(document["kubelet"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        missing = f"{error.args[0]} is missing" if isinstance(error, KeyError) else "a value has another type"
        raise ProfileError("facts", f"{missing}: pass ansible_facts.colocation as node_facts returns it") from None


FEATURE_BY_KNOB = {"cpu_bvt_warp_ns": "cpu_bvt"}
"""The fact that shows whether the kernel has a knob, if its name differs from the knob's."""
PROTECTION = ("memory_min", "memory_low")
RECURSIVE_PROTECTION = (5, 7)
"""The first kernel whose cgroup2 can be mounted with memory_recursiveprot (Documentation/admin-guide/cgroup-v2.rst)."""

ReasonFunction = Callable[[str], str]
"""From a knob's name to the reason why it cannot be set; empty if it can."""


def unsupported_reason(node: QosNode, knob: str) -> str:
    """Why the node's kernel does not have a setting, or why it cannot be used; empty if it can.

    Unknown facts are not an obstacle: cgroup_qos looks for the file itself and reports what it does not set.
    """
    controller = knob_of(knob).controller("v2" if node.v2 else "v1")
    if not controller:
        return f"it exists on cgroup v1 only, and this node has {node.mode.value}"
    if controller not in node.controllers:
        return f"the controller {controller} is not available on this node ({node.reason})"
    feature = FEATURE_BY_KNOB.get(knob, knob)
    if node.features.get(feature) is False:
        return f"this kernel ({node.release}) has no {node.probed[feature]}{_alternative(node, knob)}"
    if knob == "memory_high" and node.kernel is not None and node.kernel < SAFE_KERNEL:
        return f"Linux {node.release} may stall processes at memory.high forever; 5.9 and newer do not (KEP-2570)"
    if knob in PROTECTION and node.v2 and node.kernel is not None and node.kernel < RECURSIVE_PROTECTION:
        return (
            f"Linux {node.release} does not extend the protection of a cgroup to its children;"
            " 5.7 and newer do (memory_recursiveprot)"
        )
    return ""


def _alternative(node: QosNode, knob: str) -> str:
    if node.v2 or not knob.startswith("memory_"):
        return ""
    if knob == "memory_high":
        return ", which needs cgroup v2; memory_max also limits on v1, but kills where memory_high throttles"
    return ", which needs cgroup v2" if knob in PROTECTION else ""


def kubelet_owned_reason(node: QosNode, qos: QosClass, knob: str) -> str:
    """Why a setting of a class is not managed: kubelet writes it itself, by the table that cgroup_qos uses too."""
    kubelet = node.kubelet
    return refusal(
        knob_of(knob),
        CgroupLevel.ROOT if qos is QosClass.GUARANTEED else CgroupLevel.QOS_CLASS,
        qos.value,
        kubelet.driver.value if kubelet.driver else "",
        kubelet.version,
        static_cpu=kubelet.cpu_manager_policy != "none",
        memory_qos=kubelet.memory_qos,
    )


def split_supported(
    level: str, desired: Mapping[str, Any], why_not: ReasonFunction
) -> tuple[KnobValues, tuple[Unsupported, ...]]:
    """The settings that can be set, and why the others cannot. An unsupported setting without a value is left out."""
    reasons = {knob: why_not(knob) for knob in desired}
    settings = {knob: value for knob, value in desired.items() if not reasons[knob]}
    unsupported = tuple(
        Unsupported(level, knob, reasons[knob])
        for knob, value in desired.items()
        if reasons[knob] and value is not None
    )
    return settings, unsupported
