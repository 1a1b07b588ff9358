# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node ends aligned, or exactly as it began, and no secret comes out on the way. In this order: it ends aligned."""

from __future__ import annotations

import re

from ansible_collections.volcano.colocation.tests.system.node import Node

SECRET = "hunter2-Zm9vYmFy"
PLANTED = f"""
[plugins."io.containerd.grpc.v1.cri".registry.configs."registry.invalid".auth]
  username = "robot"
  password = "{SECRET}"
"""
FAULT = "/etc/systemd/system/kubelet.service.d/fault.conf"
REFUSE_STATIC = """[Service]
ExecStartPre=/bin/sh -c "! grep -q 'cpuManagerPolicy: static' /var/lib/kubelet/config.yaml"
"""


def test_a_kubelet_that_does_not_start_leaves_the_old_node_with_the_old_pods(node: Node) -> None:
    node.shell("mkdir -p /etc/systemd/system/kubelet.service.d")
    node.write(FAULT, REFUSE_STATIC)
    node.shell("systemctl daemon-reload")
    before, pods = node.tree(), node.shell("ctr -n k8s.io containers ls -q | wc -l")
    checkpoint = node.shell("cat /var/lib/kubelet/cpu_manager_state")
    run = node.ansible("provision", colocation_health_timeout=120)
    assert run.code != 0
    assert "The node was put back as it was" in run.output
    assert "kubelet" in run.output
    assert node.tree() == before
    assert node.shell("cat /var/lib/kubelet/cpu_manager_state") == checkpoint
    assert node.shell("systemctl is-active kubelet containerd").split() == ["active", "active"]
    assert node.shell("ctr -n k8s.io containers ls -q | wc -l") == pods
    node.shell(f"rm {FAULT}; systemctl daemon-reload")


def test_provision_with_a_planted_secret_keeps_it_and_shows_it_nowhere(node: Node) -> None:
    node.shell("cp -p /etc/containerd/config.toml /root/without-secret")
    node.write("/etc/containerd/config.toml", node.shell("cat /etc/containerd/config.toml") + PLANTED)
    node.shell("systemctl restart containerd")
    run = node.ansible("provision", "--diff", "-vvvv")
    assert run.code == 0, run.output[-4000:]
    assert run.recap(node.name)["changed"] == 1
    assert SECRET in node.shell("cat /etc/containerd/config.toml")
    journal = node.shell("journalctl --no-pager -o cat")
    for shown in (run.output, journal):
        assert SECRET not in shown
    # the plan itself would show kubelet's whole new file
    assert "staticPodPath: /etc/kubernetes/manifests" not in journal


def test_afterwards_the_node_is_aligned_by_the_kernels_word(node: Node) -> None:
    paths = node.containers()
    assert len(paths) >= 6
    assert [
        path for path in paths if not re.match(r"/kubepods\.slice/.*cri-containerd-[0-9a-f]{64}\.scope$", path)
    ] == []
    assert "static" in node.shell("cat /var/lib/kubelet/cpu_manager_state")
    assert "nri.sock" in node.shell("cat /proc/net/unix")


def test_a_second_provision_changes_nothing(node: Node) -> None:
    before, services = node.tree(), node.services()
    run = node.ansible("provision")
    assert run.code == 0
    assert run.recap(node.name)["changed"] == 0
    assert (node.tree(), node.services()) == (before, services)


def test_verify_fails_on_drift_and_names_it(node: Node) -> None:
    assert node.ansible("verify").code == 0
    run = node.ansible("verify", colocation_topology_manager_policy="restricted")
    assert run.code != 0
    assert "topologyManagerPolicy" in run.output
