# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node with rare settings: a separate cgroup root and directory of kubelet, conflicting drop-ins, crun.

The memory manager changes to Static. In this order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.system.everything import state
from ansible_collections.volcano.colocation.tests.system.node import Node, throwaway

NAME = "settings"
SPEC = (
    *("--suite", "trixie", "--cgroup", "v2", "--driver-kubelet", "systemd", "--driver-runtime", "systemd"),
    *("--cpu-manager", "static", "--wait", "ssh"),
    *("--kubelet-flag=--config-dir=/etc/kubernetes/kubelet.d", "--kubelet-flag=--root-dir=/data/kubelet"),
)
PREPARE = Path(__file__).with_name("settings.sh")
DIRECTORY = "/data/kubelet"
DROPINS = "/etc/kubernetes/kubelet.d"
NRI = {
    "colocation_nri_socket_path": "/run/nri/nri.sock",
    "colocation_nri_plugin_path": "/opt/site/plugins",
    "colocation_nri_plugin_config_path": "/etc/site/nri.d",
    "colocation_nri_plugin_registration_timeout": "7s",
    "colocation_nri_plugin_request_timeout": "3s",
}
PROFILE: dict[str, Any] = {
    **NRI,
    "colocation_cgroup_driver": "cgroupfs",
    "colocation_cpu_manager_policy": "none",
    "colocation_memory_manager_policy": "Static",
    "colocation_reserved_memory": "auto",
    "colocation_read_only_port": 0,
}
KEPT_BACK = 64 << 20
"""Bytes of memory: what evictionHard of the lab's nodes has, and nothing else reserves any."""
DRIVERS = {
    "cgroupfs": re.compile(r"/colocated/kubepods/(?:(?:burstable|besteffort)/)?pod[\w-]+/[0-9a-f]{64}"),
    "systemd": re.compile(
        r"/colocated\.slice/colocated-kubepods\.slice/(?:colocated-kubepods-\w+\.slice/)?"
        r"colocated-kubepods-(?:\w+-)?pod\w+\.slice/cri-containerd-[0-9a-f]{64}\.scope/container"
    ),
}
"""crun puts processes one level below the scope, crun.1 run.oci.systemd.subgroup."""
WRONG = [{"numaNode": 0, "limits": {"memory": "100Mi"}}]
BY_HAND = """apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
memoryManagerPolicy: Static
reservedMemory: [{numaNode: 0, limits: {memory: 100Mi}}]
"""


@pytest.fixture(scope="module", name="odd")
def _odd(request: pytest.FixtureRequest) -> Iterator[Node]:
    for node in throwaway(request, NAME, *SPEC):
        node.shell(PREPARE.read_text())
        yield node


@pytest.fixture(scope="module", name="before")
def _before(odd: Node) -> dict[str, str]:
    now = state(odd)
    return {what: now[what] for what in ("files", "attributes", "pods")}


def driver(node: Node) -> str:
    """Return the driver of all containers, from their cgroups."""
    paths = node.containers()
    (name_of_driver,) = (name for name, shape in DRIVERS.items() if paths and all(map(shape.fullmatch, paths)))
    return name_of_driver


def checkpoint(node: Node, manager: str) -> dict[str, Any]:
    """Return the checkpoint of kubelet's ``cpu`` or ``memory`` manager."""
    document: dict[str, Any] = json.loads(node.shell(f"cat {DIRECTORY}/{manager}_manager_state"))
    return document


def policies(node: Node) -> tuple[str, str]:
    """Return the policies of the CPU manager and the memory manager."""
    return checkpoint(node, "cpu")["policyName"], checkpoint(node, "memory")["policyName"]


def pinned(node: Node, file: str) -> list[str]:
    """Return the values of this file in the containers' cgroups, without empty ones."""
    paths = " ".join(f"/sys/fs/cgroup{path}/{file}" for path in node.containers())
    return node.shell(f"cat {paths}").split()


def run_by_crun(node: Node) -> bool:
    """crun's record of a container is a file `status`, runc's is `state.json`."""
    files = set(node.shell("ls /run/containerd/runc/k8s.io/*").split())
    return "status" in files and "state.json" not in files


def handlers(node: Node) -> dict[str, str]:
    """Return SystemdCgroup of each handler, from `containerd config dump`."""
    text = node.shell("containerd config dump")
    return dict(re.findall(r"runtimes\.(\w+)\.options\][^\[]*?SystemdCgroup = (\w+)", text))


def read_only_port(node: Node) -> str:
    """Return the response of the port; a traceback if nothing listens."""
    asks = (
        'from urllib.request import urlopen; print(urlopen("http://127.0.0.1:10255/pods", timeout=20).read().decode())'
    )
    return node.shell(f"python3 -c '{asks}' 2>&1 || true")


def assessed(node: Node, directory: Path) -> dict[str, Any]:
    run = node.ansible("assess", colocation_report_directory=str(directory))
    assert run.code == 0, run.output
    facts: dict[str, Any] = json.loads((directory / f"{NAME}.json").read_text())
    return facts


def test_effective_values_are_named(odd: Node, before: dict[str, str], tmp_path: Path) -> None:
    assert driver(odd) == "systemd"
    assert run_by_crun(odd)
    assert policies(odd) == ("static", "None")
    ((alone,),) = (pod.values() for pod in checkpoint(odd, "cpu")["entries"].values())
    assert pinned(odd, "cpuset.cpus").count(alone) == 1
    facts = assessed(odd, tmp_path)
    kubelet = facts["kubelet"]
    assert (kubelet["cgroup_driver"], kubelet["cgroup_driver_source"]) == ("systemd", f"{DROPINS}/20-driver.conf")
    assert [(entry["path"], entry["policy"]) for entry in kubelet["checkpoints"]] == [
        (f"{DIRECTORY}/cpu_manager_state", "static"),
        (f"{DIRECTORY}/memory_manager_state", "None"),
    ]
    codes = {finding["code"] for finding in facts["findings"]}
    assert {"cgroup-root-not-default", "kubelet-root-dir-not-default", "read-only-port-open"} <= codes
    assert '"kind":"PodList"' in read_only_port(odd)


def test_reserved_memory_with_which_kubelet_would_not_start_is_refused(odd: Node) -> None:
    tree, services = odd.tree(), odd.services()
    run = odd.ansible("provision", **{**PROFILE, "colocation_reserved_memory": WRONG})
    assert run.code != 0
    assert "for the Static memory manager reservedMemory must equal the sum" in run.output
    assert f"reservedMemory: {100 << 20} bytes" in run.output
    assert f"systemReserved + kubeReserved + evictionHard: {KEPT_BACK} bytes" in run.output
    assert (odd.tree(), odd.services()) == (tree, services)


def test_all_of_it_is_changed_in_one_run(odd: Node, tmp_path: Path) -> None:
    assert handlers(odd) == {"runc": "true", "second": "true"}
    predicted = odd.ansible("provision", "--check", "--diff", **PROFILE)
    assert predicted.code == 0, predicted.output
    assert driver(odd) == "systemd"

    run = odd.ansible("provision", **PROFILE)
    assert run.code == 0, run.output[-4000:]
    assert driver(odd) == "cgroupfs"
    assert run_by_crun(odd)
    assert policies(odd) == ("none", "Static")
    assert pinned(odd, "cpuset.mems") == ["0"]
    (memory,) = checkpoint(odd, "memory")["machineState"].values()
    assert memory["memoryMap"]["memory"]["systemReserved"] == KEPT_BACK
    assert handlers(odd) == {"runc": "false", "second": "false"}
    assert "PodList" not in read_only_port(odd)
    dumped = odd.shell("containerd config dump")
    for name, value in NRI.items():
        assert re.search(rf"{name.removeprefix('colocation_nri_')} = ['\"]{value}['\"]", dumped), name
    assert "read-only-port-open" not in {finding["code"] for finding in assessed(odd, tmp_path)["findings"]}

    assert odd.ansible("verify", **PROFILE).code == 0
    services = odd.services()
    again = odd.ansible("provision", **PROFILE)
    assert again.code == 0, again.output[-4000:]
    assert again.recap(NAME)["changed"] == 0
    assert odd.services() == services


def test_all_of_it_goes_back(odd: Node, before: dict[str, str]) -> None:
    run = odd.ansible("restore")
    assert run.code == 0, run.output[-4000:]
    assert driver(odd) == "systemd"
    assert run_by_crun(odd)
    assert policies(odd) == ("static", "None")
    assert '"kind":"PodList"' in read_only_port(odd)
    now = state(odd)
    assert {what: now[what] for what in before} == before


def test_assess_says_why_kubelet_does_not_start_with_reserved_memory(odd: Node, tmp_path: Path) -> None:
    odd.write(f"{DROPINS}/30-memory.conf", BY_HAND)
    since = odd.shell("date +%s").strip()
    odd.shell(
        f"systemctl restart kubelet; for _ in $(seq 120); do "
        f"journalctl --unit kubelet --since @{since} | grep -q 'command failed' && exit 0; sleep 0.5; done; exit 1"
    )
    output = odd.shell(f"journalctl --unit kubelet --since @{since} --output cat")
    assert r"the total amount \"100Mi\" of type \"memory\" is not equal to the value \"64Mi\"" in output
    codes = {finding["code"] for finding in assessed(odd, tmp_path)["findings"]}
    assert {"reserved-memory-unequal", "memory-checkpoint-policy-differs"} <= codes
