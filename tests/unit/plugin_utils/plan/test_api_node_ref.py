# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Node that the health gate reads, on nodes of each layout."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.interpreter import interpret
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.transaction_document import api_node_ref
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import DIFFERING, captured, facts_of, put
from ansible_collections.volcano.colocation.tests.support.hosts.described_hosts import described, snapshot_of

KUBELET_CONF = "/etc/kubernetes/kubelet.conf"
RANCHER = "/var/lib/rancher/{}/agent/kubelet.kubeconfig"


@pytest.mark.parametrize(
    ("name", "node", "kubeconfig"),
    [
        ("kubeadm", "host-7.example", KUBELET_CONF),
        ("kubespray", "node1", KUBELET_CONF),
        ("rke2-1.32-drop-ins", "node-1", RANCHER.format("rke2")),
        ("k3s-1.32-drop-ins", "host-7.example", RANCHER.format("k3s")),
        # Stopped: with the flags that its unit would start it with.
        ("kubelet-stopped-after-policy-change", "host-7.example", KUBELET_CONF),
    ],
)
def test_the_node_and_its_kubeconfig_are_found_in_each_layout(
    tmp_path: Path, name: str, node: str, kubeconfig: str
) -> None:
    snapshot = put(snapshot_of(described(name).host, tmp_path), " Host-7.Example", "system", "hostname")
    assert api_node_ref(interpret(snapshot)) == {"name": node, "kubeconfig": kubeconfig}


def test_a_node_without_a_cluster_has_no_reference() -> None:
    assert api_node_ref(facts_of(captured(DIFFERING))) is None


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (["--kubeconfig", "/etc//kubernetes/./kubelet.conf"], {"name": "dev2", "kubeconfig": KUBELET_CONF}),
        (["--kubeconfig=/a", "--kubeconfig=/b", "--hostname-override=One"], {"name": "one", "kubeconfig": "/b"}),
        (["--kubeconfig=kubelet.conf"], None),
        (["--kubeconfig="], None),
        (["--kubeconfig=/a", "--hostname-override=no_name"], None),
        (["--kubeconfig=/a", "--hostname-override=../pods"], None),
    ],
)
def test_flags_of_kubelet_decide_on_name_and_kubeconfig(flags: list[str], expected: dict[str, str] | None) -> None:
    # Its own command line says --hostname-override=dev2.
    snapshot = captured(DIFFERING)
    argv = snapshot["kubelet"]["processes"][0]["argv"]
    assert api_node_ref(facts_of(put(snapshot, [*argv, *flags], "kubelet", "processes", 0, "argv"))) == expected
