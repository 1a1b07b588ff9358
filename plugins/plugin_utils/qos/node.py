# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What QoS depends on of a node, read from the facts as they are published (docs/schema/facts-1.json)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver, KubeletTree
from ...module_utils.quantity import parse_cpu_list
from ...module_utils.settings.ownership import MEMORY_QOS_BY_DEFAULT
from ..facts.kubelet_state import Setting
from ..facts.node_state import CgroupMode
from ..findings.rules.memory_qos import GATE
from ..profile.kubelet_fields import CGROUP_ROOT, FEATURE_GATES
from ..profile.validators import ProfileError
from ..releases.kubelet_policy_options import parse_bool
from ..releases.versions import minor


@dataclass(frozen=True)
class Kubelet:
    running: bool
    version: tuple[int, int] | None
    driver: Driver | None
    cpu_manager_policy: str | None
    checkpoint_policy: str | None
    root_dir: str | None
    settings: Mapping[str, Setting]

    def value(self, key: str) -> Any:
        """A field's value in force; None where it is not set."""
        return self.settings[key].value if key in self.settings else None

    @property
    def cgroup_root(self) -> str:
        return str(self.value(CGROUP_ROOT.key) or "/")

    @property
    def memory_qos(self) -> bool | None:
        """The gate MemoryQoS, as somebody set it; None where nobody did."""
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
    """``features`` are True, False or None for what cannot be told; ``probed`` names the file that would show each."""

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
    kubelet: Kubelet

    @property
    def v2(self) -> bool:
        return self.mode is CgroupMode.V2

    @property
    def kernel(self) -> tuple[int, int] | None:
        return minor(self.release)

    @property
    def tree_exists(self) -> bool:
        """Whether kubelet has made its cgroups under the driver in force."""
        if self.kubelet.driver is None:
            return False
        pods = KubeletTree(self.kubelet.driver, self.kubelet.cgroup_root).pods()
        return any(tree.endswith(f"/{pods}") for tree in self.trees)


def _kubelet(section: Mapping[str, Any]) -> Kubelet:
    checkpoints = [each for each in section["checkpoints"] if each["path"].endswith("cpu_manager_state")]
    driver = section["cgroup_driver"]
    return Kubelet(
        running=section["running"],
        version=minor(section["version"]),
        driver=Driver(driver) if driver else None,
        cpu_manager_policy=section["cpu_manager_policy"],
        checkpoint_policy=checkpoints[0]["policy"] if checkpoints else None,
        root_dir=checkpoints[0]["path"].rpartition("/")[0] if checkpoints else None,
        settings={key: Setting(each["value"], each["source"]) for key, each in section["settings"].items()},
    )


def read(document: Mapping[str, Any]) -> QosNode:
    """The node of a facts document; ProfileError for what is none of schema 1."""
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
            kubelet=_kubelet(document["kubelet"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ProfileError(
            "facts", f"{error} is missing or wrong: give ansible_facts.colocation as node_facts returns it"
        ) from None
