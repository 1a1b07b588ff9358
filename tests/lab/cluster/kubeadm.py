# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What kubeadm makes of a cluster: its certificates, its kubeconfigs and its ConfigMaps."""

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
"""kubeadm's default: what nodes read must name their directory, not that of this host."""

API_VERSION = "kubeadm.k8s.io/v1beta4"


def configuration(plane: ControlPlane, host: str, certificates: str) -> str:
    """Input of kubeadm for clients that reach the API server at ``host``; JSON, which every reader of YAML takes.

    ``certificates`` is the directory of certificates that kubeadm uses, or writes about.
    """
    gateways = [gateway(subnet) for subnet in SUBNETS]
    init = {
        "apiVersion": API_VERSION,
        "kind": "InitConfiguration",
        # kubeadm takes no loopback address here, and asks the network for one when it is given none.
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
    """Certificates, keys and kubeconfigs of the control plane; does nothing where an earlier call has made all."""
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
    """kubeadm keeps those that are there."""
    config = _write_configuration(plane, configuration(plane, HOST, str(plane.pki)))
    command.logged([*_kubeadm(plane), "init", "phase", "certs", "all", f"--config={config}"], log)


def kubeconfig(plane: ControlPlane, user: str, group: str, host: str = HOST) -> str:
    """A kubeconfig with a certificate of a user in a group, '' for none, for a client that reaches us at ``host``."""
    config = _write_configuration(plane, configuration(plane, host, str(plane.pki)))
    argv = [*_kubeadm(plane), "kubeconfig", "user", f"--config={config}"]
    argv += [f"--client-name={user}", *([f"--org={group}"] if group else [])]
    return command.output(argv)


def upload_configuration(plane: ControlPlane, log: Path) -> None:
    """ConfigMaps ``kubeadm-config`` and ``kubelet-config`` with the roles that let nodes read them."""
    config = _write_configuration(plane, configuration(plane, HOST, NODE_CERTIFICATES))
    argv = [*_kubeadm(plane), "init", "phase", "upload-config", "all", f"--kubeconfig={plane.kubeconfig}"]
    command.logged([*argv, f"--config={config}"], log)


def write_secret(path: Path, text: str) -> None:
    """A file that nobody else could ever read; it is complete or the old one."""
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
