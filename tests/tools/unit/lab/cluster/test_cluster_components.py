# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.tests.lab.cluster import components
from ansible_collections.volcano.colocation.tests.lab.cluster.components import Component
from ansible_collections.volcano.colocation.tests.tools.unit.lab.cluster.paper_plane import PLANE

ETCD, SERVER = components.etcd(PLANE), components.api_server(PLANE)
MANAGER, SCHEDULER = components.controller_manager(PLANE), components.scheduler(PLANE)


def option(component: Component, name: str) -> str:
    (value,) = [word.split("=", 1)[1] for word in component.argv if word.startswith(f"--{name}=")]
    return value


def test_each_program_has_a_separate_port() -> None:
    assert [component.name for component in (ETCD, SERVER, MANAGER, SCHEDULER)] == [
        "etcd",
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
    ]
    assert [component.port for component in (ETCD, SERVER, MANAGER, SCHEDULER)] == [1002, 1001, 1004, 1005]


def test_programs_listen_on_the_loopback_only() -> None:
    assert option(ETCD, "listen-client-urls") == "https://127.0.0.1:1002"
    assert option(ETCD, "listen-peer-urls") == "https://127.0.0.1:1003"
    assert [option(component, "bind-address") for component in (SERVER, MANAGER, SCHEDULER)] == ["127.0.0.1"] * 3


def test_every_port_of_kubernetes_needs_tls() -> None:
    for component, port in ((SERVER, "1001"), (MANAGER, "1004"), (SCHEDULER, "1005")):
        assert option(component, "secure-port") == port
        assert [word for word in component.argv if "port=" in word] == [f"--secure-port={port}"]


def test_the_api_server_enables_mutating_admission_policies() -> None:
    assert option(SERVER, "feature-gates") == "MutatingAdmissionPolicy=true"
    assert option(SERVER, "runtime-config") == "admissionregistration.k8s.io/v1beta1=true"


@pytest.mark.parametrize("side", ["client-cert-auth", "peer-client-cert-auth"])
def test_the_store_asks_for_a_certificate_since_guests_reach_every_port_of_the_loopback(side: str) -> None:
    assert option(ETCD, side) == "true"


def test_the_api_server_authorizes_nodes_separately() -> None:
    assert option(SERVER, "authorization-mode") == "Node,RBAC"
    assert option(SERVER, "enable-admission-plugins") == "NodeRestriction"
    assert option(SERVER, "etcd-servers") == "https://127.0.0.1:1002"
    assert option(SERVER, "client-ca-file") == "/state/control_plane/pki/ca.crt"


def test_each_client_of_the_api_server_is_a_separate_user() -> None:
    for component in (MANAGER, SCHEDULER):
        assert option(component, "kubeconfig") == f"/state/control_plane/{component.name}.kubeconfig"
