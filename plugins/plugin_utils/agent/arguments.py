# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Argument specifications of the agent's modules. Each is a value; a test holds it against the documentation."""

from __future__ import annotations

from ..profile.argspec import Spec
from .feature import Feature
from .rubik import FEATURES as RUBIK_FEATURES

FEATURES = [each.value for each in Feature]
DEFAULT_FEATURES = ["OverSubscription", "Eviction", "Resources"]
"""What the agent has on of its own accord since 1.14: cmd/agent/app/options/options.go."""

WATERMARKS: Spec = {
    "cpu_high": {"type": "int"},
    "cpu_low": {"type": "int"},
    "memory_high": {"type": "int"},
    "memory_low": {"type": "int"},
}
THROTTLING: Spec = {
    "threshold": {"type": "int"},
    "jitter_limit": {"type": "int"},
    "recover_limit": {"type": "int"},
}
OVERSUBSCRIPTION: Spec = {
    "types": {"type": "list", "elements": "str", "choices": ["cpu", "memory"]},
}
NETWORK: Spec = {
    "online_watermark": {"type": "int"},
    "offline_low": {"type": "int"},
    "offline_high": {"type": "int"},
    "check_interval": {"type": "int"},
}
SETTINGS: Spec = {
    "watermarks": {"type": "dict", "options": WATERMARKS},
    "throttling": {"type": "dict", "options": THROTTLING},
    "oversubscription": {"type": "dict", "options": OVERSUBSCRIPTION},
    "network": {"type": "dict", "options": NETWORK},
}
"""What the agent takes from its ConfigMap, for all nodes or for a pool."""

CLUSTER: Spec = {
    "kubeconfig": {"type": "path"},
    "namespace": {"type": "str", "default": "volcano-system"},
    "nodes": {"type": "list", "elements": "str", "required": True},
}

AGENT_DEPLOY: Spec = {
    **CLUSTER,
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "step": {"type": "str", "choices": ["objects", "labels", "values"], "default": "objects"},
    "label_nodes": {"type": "bool", "aliases": ["label"]},
    "smoke_test": {"type": "bool", "default": False, "aliases": ["probe"]},
    "image": {"type": "str", "default": "docker.io/volcanosh/vc-agent:v1.14.0"},
    "version": {"type": "str"},
    "pull_policy": {"type": "str", "choices": ["Always", "IfNotPresent", "Never"], "default": "IfNotPresent"},
    "features": {"type": "list", "elements": "str", "choices": FEATURES, "default": DEFAULT_FEATURES},
    **SETTINGS,
    "oversubscription_ratio": {"type": "int", "default": 60},
    "include_system_usage": {"type": "bool", "default": False},
    "pools": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "name": {"type": "str", "required": True},
            "nodes": {"type": "list", "elements": "str", "required": True},
            **SETTINGS,
        },
    },
    "memory_qos": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "name": {"type": "str", "required": True},
            "namespace": {"type": "str", "required": True},
            "selector": {"type": "dict", "required": True},
            "high_ratio": {"type": "int", "default": 100},
            "low_ratio": {"type": "int", "default": 0},
            "min_ratio": {"type": "int", "default": 0},
        },
    },
    "tolerations": {"type": "list", "elements": "dict", "default": [{"operator": "Exists"}]},
    "resources": {
        "type": "dict",
        "default": {"requests": {"cpu": "50m", "memory": "100Mi"}},
    },
    "selinux_type": {"type": "str", "default": "spc_t"},
    "cni_config": {"type": "path", "default": "/etc/cni/net.d/cni.conflist"},
    "port": {"type": "int", "default": 3300},
    "verbosity": {"type": "int", "default": 2},
}

AGENT_ARCHIVE: Spec = {
    "path": {"type": "path", "required": True},
    "image": {"type": "str", "required": True},
    "digest": {"type": "str"},
}
AGENT_IMAGE: Spec = {
    "image": {"type": "str"},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "archive": {"type": "path"},
    "sha256": {"type": "str"},
    "images": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "aliases": ["holds"],
        "options": {
            "architecture": {"type": "str", "required": True},
            "id": {"type": "str", "required": True},
            "digests": {"type": "list", "elements": "str", "default": []},
        },
    },
    "ignore_containers": {"type": "list", "elements": "str", "default": [], "aliases": ["leaving"]},
}

RUBIK_CONFIG: Spec = {
    "nodes": CLUSTER["nodes"],
    "features": {"type": "list", "elements": "str", "choices": RUBIK_FEATURES, "default": ["preemption"]},
}

AGENT_TRIAL: Spec = {
    **CLUSTER,
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
}

AGENT_VERIFY: Spec = {
    **CLUSTER,
    "oversubscribed": {"type": "bool", "default": True},
}
