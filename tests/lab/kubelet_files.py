# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's unit, flags and configuration on a node, as kubeadm, kubespray or a standalone installation writes them.

``fixed_files`` are the same on every node; ``own_files`` contain its name and address and are written at first boot.
"""

from __future__ import annotations

from collections.abc import Callable

from .kubelet_config import kubelet_config
from .spec import Layout, NodeSpec

Version = tuple[int, int]

ENDPOINT = "unix:///run/containerd/containerd.sock"
PROGRAM = "/usr/bin/kubelet"
KUBESPRAY_PROGRAM = "/usr/local/bin/kubelet"
"""kubespray's bin_dir (inventory/sample/group_vars/all/all.yml)."""

_STANDALONE_UNIT = f"""\
[Unit]
Description=kubelet: The Kubernetes Node Agent
Documentation=https://kubernetes.io/docs/
Wants=containerd.service
After=containerd.service
StartLimitIntervalSec=0

[Service]
EnvironmentFile=-/etc/default/kubelet
ExecStart={PROGRAM} --config=/var/lib/kubelet/config.yaml {{runtime}} $KUBELET_EXTRA_ARGS
Restart=always
RestartSec=5

[Install]
WantedBy=multi-user.target
"""

# kubernetes/release, cmd/krel/templates/latest/kubelet/kubelet.service
_KUBEADM_UNIT = f"""\
[Unit]
Description=kubelet: The Kubernetes Node Agent
Documentation=https://kubernetes.io/docs/
Wants=network-online.target
After=network-online.target

[Service]
ExecStart={PROGRAM}
Restart=always
StartLimitInterval=0
RestartSec=10

[Install]
WantedBy=multi-user.target
"""

# kubernetes/release, cmd/krel/templates/latest/kubeadm/10-kubeadm.conf, in the directory of the packages before 1.28
_KUBEADM_DROPIN = f"""\
# Note: This dropin only works with kubeadm and kubelet v1.11+
[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf \
--kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
# "kubeadm init" and "kubeadm join" write this file, with the variable KUBELET_KUBEADM_ARGS.
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
# The last resort of a user who overrides flags, with the variable KUBELET_EXTRA_ARGS.
EnvironmentFile=-/etc/default/kubelet
ExecStart=
ExecStart={PROGRAM} $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
"""

_DROPINS = "/etc/systemd/system/kubelet.service.d"

LONE_DROPIN = f"{_DROPINS}/20-lab.conf"
"""Exists while the node has no API server."""

_WITHOUT_API_SERVER = """\
# The lab has no API server: without a kubeconfig kubelet runs the manifests in staticPodPath alone.
[Service]
Environment="KUBELET_KUBECONFIG_ARGS="
"""

# kubespray, roles/kubernetes/node/templates/kubelet.service.j2
_KUBESPRAY_UNIT = f"""\
[Unit]
Description=Kubernetes Kubelet Server
Documentation=https://github.com/GoogleCloudPlatform/kubernetes
After=containerd.service
Wants=containerd.service

[Service]
EnvironmentFile=-/etc/kubernetes/kubelet.env
ExecStart={KUBESPRAY_PROGRAM} \\
\t\t$KUBE_LOGTOSTDERR \\
\t\t$KUBE_LOG_LEVEL \\
\t\t$KUBELET_API_SERVER \\
\t\t$KUBELET_ADDRESS \\
\t\t$KUBELET_PORT \\
\t\t$KUBELET_HOSTNAME \\
\t\t$KUBELET_ARGS \\
\t\t$DOCKER_SOCKET \\
\t\t$KUBELET_NETWORK_PLUGIN \\
\t\t$KUBELET_VOLUME_PLUGIN \\
\t\t$KUBELET_CLOUDPROVIDER
Restart=always
RestartSec=10s

[Install]
WantedBy=multi-user.target
"""

# kubespray, roles/kubernetes/node/templates/kubelet.env.v1beta1.j2, without its two kubeconfigs, since there is no
# API server, and without KUBELET_ADDRESS and KUBELET_HOSTNAME: kubelet finds both in /etc/hosts and /etc/hostname.
_KUBESPRAY_ENVIRONMENT = """\
KUBE_LOG_LEVEL="--v=2"

KUBELET_ARGS="--config=/etc/kubernetes/kubelet-config.yaml \\
{runtime} \\
--runtime-cgroups=/system.slice/containerd.service \\
 {flags} "
KUBELET_CLOUDPROVIDER=""

PATH=/usr/local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
"""

HOUSEKEEPING = "--housekeeping-interval=30s"
"""By default cAdvisor reads every cgroup each 10 s, a third of an emulated kubelet's time."""


def runtime_flags(version: Version) -> str:
    """``--container-runtime`` was removed in 1.27 and is needed before 1.24 (its default was docker)."""
    endpoint = f"--container-runtime-endpoint={ENDPOINT}"
    return f"--container-runtime=remote {endpoint}" if version < (1, 24) else endpoint


def fixed_files(spec: NodeSpec, version: Version) -> dict[str, str]:
    """Absolute path to text of the files on every node of this specification, also in an image."""
    return {CONFIG[spec.layout]: kubelet_config(spec, version), **_FIXED[spec.layout](spec, version)}


def own_files(spec: NodeSpec, version: Version, address: str) -> dict[str, str]:
    """Absolute path to text of the files with this node's name or address."""
    return _OWN[spec.layout](spec, version, address)


def links(layout: Layout) -> dict[str, str]:
    """Absolute path to target of the links: that of ``systemctl enable``, and kubespray's path of kubelet."""
    targets = {"/etc/systemd/system/multi-user.target.wants/kubelet.service": UNIT[layout]}
    if layout is Layout.KUBESPRAY:
        targets[KUBESPRAY_PROGRAM] = PROGRAM
    return targets


UNIT = {
    Layout.STANDALONE: "/usr/lib/systemd/system/kubelet.service",
    Layout.KUBEADM: "/usr/lib/systemd/system/kubelet.service",
    Layout.KUBESPRAY: "/etc/systemd/system/kubelet.service",
}
CONFIG = {
    Layout.STANDALONE: "/var/lib/kubelet/config.yaml",
    Layout.KUBEADM: "/var/lib/kubelet/config.yaml",
    Layout.KUBESPRAY: "/etc/kubernetes/kubelet-config.yaml",
}


def _standalone(_spec: NodeSpec, version: Version) -> dict[str, str]:
    return {UNIT[Layout.STANDALONE]: _STANDALONE_UNIT.format(runtime=runtime_flags(version))}


def _standalone_own(spec: NodeSpec, _version: Version, address: str) -> dict[str, str]:
    return {"/etc/default/kubelet": _assignment("KUBELET_EXTRA_ARGS", *_identity(spec, address), *spec.kubelet_flags)}


def _kubeadm(spec: NodeSpec, _version: Version) -> dict[str, str]:
    return {
        UNIT[Layout.KUBEADM]: _KUBEADM_UNIT,
        f"{_DROPINS}/10-kubeadm.conf": _KUBEADM_DROPIN,
        LONE_DROPIN: _WITHOUT_API_SERVER,
        "/etc/default/kubelet": _assignment("KUBELET_EXTRA_ARGS", *spec.kubelet_flags),
    }


def _kubeadm_own(spec: NodeSpec, version: Version, address: str) -> dict[str, str]:
    """kubeadm writes --hostname-override and the runtime here, in quotes (cmd/kubeadm/app/phases/kubelet/flags.go)."""
    flags = " ".join([runtime_flags(version), *_identity(spec, address)])
    return {"/var/lib/kubelet/kubeadm-flags.env": f'KUBELET_KUBEADM_ARGS="{flags}"\n'}


def _kubespray(spec: NodeSpec, version: Version) -> dict[str, str]:
    # kubespray's variables kubelet_custom_flags and kubelet_node_custom_flags end up here, too.
    flags = " ".join([HOUSEKEEPING, *spec.kubelet_flags])
    environment = _KUBESPRAY_ENVIRONMENT.format(runtime=runtime_flags(version), flags=flags)
    return {UNIT[Layout.KUBESPRAY]: _KUBESPRAY_UNIT, "/etc/kubernetes/kubelet.env": environment}


def _kubespray_own(_spec: NodeSpec, _version: Version, _address: str) -> dict[str, str]:
    return {}


def _identity(spec: NodeSpec, address: str) -> list[str]:
    return [f"--hostname-override={spec.name}", f"--node-ip={address}", HOUSEKEEPING]


def _assignment(name: str, *flags: str) -> str:
    return f"{name}={' '.join(flags)}\n"


_FIXED: dict[Layout, Callable[[NodeSpec, Version], dict[str, str]]] = {
    Layout.STANDALONE: _standalone,
    Layout.KUBEADM: _kubeadm,
    Layout.KUBESPRAY: _kubespray,
}
_OWN: dict[Layout, Callable[[NodeSpec, Version, str], dict[str, str]]] = {
    Layout.STANDALONE: _standalone_own,
    Layout.KUBEADM: _kubeadm_own,
    Layout.KUBESPRAY: _kubespray_own,
}
