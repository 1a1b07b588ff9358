# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of the modules that change files: wrong types, out of range, unknown, contradictory."""

from __future__ import annotations

from typing import Any

from ansible_collections.volcano.colocation.tests.unit.malformed.case import Case


def _kubelet(message: str, **options: Any) -> Case:
    return Case("kubelet_config", options, (message,))


def _nri(message: str, **options: Any) -> Case:
    return Case("containerd_config", {"nri": options}, (message,))


def _memory(message: str, *entries: Any) -> Case:
    return _kubelet(message, reserved_memory=list(entries))


LIMITS = {"memory": "1Gi"}
CGROUP = "is not the path of a cgroup such as /pods"
QUANTITY = "is not a Kubernetes quantity such as 500m, 2 or 1Gi"
CPUS = "is not a CPU list"
PLAIN = "is not a plain value"
PATH = "is not an absolute path"
TIME = "is not a time such as 5s or 1m30s"

CASES = {
    "unknown driver": _kubelet("cgroup_driver must be one of: systemd, cgroupfs", cgroup_driver="cgroups"),
    "driver is a list": _kubelet("cgroup_driver must be one of", cgroup_driver=["systemd"]),
    "relative root of cgroups": _kubelet(f"cgroup_root: 'pods' {PATH}", cgroup_root="pods"),
    "root of cgroups through ..": _kubelet(f"cgroup_root: '/a/../b' {CGROUP}", cgroup_root="/a/../b"),
    "root of cgroups with a level without name": _kubelet(f"'/a//b' {CGROUP}", cgroup_root="/a//b"),
    "root of cgroups with NUL": _kubelet(CGROUP, cgroup_root="/a\0b"),
    "root of cgroups in two lines": _kubelet(CGROUP, cgroup_root="/a b\nkind: x"),
    "root of cgroups is a list": _kubelet("cgroup_root: ", cgroup_root=["/a"]),
    "reserved cgroup is a list": _kubelet(f"kube_reserved_cgroup: \"['x']\" {CGROUP}", kube_reserved_cgroup=["x"]),
    "reserved cgroup through ..": _kubelet(CGROUP, system_reserved_cgroup="/a/../b"),
    "reserved cgroup of a shell": _kubelet(CGROUP, system_reserved_cgroup="/a;b"),
    "unknown policy": _kubelet("cpu_manager_policy must be one of: none, static", cpu_manager_policy="dynamic"),
    "policy is a switch": _kubelet("cpu_manager_policy must be one of", cpu_manager_policy=True),
    "static without a reservation": _kubelet("cpu_manager_policy: ", cpu_manager_policy="static"),
    "options are a text": _kubelet("cpu_manager_policy_options", cpu_manager_policy_options="x"),
    "option is a list": _kubelet(f"cpu_manager_policy_options.a: {PLAIN}", cpu_manager_policy_options={"a": [1]}),
    "option is nothing": _kubelet(f"cpu_manager_policy_options.a: {PLAIN}", cpu_manager_policy_options={"a": None}),
    "reservation is a text": _kubelet("system_reserved", system_reserved="x"),
    "reservation is a list": _kubelet("system_reserved", system_reserved=["cpu"]),
    "reserved amount is a word": _kubelet(f"system_reserved.cpu: 'lots' {QUANTITY}", system_reserved={"cpu": "lots"}),
    "reserved amount is negative": _kubelet("system_reserved.cpu: -1 is negative", system_reserved={"cpu": "-1"}),
    "reserved amount is a list": _kubelet(f"system_reserved.cpu: '[1]' {QUANTITY}", system_reserved={"cpu": [1]}),
    "reserved amount is a switch": _kubelet(f"'True' {QUANTITY}", system_reserved={"cpu": True}),
    "reserved amount is nothing": _kubelet(f"kube_reserved.cpu: '' {QUANTITY}", kube_reserved={"cpu": ""}),
    "reserved amount ends its line": _kubelet(
        "system_reserved.cpu: '1\\n' starts or ends with whitespace", system_reserved={"cpu": "1\n"}
    ),
    "reserved amount beyond 64 bits": _kubelet("does not fit in 64 bits", system_reserved={"memory": "9" * 40}),
    "reserved amount with an absurd exponent": _kubelet("64 bits", system_reserved={"memory": "1e999"}),
    "unknown resource": _kubelet("system_reserved: 'gpu' cannot be reserved", system_reserved={"gpu": 1}),
    "resource without a name": _kubelet("kube_reserved: '' cannot be reserved", kube_reserved={"": "1"}),
    "CPUs half": _kubelet(f"reserved_system_cpus: '0-' {CPUS}", reserved_system_cpus="0-"),
    "CPUs backwards": _kubelet("3-1 runs backwards", reserved_system_cpus="3-1"),
    "CPUs without end": _kubelet("CPU 99999999999 does not exist", reserved_system_cpus="0-99999999999"),
    "CPUs end their line": _kubelet(
        "reserved_system_cpus: '0\\n' starts or ends with whitespace", reserved_system_cpus="0\n"
    ),
    "CPUs in other digits": _kubelet(CPUS, reserved_system_cpus="\u0663"),
    "CPUs of a shell": _kubelet(CPUS, reserved_system_cpus="0;reboot"),
    "unknown enforcement": _kubelet("enforce_node_allocatable", enforce_node_allocatable="all"),
    "enforcement twice": _kubelet("has pods twice", enforce_node_allocatable=["pods", "pods"]),
    "none and pods": _kubelet("none excludes all others", enforce_node_allocatable=["none", "pods"]),
    "enforced on no cgroup": _kubelet("needs systemReservedCgroup", enforce_node_allocatable=["system-reserved"]),
    "unknown topology": _kubelet("topology_manager_policy must be one of", topology_manager_policy="best"),
    "unknown scope": _kubelet("topology_manager_scope must be one of", topology_manager_scope="node"),
    "memory policy in small letters": _kubelet("must be one of: None, Static", memory_manager_policy="static"),
    "reserved memory is a word": _kubelet("reserved_memory: is neither auto nor a list", reserved_memory="all"),
    "reserved memory is a mapping": _kubelet("reserved_memory: is neither", reserved_memory={"numaNode": 0}),
    "reserved memory of numbers": _memory("reserved_memory[0]: is not an entry", 1),
    "reserved memory without limits": _memory("reserved_memory[0]: is not an entry", {"numaNode": 0}),
    "reserved memory below NUMA 0": _memory("needs the number of a NUMA node", {"numaNode": -1, "limits": LIMITS}),
    "reserved memory of NUMA \u00b2": _memory(
        "needs the number of a NUMA node", {"numaNode": "\u00b2", "limits": LIMITS}
    ),
    "reserved memory of nothing": _memory("0 is not greater than 0", {"numaNode": 0, "limits": {"memory": "0"}}),
    "reserved memory of a disk": _memory("'disk' is neither", {"numaNode": 0, "limits": {"disk": "1"}}),
    "reserved memory twice": _memory("has memory twice", *[{"numaNode": 0, "limits": LIMITS}] * 2),
    "reserved memory that cannot be computed": _kubelet("reservedMemory cannot be computed", reserved_memory="auto"),
    "factor 0": _kubelet("memory_throttling_factor: 0.0 is not greater than 0", memory_throttling_factor=0),
    "factor that is not a number": _kubelet("nan is not greater than 0 and at most 1", memory_throttling_factor="nan"),
    "switch of a word": _kubelet("fail_cgroup_v1", fail_cgroup_v1="maybe"),
    "pids of a word": _kubelet("pod_pids_limit", pod_pids_limit="many"),
    "pids below -1": _kubelet("pod_pids_limit: -2 is not a number of processes", pod_pids_limit=-2),
    "pids beyond 64 bits": _kubelet("is not a number of processes", pod_pids_limit=10**30),
    "port beyond 65535": _kubelet("read_only_port: 65536 is not a port", read_only_port=65536),
    "gates are a text": _kubelet("feature_gates", feature_gates="x"),
    "gate of no name": _kubelet("feature_gates.A B: ", feature_gates={"A B": True}),
    "gate of a word": _kubelet("feature_gates.A: 'maybe' is neither true nor false", feature_gates={"A": "maybe"}),
    "drop-ins that kubelet does not read": _kubelet(
        "kubelet_strategy: drop-ins were requested", kubelet_strategy="drop-in", cgroup_driver="systemd"
    ),
    "unknown recovery": _kubelet("recover must be one of: undo, finish, stop", recover="never"),
    "misspelt option": _kubelet("Unsupported parameters for (kubelet_config)", cgroup_driverr="systemd"),
    "root that is not there": Case(
        "kubelet_config", {"root": "/none/such"}, ("root: '/none/such' is not a directory",)
    ),
    "NRI is a switch": Case("containerd_config", {"nri": "on"}, ("dictionary requested",)),
    "NRI's switch is a word": _nri("'enabled'", enabled="maybe"),
    "NRI's unknown option": _nri("Unsupported parameters for (containerd_config) module: nri.bogus", bogus=1),
    "NRI's socket is relative": _nri(f"nri.socket_path: 'run/x' {PATH}", socket_path="run/x"),
    "NRI's socket in two lines": _nri("nri.socket_path: '/a\\nb' has characters", socket_path="/a\nb"),
    "NRI's directory is relative": _nri(f"nri.plugin_path: '../x' {PATH}", plugin_path="../x"),
    "NRI's time is a word": _nri(f"nri.plugin_registration_timeout: 'soon' {TIME}", plugin_registration_timeout="soon"),
    "NRI's time is negative": _nri(f"nri.plugin_request_timeout: '-5s' {TIME}", plugin_request_timeout="-5s"),
    "drop-in of an unknown containerd": Case(
        "containerd_config",
        {"containerd_strategy": "drop-in", "cgroup_driver": "systemd"},
        ("containerd_strategy: ", "Leave containerd_strategy"),
    ),
    "another module's option": Case("containerd_config", {"cpu_manager_policy": "static"}, ("Unsupported parameters",)),
    "another runtime's module": Case("crio_config", {"cgroup_driver": "systemd"}, ("containerd",)),
    "unknown section": Case("node_restore", {"sections": ["bogus"]}, ("sections must be one or more of",)),
    "sections are a mapping": Case("node_restore", {"sections": {"a": 1}}, ("'sections'",)),
    "time limit of a word": Case("node_restore", {"health_timeout": "soon"}, ("'health_timeout'",)),
    "time limit below 0": Case("node_restore", {"health_timeout": -5}, ("health_timeout: -5 is not a number of sec",)),
    "permission of a word": Case("node_restore", {"allow_disruption": "perhaps"}, ("'allow_disruption'",)),
}
