# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The identity of a cluster, and the Node of a host."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.api_errors import ClusterError
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.identity import (
    HostIdentity,
    cluster_uid,
    find_node_name,
    is_observed,
    parse_identity,
    require_cluster,
)
from ansible_collections.volcano.colocation.tests.support.clusters.drain_api_server import node_object, observed
from ansible_collections.volcano.colocation.tests.support.clusters.memory_api_server import Server


def server() -> Server:
    api_server = Server()
    api_server.add({"apiVersion": "v1", "kind": "Node", **node_object()})
    return api_server


def identity(name: str = "n1", **different: Any) -> HostIdentity:
    return parse_identity(name, observed(**different)["kubeadm"])


def test_a_host_is_looked_up_by_its_names_first() -> None:
    api_server = server()
    api_server.refuses["list nodes"] = 403
    assert find_node_name(api_server.client(), identity()) == "n1"


def test_a_host_is_found_by_its_boot_id_whatever_it_is_called() -> None:
    assert find_node_name(server().client(), identity("host", names=["other"])) == "n1"


def test_a_host_of_another_cluster_is_refused() -> None:
    with pytest.raises(ClusterError, match="This cluster is not that of the play's hosts"):
        find_node_name(server().client(), identity(boot_id="other"))


def test_a_host_that_was_not_observed_has_no_identity() -> None:
    assert is_observed(observed())
    assert not is_observed(None)
    assert not is_observed({"unreachable": True})


def test_a_cluster_is_known_by_its_namespace_kube_system() -> None:
    api_server = server()
    with pytest.raises(ClusterError, match=r"/k\.conf has no namespace kube-system"):
        cluster_uid(api_server.client())
    api_server.add({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system", "uid": "u"}})
    assert cluster_uid(api_server.client()) == "u"


@pytest.mark.parametrize(
    ("uid", "changing", "message"),
    [
        ("other", False, "leads to the cluster u, and colocation_cluster_uid is other"),
        ("", True, "set colocation_cluster_uid: u"),
    ],
)
def test_another_cluster_is_not_changed(uid: str, changing: bool, message: str) -> None:
    with pytest.raises(ClusterError, match=message):
        require_cluster("u", uid, changing=changing)
    require_cluster("u", "u", changing=True)
    require_cluster("u", "", changing=False)
