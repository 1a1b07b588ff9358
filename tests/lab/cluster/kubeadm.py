# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Making a cluster's certificates, kubeconfigs and ConfigMaps with kubeadm."""

from __future__ import annotations

import json
import os
from pathlib import Path

from .. import command
from ..store import SUBNETS, gateway
from .components import HOST, SERVICES
from .store import ControlPlane

NODE = "lab-control-plane"
"""Name in the certificates of etcd, whose host has no Node."""

KUBELET_CONFIG_MAP = "kubelet-config"
"""cmd/kubeadm/app/constants/constants.go, KubeletBaseConfigurationConfigMap."""

ADMINISTRATOR = ("kubernetes-admin", "system:masters")

NODE_CERTIFICATES = "/etc/kubernetes/pki"
"""kubeadm's default: configuration for nodes must name their directory, not that of this host."""

API_VERSION = "kubeadm.k8s.io/v1beta4"


def configuration(plane: ControlPlane, host: str, certificates: str) -> str:
    """Input of kubeadm, as JSON (valid YAML), for clients that reach the API server at ``host``.

    ``certificates`` is the certificate directory that kubeadm uses or records.
    """
    gateways = [gateway(subnet) for subnet in SUBNETS]
    init = {
        "apiVersion": API_VERSION,
        "kind": "InitConfiguration",
        # kubeadm accepts no loopback address here, and detects an address of this host when it gets none.
        "localAPIEndpoint": {"advertiseAddress": gateways[0], "bindPort": plane.ports.api},
        "nodeRegistration": {"name": NODE, "criSocket": "unix:///run/containerd/containerd.sock"},
    }
    cluster = {
        "apiVersion": API_VERSION,
        "kind": "ClusterConfiguration",
        "clusterName": "colocation-lab",
        "kubernetesVersion": f"v{plane.release}",
        "certificatesDir": certificates,
        "controlPlaneEndpoint": f"{host}:{plane.ports.api}",
        "apiServer": {"certSANs": ["127.0.0.1", "localhost", *gateways]},
        "networking": {"serviceSubnet": SERVICES},
    }
    return "".join(f"---\n{json.dumps(document, indent=1)}\n" for document in (init, cluster))


def make_credentials(plane: ControlPlane, log: Path) -> None:
    """Make certificates, keys and kubeconfigs of the control plane; does nothing when all of them exist."""
    users = {
        plane.user_kubeconfig("kube-controller-manager"): ("system:kube-controller-manager", ""),
        plane.user_kubeconfig("kube-scheduler"): ("system:kube-scheduler", ""),
        plane.kubeconfig: ADMINISTRATOR,
    }
    if not all(path.exists() for path in users):
        _make_certificates(plane, log)
        for path, (user, group) in users.items():
            write_secret(path, kubeconfig(plane, user, group))


def _make_certificates(plane: ControlPlane, log: Path) -> None:
    """Make the missing certificates; kubeadm keeps existing ones."""
    config = _write_configuration(plane, configuration(plane, HOST, str(plane.pki)))
    command.logged([*_kubeadm(plane), "init", "phase", "certs", "all", f"--config={config}"], log)


def kubeconfig(plane: ControlPlane, user: str, group: str, host: str = HOST) -> str:
    """A kubeconfig with a user's client certificate (``group`` may be ''); the API server's address is ``host``."""
    config = _write_configuration(plane, configuration(plane, host, str(plane.pki)))
    argv = [*_kubeadm(plane), "kubeconfig", "user", f"--config={config}"]
    argv += [f"--client-name={user}", *([f"--org={group}"] if group else [])]
    return command.output(argv)


def upload_configuration(plane: ControlPlane, log: Path) -> None:
    """Upload the ConfigMaps ``kubeadm-config`` and ``kubelet-config`` and the roles that let nodes read them."""
    config = _write_configuration(plane, configuration(plane, HOST, NODE_CERTIFICATES))
    argv = [*_kubeadm(plane), "init", "phase", "upload-config", "all", f"--kubeconfig={plane.kubeconfig}"]
    command.logged([*argv, f"--config={config}"], log)


def write_secret(path: Path, text: str) -> None:
    """Replace a file atomically; other users can read it at no time."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as stream:
        stream.write(text)
    partial.rename(path)


def _kubeadm(plane: ControlPlane) -> list[str]:
    return [str(plane.programs["kubeadm"])]


def _write_configuration(plane: ControlPlane, text: str) -> Path:
    path = plane.directory / "kubeadm.yaml"
    path.write_text(text)
    return path
