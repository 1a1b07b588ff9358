# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A transaction aligns the node or restores its previous state, and shows no secrets. In this order."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.system import job
from ansible_collections.volcano.colocation.tests.system.containerd_config import serves_nri
from ansible_collections.volcano.colocation.tests.system.node import Node

RESERVED: dict[str, Any] = {
    "colocation_qos": {"levels": []},
    "colocation_kube_reserved": {"cpu": "100m", "memory": "128Mi"},
    "colocation_kube_reserved_cgroup": "/colocation-runtime.slice",
    "colocation_enforce_node_allocatable": ["pods", "kube-reserved"],
}
RESERVED_DIRECTORY = "/sys/fs/cgroup/colocation.slice/colocation-runtime.slice"
RESERVED_UNIT = "/etc/systemd/system/colocation-runtime.slice"
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


@pytest.fixture(name="fault")
def _fault(node: Node) -> Iterator[None]:
    node.shell("mkdir -p /etc/systemd/system/kubelet.service.d")
    node.write(FAULT, REFUSE_STATIC)
    node.shell("systemctl daemon-reload")
    yield
    node.shell(f"rm {FAULT}; systemctl daemon-reload")


@pytest.mark.usefixtures("fault")
def test_a_kubelet_that_does_not_start_leaves_the_old_node_with_the_old_pods(node: Node) -> None:
    before, pods = node.tree(), node.pods()
    checkpoint = node.shell("cat /var/lib/kubelet/cpu_manager_state")
    run = node.ansible("provision", colocation_health_timeout=120)
    assert run.code != 0
    assert "The node was rolled back to its previous state" in run.output
    assert "kubelet" in run.output
    assert node.tree() == before
    assert node.shell("cat /var/lib/kubelet/cpu_manager_state") == checkpoint
    assert node.shell("systemctl is-active kubelet containerd").split() == ["active", "active"]
    assert node.pods() == pods


@pytest.fixture(scope="module", name="ending_job")
def _ending_job(node: Node) -> Iterator[None]:
    job.start(node)
    yield
    job.remove(node)


@pytest.mark.usefixtures("ending_job")
def test_provision_with_a_planted_secret_keeps_it_and_shows_it_nowhere(node: Node) -> None:
    node.shell("cp -p /etc/containerd/config.toml /root/without-secret")
    node.write("/etc/containerd/config.toml", node.shell("cat /etc/containerd/config.toml") + PLANTED)
    node.shell("systemctl restart containerd")
    run = node.ansible("provision", "--diff", "-vvvv")
    assert run.code == 0, run.output[-4000:]
    assert run.recap(node.name)["changed"] == 1
    assert SECRET in node.shell("cat /etc/containerd/config.toml")
    journal = node.shell("journalctl --no-pager -o cat")
    for output in (run.output, journal):
        assert SECRET not in output
    # the plan itself would show kubelet's whole new file
    assert "staticPodPath: /etc/kubernetes/manifests" not in journal


@pytest.mark.usefixtures("ending_job")
def test_a_pod_of_a_job_that_has_ended_by_then_is_not_missed(node: Node) -> None:
    journal = json.loads(node.shell("cat $(ls -d /var/lib/volcano-colocation/transactions/*/journal.json | tail -1)"))
    assert journal["state"] == "committed"
    assert f"default/{job.NAME}-{node.name}" in journal["before"]["pods"]
    assert journal["before"]["ended"] == [f"default/{job.NAME}-{node.name}"]


def test_afterwards_the_node_is_aligned_by_the_kernels_word(node: Node) -> None:
    paths = node.containers()
    assert len(paths) >= 6
    assert [
        path for path in paths if not re.match(r"/kubepods\.slice/.*cri-containerd-[0-9a-f]{64}\.scope$", path)
    ] == []
    assert "static" in node.shell("cat /var/lib/kubelet/cpu_manager_state")
    assert serves_nri(node)


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


def test_reserved_slices_are_made_before_kubelet_enforces_them(node: Node) -> None:
    """kubelet does not start where one is missing, and writes their limits once at its start (kubernetes#104289)."""
    refused = node.ansible(
        "provision", **{**RESERVED, "colocation_enforce_node_allocatable": ["pods", "kube-reserved", "system-reserved"]}
    )
    assert refused.code != 0
    assert "systemReservedCgroup" in refused.output
    predicted = node.ansible("provision", "--check", "--diff", **RESERVED)
    assert predicted.code == 0, predicted.output[-4000:]
    assert "colocation-runtime.slice" in predicted.output
    assert "+kubeReservedCgroup: /colocation-runtime.slice" in predicted.output
    assert node.shell(f"ls -d {RESERVED_DIRECTORY} {RESERVED_UNIT} 2>/dev/null || true") == ""
    run = node.ansible("provision", **RESERVED)
    assert run.code == 0, run.output[-4000:]
    # cpu.weight of 100m by kubelet's formula, 1 + (102 - 2) * 9999 / 262142
    limits = f"cat {RESERVED_DIRECTORY}/cpu.weight {RESERVED_DIRECTORY}/memory.max"
    assert node.shell(limits).split() == ["4", str(128 << 20)]
    node.shell("systemctl daemon-reload")
    node.shell("systemctl set-property --runtime colocation-runtime.slice TasksMax=9000; sleep 1")
    assert node.shell(limits).split() == ["4", str(128 << 20)]
    again = node.ansible("provision", **RESERVED)
    assert again.code == 0, again.output[-4000:]
    assert again.recap(node.name)["changed"] == 0
    assert node.ansible("verify", **RESERVED).code == 0
