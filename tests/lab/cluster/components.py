# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Command lines of a control plane's processes: those of kubeadm's static pods, on 127.0.0.1 and with separate ports.

cmd/kubeadm/app/phases/controlplane/manifests.go and cmd/kubeadm/app/phases/etcd/local.go of Kubernetes 1.35.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path

from .store import ControlPlane

HOST = "127.0.0.1"

SERVICES = "10.96.0.0/12"
API_SERVICE = f"{ip_network(SERVICES)[1]}:443"
"""Service ``kubernetes``: the API server gives it the first address of its service range."""

GRACE = "2m0s"
"""An emulated kubelet on a busy host may report less often than the default of 40 s requires."""


MUTATING_POLICIES = {
    "feature-gates": "MutatingAdmissionPolicy=true",
    "runtime-config": "admissionregistration.k8s.io/v1beta1=true",
}
"""The collection writes these policies, a beta feature of 1.35 (k8s.io/apiserver pkg/features/kube_features.go)."""


@dataclass(frozen=True)
class Component:
    """A process, and the port that it listens at when it is up."""

    name: str
    argv: tuple[str, ...]
    port: int


def etcd(plane: ControlPlane) -> Component:
    """The store of the API server."""
    pki = plane.pki / "etcd"
    client, peer = f"https://{HOST}:{plane.ports.etcd}", f"https://{HOST}:{plane.ports.etcd_peer}"
    options = {
        "name": "lab",
        "data-dir": plane.directory / "etcd",
        "listen-client-urls": client,
        "advertise-client-urls": client,
        "listen-peer-urls": peer,
        "initial-advertise-peer-urls": peer,
        "initial-cluster": f"lab={peer}",
        "cert-file": pki / "server.crt",
        "key-file": pki / "server.key",
        "trusted-ca-file": pki / "ca.crt",
        "client-cert-auth": "true",
        "peer-cert-file": pki / "peer.crt",
        "peer-key-file": pki / "peer.key",
        "peer-trusted-ca-file": pki / "ca.crt",
        "peer-client-cert-auth": "true",
        "feature-gates": "InitialCorruptCheck=true",
        "watch-progress-notify-interval": "5s",
        "unsafe-no-fsync": "true",  # its data are deleted when it ends
    }
    return _component(plane.programs["etcd"], options, plane.ports.etcd)


def api_server(plane: ControlPlane) -> Component:
    """The API server. It publishes no endpoint: nodes reach it at their gateway, which differs for each node."""
    pki = plane.pki
    options = {
        "bind-address": HOST,
        "secure-port": plane.ports.api,
        "advertise-address": HOST,
        "endpoint-reconciler-type": "none",
        "allow-privileged": "true",
        "authorization-mode": "Node,RBAC",
        "enable-admission-plugins": "NodeRestriction",
        "enable-bootstrap-token-auth": "true",
        "client-ca-file": pki / "ca.crt",
        "tls-cert-file": pki / "apiserver.crt",
        "tls-private-key-file": pki / "apiserver.key",
        "kubelet-client-certificate": pki / "apiserver-kubelet-client.crt",
        "kubelet-client-key": pki / "apiserver-kubelet-client.key",
        "kubelet-preferred-address-types": "InternalIP,ExternalIP,Hostname",
        "etcd-servers": f"https://{HOST}:{plane.ports.etcd}",
        "etcd-cafile": pki / "etcd/ca.crt",
        "etcd-certfile": pki / "apiserver-etcd-client.crt",
        "etcd-keyfile": pki / "apiserver-etcd-client.key",
        "proxy-client-cert-file": pki / "front-proxy-client.crt",
        "proxy-client-key-file": pki / "front-proxy-client.key",
        "requestheader-allowed-names": "front-proxy-client",
        "requestheader-client-ca-file": pki / "front-proxy-ca.crt",
        "requestheader-extra-headers-prefix": "X-Remote-Extra-",
        "requestheader-group-headers": "X-Remote-Group",
        "requestheader-username-headers": "X-Remote-User",
        "service-account-issuer": "https://kubernetes.default.svc.cluster.local",
        "service-account-key-file": pki / "sa.pub",
        "service-account-signing-key-file": pki / "sa.key",
        "service-cluster-ip-range": SERVICES,
        **MUTATING_POLICIES,
    }
    return _component(plane.programs["kube-apiserver"], options, plane.ports.api)


def controller_manager(plane: ControlPlane) -> Component:
    """The controllers, with the signers of certificates."""
    name, pki = "kube-controller-manager", plane.pki
    options = {
        **_secure_options(plane, name, plane.ports.controller_manager),
        "client-ca-file": pki / "ca.crt",
        "requestheader-client-ca-file": pki / "front-proxy-ca.crt",
        "root-ca-file": pki / "ca.crt",
        "service-account-private-key-file": pki / "sa.key",
        "cluster-signing-cert-file": pki / "ca.crt",
        "cluster-signing-key-file": pki / "ca.key",
        "use-service-account-credentials": "true",
        "controllers": "*,bootstrapsigner,tokencleaner",
        "node-monitor-grace-period": GRACE,
    }
    return _component(plane.programs[name], options, plane.ports.controller_manager)


def scheduler(plane: ControlPlane) -> Component:
    """The default scheduler."""
    name = "kube-scheduler"
    options = _secure_options(plane, name, plane.ports.scheduler)
    return _component(plane.programs[name], options, plane.ports.scheduler)


def _secure_options(plane: ControlPlane, name: str, port: int) -> dict[str, object]:
    kubeconfig = plane.user_kubeconfig(name)
    return {
        "bind-address": HOST,
        "secure-port": port,
        "leader-elect": "false",
        "kubeconfig": kubeconfig,
        "authentication-kubeconfig": kubeconfig,
        "authorization-kubeconfig": kubeconfig,
    }


def _component(program: Path, options: Mapping[str, object], port: int) -> Component:
    argv = (str(program), *(f"--{name}={value}" for name, value in options.items()))
    return Component(program.name, argv, port)
