# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Argument specifications of the public modules. Each is a value; a test compares it with the documentation."""

from __future__ import annotations

from typing import Any

from .field_schema import KubeletField
from .kubelet_fields import CGROUP_DRIVER, FIELDS, KUBE_RESERVED_CGROUP, SYSTEM_RESERVED_CGROUP

Spec = dict[str, dict[str, Any]]

ROOT: Spec = {"root": {"type": "path", "default": "/"}}


def _options(*fields: KubeletField) -> Spec:
    """The options of some fields of the table."""
    return {field.option: field.argument_spec() for field in fields}


KUBELET: Spec = {
    **_options(*FIELDS),
    "kubelet_strategy": {"type": "str", "choices": ["auto", "main-file", "drop-in"], "default": "auto"},
    "kubeadm_patches": {"type": "str"},
}

NODE_SNAPSHOT: Spec = {
    **ROOT,
    "named_cgroups": {"type": "list", "elements": "str", "default": []},
    "kubeadm_patches": {"type": "path"},
}

RUNTIME: Spec = {
    **_options(CGROUP_DRIVER),
    "nri": {
        "type": "dict",
        "options": {
            "enabled": {"type": "bool"},
            "unsupported": {"type": "str", "choices": ["refuse", "skip"], "default": "refuse"},
            "socket_path": {"type": "path"},
            "plugin_path": {"type": "path"},
            "plugin_config_path": {"type": "path"},
            "plugin_registration_timeout": {"type": "str"},
            "plugin_request_timeout": {"type": "str"},
        },
    },
}

CONTAINERD: Spec = {
    "containerd_strategy": {"type": "str", "choices": ["auto", "main-file", "drop-in"], "default": "auto"},
}

RECOVER: Spec = {"recover": {"type": "str", "choices": ["undo", "finish", "stop"], "default": "undo"}}

PROFILE: Spec = {**KUBELET, **RUNTIME, **CONTAINERD}

PROFILE_DEFAULTS: Spec = {"profile_defaults": {"type": "list", "elements": "str", "default": []}}

JUDGEMENT: Spec = {
    **PROFILE_DEFAULTS,
    "compare_defaults": {"type": "bool", "default": False, "aliases": ["judge_defaults"]},
}

KUBELET_CONFIG: Spec = {**ROOT, **KUBELET, **RECOVER}

CONTAINERD_CONFIG: Spec = {**ROOT, **RUNTIME, **CONTAINERD, **RECOVER}

CRIO_CONFIG: Spec = {**ROOT, **RUNTIME, **RECOVER}

DISRUPTION: Spec = {
    "allow_disruption": {"type": "bool"},
    "health_timeout": {"type": "int", "default": 300},
}

NODE_ALIGN: Spec = {
    **PROFILE,
    **PROFILE_DEFAULTS,
    **RECOVER,
    **DISRUPTION,
    "observation": {"type": "str"},
    "assume_slices": {"type": "bool", "default": False, "aliases": ["slices_promised"]},
    "preflight": {"type": "bool", "default": True},
}

NODE_RESTORE: Spec = {
    **ROOT,
    **DISRUPTION,
    "sections": {
        "type": "list",
        "elements": "str",
        "choices": ["kubelet", "runtime", "sysctl", "slices", "qos"],
        "default": ["kubelet", "runtime", "sysctl", "slices", "qos"],
    },
}

AGENT_SYSCTLS: Spec = {
    **ROOT,
    **RECOVER,
    "sysctls": {"type": "list", "elements": "str", "required": True, "aliases": ["switches"]},
}

KUBEADM_CONFIG: Spec = {
    "kubeconfig": {"type": "path"},
    "edit_configmap": {"type": "bool", "aliases": ["configmap"]},
    "state": {"type": "str", "choices": ["present", "restored"], "default": "present"},
    "nodes": {"type": "list", "elements": "str", "required": True},
}

VOLCANO_AMOUNTS: Spec = {name: {"type": "dict"} for name in ("capability", "deserved", "guarantee")}

VOLCANO_METRICS: dict[str, Any] = {
    "type": "dict",
    "options": {
        "type": {
            "type": "str",
            "choices": ["prometheus", "prometheus_adaptor", "elasticsearch"],
            "default": "prometheus",
        },
        "address": {"type": "str", "default": ""},
        "interval": {"type": "str", "default": "30s"},
    },
}
VOLCANO_CONFIGMAP: Spec = {
    "namespace": {"type": "str", "default": "volcano-system"},
    "configmap": {"type": "str", "default": "volcano-scheduler-configmap"},
    "configmap_key": {"type": "str", "default": "volcano-scheduler.conf"},
}
LEVEL_RULES: Spec = {
    "oversubscribed_resources": {
        "type": "list",
        "elements": "str",
        "default": ["kubernetes.io/batch-cpu", "kubernetes.io/batch-memory"],
    },
    "excluded_namespaces": {"type": "list", "elements": "str", "default": ["kube-system"]},
}
QOS_AUDIT_INFO: Spec = {
    "kubeconfig": {"type": "path", "required": True},
    "namespace": VOLCANO_CONFIGMAP["namespace"],
    **LEVEL_RULES,
}
SCHEDULER_USAGE_INFO: Spec = {
    "kubeconfig": {"type": "path", "required": True},
    **VOLCANO_CONFIGMAP,
    "metrics": VOLCANO_METRICS,
}
SCHEDULER_CONFIG: Spec = {
    "kubeconfig": {"type": "path", "required": True},
    "cluster_uid": {"type": "str", "default": ""},
    "state": {"type": "str", "choices": ["present", "restored"], "default": "present"},
    **VOLCANO_CONFIGMAP,
    "deployment": {"type": "str", "default": "volcano-scheduler"},
    "edit_configmap": {"type": "bool", "default": True},
    "dropped_actions": {"type": "list", "elements": "str", "default": []},
    "reclaim": {"type": "bool", "default": False},
    "usage": {
        "type": "dict",
        "options": {
            "enabled": {"type": "bool", "default": True},
            "cpu": {"type": "int", "default": 60},
            "memory": {"type": "int", "default": 60},
            "enable_predicate": {"type": "bool", "default": True, "aliases": ["keep_off"]},
            "weight": {"type": "int"},
            "cpu_weight": {"type": "int"},
            "memory_weight": {"type": "int"},
        },
    },
    "binpack": {
        "type": "dict",
        "options": {
            "weight": {"type": "int"},
            "cpu": {"type": "int"},
            "memory": {"type": "int"},
            "resources": {"type": "dict"},
        },
    },
    "metrics": VOLCANO_METRICS,
    "watermarks": {
        "type": "dict",
        "options": {
            "system": {"type": "str", "choices": ["volcano", "openfuyao"], "default": "volcano"},
            "cpu_high": {"type": "int"},
            "memory_high": {"type": "int"},
            "cpu_low": {"type": "int"},
            "memory_low": {"type": "int"},
        },
    },
    "priority_classes": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "name": {"type": "str", "required": True},
            "value": {"type": "int", "required": True},
            "preemption_policy": {
                "type": "str",
                "choices": ["Never", "PreemptLowerPriority"],
                "default": "PreemptLowerPriority",
            },
            "global_default": {"type": "bool", "default": False},
            "description": {"type": "str", "default": ""},
        },
    },
    "queues": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "name": {"type": "str", "required": True},
            "weight": {"type": "int"},
            **VOLCANO_AMOUNTS,
            "reclaimable": {"type": "bool"},
            "parent": {"type": "str"},
        },
    },
    "admission": {
        "type": "dict",
        "options": {
            "validate": {"type": "bool", "default": True},
            "mutate": {"type": "bool", "default": True},
            "action": {"type": "str", "choices": ["Deny", "Warn", "Audit"], "default": "Deny"},
            "scheduler": {"type": "str", "default": "volcano"},
            **LEVEL_RULES,
            "levels": {
                "type": "list",
                "elements": "dict",
                "default": [],
                "options": {
                    "level": {"type": "str", "choices": ["HLS", "LS", "BE"], "required": True},
                    "priority_class": {"type": "str"},
                    "node_labels": {"type": "dict"},
                },
            },
        },
    },
}

TARGETS: Spec = {
    "target_kubernetes": {"type": "str"},
    "target_containerd": {"type": "str"},
    "target_systemd": {"type": "str"},
}

NODE_FACTS: Spec = {
    **ROOT,
    **PROFILE,
    **JUDGEMENT,
    **TARGETS,
    "snapshot": {"type": "path"},
    "snapshot_directory": {"type": "path", "aliases": ["snapshot_folder"]},
    "return_snapshot": {"type": "bool", "default": False},
}

SEVERITIES = ["error", "warning", "info"]

FILTER: Spec = {
    "finding_codes": {"type": "list", "elements": "str", "default": []},
    "finding_severities": {"type": "list", "elements": "str", "choices": SEVERITIES, "default": []},
}

FAILURE: Spec = {"fail_severities": {"type": "list", "elements": "str", "choices": SEVERITIES, "default": []}}

NODE_REPORT: Spec = {
    **FILTER,
    **FAILURE,
    "facts": {"type": "dict", "required": True},
    "directory": {"type": "path", "aliases": ["folder"]},
    "name": {"type": "str", "required": True},
}

DETAILED_HOSTS: Spec = {"detailed_hosts": {"type": "int", "default": 3}}

NODE_TABLE: Spec = {
    **FILTER,
    **DETAILED_HOSTS,
    "nodes": {"type": "list", "elements": "str", "required": True},
    "source": {"type": "str", "choices": ["facts", "observed", "aligned"], "default": "facts"},
    "fleet_size": {"type": "int"},
    "directory": {"type": "path"},
}

QOS_LEVELS = ["LC", "HLS", "LS", "BE"]

QOS_PROFILE: Spec = {
    "levels": {"type": "list", "elements": "str", "choices": QOS_LEVELS, "default": ["HLS", "LS", "BE"]},
    "be": {
        "type": "dict",
        "apply_defaults": True,
        "options": {
            "cpu_quota": {"type": "str", "default": "60%"},
            "memory_high": {"type": "str", "default": "80%"},
            "memory_max": {"type": "str", "default": ""},
            "pids_max": {"type": "str", "default": "32768"},
            "cpu_idle": {"type": "bool", "default": False},
        },
    },
    "ls": {
        "type": "dict",
        "apply_defaults": True,
        "options": {
            "memory_low": {"type": "str", "default": "50%"},
            "memory_min": {"type": "str", "default": ""},
            "cpu_burst": {"type": "str", "default": ""},
        },
    },
    "system": {
        "type": "dict",
        "apply_defaults": True,
        "options": {
            "cpu_weight": {"type": "str", "default": "reserved"},
            "memory": {"type": "str", "choices": ["low", "min", "none"], "default": "low"},
        },
    },
    "pods": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "uid": {"type": "str"},
            "namespace": {"type": "str"},
            "name": {"type": "str"},
            "level": {"type": "str", "choices": QOS_LEVELS, "required": True},
        },
    },
    "kernel_levels": {"type": "str", "choices": ["auto", "two", "multi"], "default": "auto"},
}

QOS_PLAN: Spec = {
    "facts": {"type": "dict", "required": True},
    "profile": {"type": "dict", "required": True, "options": QOS_PROFILE},
    **_options(SYSTEM_RESERVED_CGROUP, KUBE_RESERVED_CGROUP, CGROUP_DRIVER),
}

LIVE_NODE_OPTIONS = ("root", "snapshot", "snapshot_directory", "return_snapshot")
"""Options of node_facts about one node, which do not apply to a directory of snapshots."""

NODE_REPLAY: Spec = {
    **{name: option for name, option in NODE_FACTS.items() if name not in LIVE_NODE_OPTIONS},
    **FILTER,
    **FAILURE,
    "snapshots": {"type": "path", "required": True},
    **DETAILED_HOSTS,
    "report_directory": {"type": "path", "aliases": ["report_folder"]},
}
