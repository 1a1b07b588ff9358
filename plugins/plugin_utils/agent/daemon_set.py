# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The DaemonSet of a pool.

It follows volcano installer/helm/chart/volcano/templates/agent.yaml, save for what the chart cannot say or gets
wrong: the driver and the cgroup root are told instead of guessed, paths that only NetworkQoS needs are mounted only for
it, taints do not keep the agent away, SELinux does not confine it, the log goes to the runtime, and it asks for some
memory, since a pod that asks for nothing is in the class whose CPU the agent throttles.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .feature import Feature
from .names import ACCOUNT, APP_LABEL, CNI_PLUGINS, NAME, OWNER, OWNER_LABEL, POOL
from .options import Options
from .pools import Pool

Object = dict[str, Any]
LOGS = "/var/log/volcano/agent"
USER = 1000
"""Of the image; install.sh gives it the folder of logs."""


def pod_labels(pool: str) -> dict[str, str]:
    """Not upstream's name=volcano-agent: a DaemonSet of its chart would take our pods for its own."""
    return {APP_LABEL: NAME, POOL: pool}


def daemon_set(pool: Pool, options: Options) -> Object:
    """The object of apps/v1."""
    labels = pod_labels(pool.name)
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {
            "name": f"{NAME}-{pool.name}",
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
                    },
                },
                "spec": _pod(pool, options),
            },
        },
    }


def _pod(pool: Pool, options: Options) -> Object:
    context: Object = {"seccompProfile": {"type": "RuntimeDefault"}}
    if pool.kind.selinux:
        # The chart's own level s0:c123,c456 leaves the type container_t, which may not write to cgroups.
        context["seLinuxOptions"] = {"type": options.selinux_type}
    spec: Object = {
        "nodeSelector": {POOL: pool.name},
        "tolerations": [dict(each) for each in options.tolerations],
        "serviceAccountName": ACCOUNT,
        "hostNetwork": True,
        "dnsPolicy": "Default",
        "priorityClassName": "system-node-critical",
        "securityContext": context,
        "volumes": _volumes(pool),
        "initContainers": [_init(pool, options)],
        "containers": [_agent(pool, options)],
    }
    return {key: value for key, value in spec.items() if value != []}


def _volumes(pool: Pool) -> list[Object]:
    def host(name: str, path: str, kind: str = "") -> Object:
        return {"name": name, "hostPath": {"path": path, **({"type": kind} if kind else {})}}

    network = [
        host("bwm", "/usr/share/bwmcli", "DirectoryOrCreate"),
        host("cni-plugins", CNI_PLUGINS, "DirectoryOrCreate"),
    ]
    return [
        host("sys-fs", pool.kind.sys_fs, "Directory"),
        host("proc-sys", "/proc/sys", "Directory"),
        host("proc-stat", "/proc/stat", "File"),
        host("etc", "/etc", "Directory"),
        host("kubelet", pool.kind.kubelet_folder, "Directory"),
        host("logs", LOGS, "DirectoryOrCreate"),
        *(network if pool.kind.network_paths else []),
    ]


def _network_mounts(pool: Pool) -> list[Object]:
    if not pool.kind.network_paths:
        return []
    return [{"name": "bwm", "mountPath": "/usr/share/bwmcli"}, {"name": "cni-plugins", "mountPath": CNI_PLUGINS}]


def _common(options: Options) -> Object:
    found: Object = {"image": options.image, "imagePullPolicy": options.pull_policy}
    return {**found, "resources": dict(options.resources)} if options.resources else found


def _init(pool: Pool, options: Options) -> Object:
    """install.sh makes the logs and writes 1 to two switches of openEuler's kernels where they exist."""
    return {
        "name": "volcano-agent-init",
        **_common(options),
        "command": ["/bin/sh", "-c", "/usr/local/bin/install.sh"],
        "securityContext": {
            "runAsUser": 0,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"], "add": ["CHOWN", "DAC_OVERRIDE", "FOWNER"]},
        },
        "volumeMounts": [
            {"name": "logs", "mountPath": LOGS},
            {"name": "proc-sys", "mountPath": "/host/proc/sys"},
            *_network_mounts(pool),
        ],
    }


def _agent(pool: Pool, options: Options) -> Object:
    health = {
        "httpGet": {"path": "/healthz", "port": options.port, "scheme": "HTTP"},
        "timeoutSeconds": 5,
        "periodSeconds": 10,
    }
    etc: Object = {"name": "etc", "mountPath": "/host/etc"}
    return {
        "name": NAME,
        **_common(options),
        "command": ["/vc-agent"],
        "args": list(arguments(pool, options)),
        "env": list(_environment(pool, options)),
        "securityContext": {
            "runAsUser": USER,
            "runAsNonRoot": True,
            "capabilities": {"drop": ["ALL"], "add": ["DAC_OVERRIDE", "SETUID", "SETGID", "SETFCAP", "BPF"]},
        },
        "volumeMounts": [
            {"name": "sys-fs", "mountPath": "/host/sys/fs", "mountPropagation": "HostToContainer"},
            {"name": "proc-sys", "mountPath": "/host/proc/sys"},
            {"name": "proc-stat", "mountPath": "/host/proc/stat", "readOnly": True},
            etc if pool.kind.network_paths else {**etc, "readOnly": True},
            {"name": "kubelet", "mountPath": pool.kind.kubelet_folder, "readOnly": True},
            {"name": "logs", "mountPath": LOGS},
            *_network_mounts(pool),
        ],
        "livenessProbe": {**health, "initialDelaySeconds": 60, "failureThreshold": 5},
        "readinessProbe": dict(health),
    }


def arguments(pool: Pool, options: Options) -> Iterator[str]:
    """The agent's flags: cmd/agent/app/options/options.go."""
    yield f"--v={options.verbosity}"
    yield f"--supported-features={','.join(each.value for each in pool.kind.features)}"
    if pool.kind.cgroup_root:
        yield f"--kube-cgroup-root={pool.kind.cgroup_root}"
    yield f"--healthz-port={options.port}"
    yield f"--oversubscription-ratio={options.ratio}"
    if options.include_system_usage:
        yield "--include-system-usage=true"


def _environment(pool: Pool, options: Options) -> Iterator[Object]:
    """CGROUP_DRIVER comes before all that the agent guesses from: pkg/agent/utils/cgroup/cgroup.go."""
    yield {"name": "CGROUP_DRIVER", "value": pool.kind.driver.value}
    yield {"name": "SYS_FS_PATH", "value": "/host/sys/fs"}
    yield {"name": "KUBELET_ROOT_DIR", "value": pool.kind.kubelet_folder}
    if Feature.NETWORK_QOS in pool.kind.features:
        yield {"name": "CNI_CONF_FILE_PATH", "value": f"/host{options.cni_config}"}
    for name, field in (
        ("KUBE_NODE_NAME", "spec.nodeName"),
        ("KUBE_POD_NAME", "metadata.name"),
        ("KUBE_POD_NAMESPACE", "metadata.namespace"),
    ):
        yield {"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": field}}}
