# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The API objects of the agent: namespace, access rights, ColocationConfigurations, and the DaemonSet of a pool.

They follow volcano installer/helm/chart/volcano/templates/agent.yaml, except where the chart cannot be configured or is
wrong. The rules omit Secrets, which cmd/agent and pkg/agent do not read, as far as known, and grant ConfigMaps only in
the agent's namespace (pkg/agent/config/source/configmap_source.go). The DaemonSet sets the driver and the cgroup root
explicitly, mounts the paths of NetworkQoS only for that feature, tolerates all taints, is not confined by SELinux, logs
to its output, and requests some memory: a pod without requests is in the class whose CPU the agent throttles.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .features import Feature
from .module_options import DeployOptions, MemoryQos
from .owned_objects import (
    ACCOUNT,
    AGENT_NAME,
    APP_LABEL,
    CNI_PLUGIN_DIRECTORY,
    IMAGE_IDS,
    OWNER,
    OWNER_LABEL,
    POOL_LABEL,
)
from .pools import Pool

Manifest = dict[str, Any]
RBAC_API_GROUP = "rbac.authorization.k8s.io"
OBJECT_LABELS = {APP_LABEL: AGENT_NAME, OWNER_LABEL: OWNER}
CONFIG_API, CONFIG_KIND = "config.volcano.sh/v1alpha1", "ColocationConfiguration"

CLUSTER_RULES: list[Manifest] = [
    {"apiGroups": [""], "resources": ["nodes", "nodes/status"], "verbs": ["get", "list", "watch", "update", "patch"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]},
    {"apiGroups": [""], "resources": ["pods/eviction"], "verbs": ["create"]},
    {"apiGroups": [""], "resources": ["events"], "verbs": ["list", "watch", "create", "update", "patch"]},
]
NAMESPACE_RULES: list[Manifest] = [
    {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch", "create", "update"]},
]


def render_namespace(name: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {OWNER_LABEL: OWNER}}}


def render_access(name_space: str) -> tuple[Manifest, ...]:
    """The ServiceAccount, its roles and bindings, in the order of their creation."""
    subject = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": name_space}
    return (
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _metadata(name_space)},
        _role("ClusterRole", _metadata(), CLUSTER_RULES),
        _binding("ClusterRoleBinding", _metadata(), "ClusterRole", subject),
        _role("Role", _metadata(name_space), NAMESPACE_RULES),
        _binding("RoleBinding", _metadata(name_space), "Role", subject),
    )


def _metadata(name_space: str | None = None) -> Manifest:
    metadata: Manifest = {"name": ACCOUNT, "labels": dict(OBJECT_LABELS)}
    return {**metadata, "namespace": name_space} if name_space else metadata


def _role(kind: str, metadata: Manifest, rules: list[Manifest]) -> Manifest:
    return {"apiVersion": f"{RBAC_API_GROUP}/v1", "kind": kind, "metadata": metadata, "rules": rules}


def _binding(kind: str, metadata: Manifest, role: str, subject: Manifest) -> Manifest:
    return {
        "apiVersion": f"{RBAC_API_GROUP}/v1",
        "kind": kind,
        "metadata": metadata,
        "roleRef": {"apiGroup": RBAC_API_GROUP, "kind": role, "name": metadata["name"]},
        "subjects": [subject],
    }


def render_colocation_configuration(memory: MemoryQos) -> Manifest:
    """As in config/crd/volcano/bases/config.volcano.sh_colocationconfigurations.yaml, since Volcano 1.14."""
    return {
        "apiVersion": CONFIG_API,
        "kind": CONFIG_KIND,
        "metadata": {"name": memory.name, "namespace": memory.namespace, "labels": {OWNER_LABEL: OWNER}},
        "spec": {
            "selector": dict(memory.selector),
            "memoryQos": {"highRatio": memory.high, "lowRatio": memory.low, "minRatio": memory.least},
        },
    }


Object = dict[str, Any]
LOG_DIRECTORY = "/var/log/volcano/agent"
AGENT_USER = 1000
"""The user of the image; install.sh makes it the owner of the log directory."""


MEMINFO_MOUNT: Object = {"name": "proc-meminfo", "mountPath": "/host/proc/meminfo", "readOnly": True}
"""Without it, an agent that includes the usage of the system counts no memory: pkg/metriccollect/local/memory.go."""


def pod_labels(pool: str) -> dict[str, str]:
    """Labels of pods. Upstream's name=volcano-agent is not used: its chart's DaemonSet would adopt these pods."""
    return {APP_LABEL: AGENT_NAME, POOL_LABEL: pool}


def render_daemon_set(pool: Pool, options: DeployOptions) -> Object:
    """The DaemonSet (apps/v1) of a pool."""
    labels = pod_labels(pool.name)
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {
            "name": f"{AGENT_NAME}-{pool.name}",
            "namespace": options.namespace,
            "labels": {**labels, OWNER_LABEL: OWNER},
        },
        "spec": {
            "selector": {"matchLabels": labels},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "10%"}},
            "template": {
                "metadata": {
                    "labels": {**labels, OWNER_LABEL: OWNER},
                    "annotations": {
                        "prometheus.io/path": "/metrics",
                        "prometheus.io/port": str(options.port),
                        "prometheus.io/scheme": "http",
                        "prometheus.io/scrape": "true",
                        **({IMAGE_IDS: ",".join(options.image_ids)} if options.image_ids else {}),
                    },
                },
                "spec": _pod(pool, options),
            },
        },
    }


def _pod(pool: Pool, options: DeployOptions) -> Object:
    context: Object = {"seccompProfile": {"type": "RuntimeDefault"}}
    if pool.kind.selinux:
        # The chart sets only the level s0:c123,c456; the type stays container_t, which may not write to cgroups.
        context["seLinuxOptions"] = {"type": options.selinux_type}
    spec: Object = {
        "nodeSelector": {POOL_LABEL: pool.name},
        "tolerations": [dict(toleration) for toleration in options.tolerations],
        "serviceAccountName": ACCOUNT,
        "hostNetwork": True,
        "dnsPolicy": "Default",
        "priorityClassName": "system-node-critical",
        "securityContext": context,
        "volumes": _volumes(pool, options),
        "initContainers": [_init_container(pool, options)],
        "containers": [_agent_container(pool, options)],
    }
    return {key: value for key, value in spec.items() if value != []}


def _volumes(pool: Pool, options: DeployOptions) -> list[Object]:
    def host(name: str, path: str, kind: str = "") -> Object:
        return {"name": name, "hostPath": {"path": path, **({"type": kind} if kind else {})}}

    network = [
        host("bwm", "/usr/share/bwmcli", "DirectoryOrCreate"),
        host("cni-plugins", CNI_PLUGIN_DIRECTORY, "DirectoryOrCreate"),
    ]
    return [
        host("sys-fs", pool.kind.sys_fs, "Directory"),
        host("proc-sys", "/proc/sys", "Directory"),
        host("proc-stat", "/proc/stat", "File"),
        *([host("proc-meminfo", "/proc/meminfo", "File")] if options.include_system_usage else []),
        host("etc", "/etc", "Directory"),
        host("kubelet", pool.kind.kubelet_root_dir, "Directory"),
        host("logs", LOG_DIRECTORY, "DirectoryOrCreate"),
        *(network if pool.kind.network_paths else []),
    ]


def _network_mounts(pool: Pool) -> list[Object]:
    if not pool.kind.network_paths:
        return []
    return [
        {"name": "bwm", "mountPath": "/usr/share/bwmcli"},
        {"name": "cni-plugins", "mountPath": CNI_PLUGIN_DIRECTORY},
    ]


def _container_defaults(options: DeployOptions) -> Object:
    defaults: Object = {"image": options.image, "imagePullPolicy": options.pull_policy}
    return {**defaults, "resources": dict(options.resources)} if options.resources else defaults


def _init_container(pool: Pool, options: DeployOptions) -> Object:
    """install.sh creates the log directory, and sets two sysctls of openEuler's kernels to 1 if they exist."""
    return {
        "name": "volcano-agent-init",
        **_container_defaults(options),
        "command": ["/bin/sh", "-c", "/usr/local/bin/install.sh"],
        "securityContext": {
            "runAsUser": 0,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"], "add": ["CHOWN", "DAC_OVERRIDE", "FOWNER"]},
        },
        "volumeMounts": [
            {"name": "logs", "mountPath": LOG_DIRECTORY},
            {"name": "proc-sys", "mountPath": "/host/proc/sys"},
            *_network_mounts(pool),
        ],
    }


def _agent_container(pool: Pool, options: DeployOptions) -> Object:
    health = {
        "httpGet": {"path": "/healthz", "port": options.port, "scheme": "HTTP"},
        "timeoutSeconds": 5,
        "periodSeconds": 10,
    }
    etc: Object = {"name": "etc", "mountPath": "/host/etc"}
    return {
        "name": AGENT_NAME,
        **_container_defaults(options),
        "command": ["/vc-agent"],
        "args": list(agent_flags(pool, options)),
        "env": list(_environment(pool, options)),
        "securityContext": {
            "runAsUser": AGENT_USER,
            "runAsNonRoot": True,
            "capabilities": {"drop": ["ALL"], "add": ["DAC_OVERRIDE", "SETUID", "SETGID", "SETFCAP", "BPF"]},
        },
        "volumeMounts": [
            {"name": "sys-fs", "mountPath": "/host/sys/fs", "mountPropagation": "HostToContainer"},
            {"name": "proc-sys", "mountPath": "/host/proc/sys"},
            {"name": "proc-stat", "mountPath": "/host/proc/stat", "readOnly": True},
            *([MEMINFO_MOUNT] if options.include_system_usage else []),
            etc if pool.kind.network_paths else {**etc, "readOnly": True},
            {"name": "kubelet", "mountPath": pool.kind.kubelet_root_dir, "readOnly": True},
            {"name": "logs", "mountPath": LOG_DIRECTORY},
            *_network_mounts(pool),
        ],
        "livenessProbe": {**health, "initialDelaySeconds": 60, "failureThreshold": 5},
        "readinessProbe": dict(health),
    }


def agent_flags(pool: Pool, options: DeployOptions) -> Iterator[str]:
    """The agent's command line flags: cmd/agent/app/options/options.go."""
    yield f"--v={options.verbosity}"
    yield f"--supported-features={','.join(feature.value for feature in pool.kind.features)}"
    if pool.kind.cgroup_root:
        yield f"--kube-cgroup-root={pool.kind.cgroup_root}"
    yield f"--healthz-port={options.port}"
    yield f"--oversubscription-ratio={options.ratio}"
    if options.include_system_usage:
        yield "--include-system-usage=true"


def _environment(pool: Pool, options: DeployOptions) -> Iterator[Object]:
    """With CGROUP_DRIVER, the agent does not detect the driver itself: pkg/agent/utils/cgroup/cgroup.go."""
    yield {"name": "CGROUP_DRIVER", "value": pool.kind.driver.value}
    yield {"name": "SYS_FS_PATH", "value": "/host/sys/fs"}
    yield {"name": "KUBELET_ROOT_DIR", "value": pool.kind.kubelet_root_dir}
    if Feature.NETWORK_QOS in pool.kind.features:
        yield {"name": "CNI_CONF_FILE_PATH", "value": f"/host{options.cni_config}"}
    for name, field in (
        ("KUBE_NODE_NAME", "spec.nodeName"),
        ("KUBE_POD_NAME", "metadata.name"),
        ("KUBE_POD_NAMESPACE", "metadata.namespace"),
    ):
        yield {"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": field}}}
