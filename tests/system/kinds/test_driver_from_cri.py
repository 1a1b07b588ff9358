# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet 1.37 with containerd 2.4 takes the driver from the CRI and ignores its file. In this order.

containerd's main file of schema 4 is edited in place. MemoryQoS is on in kubelet, as by default in 1.37.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.system.containerd_config import CONFIG, differences, dump, serves_nri
from ansible_collections.volcano.colocation.tests.system.everything import await_kubelet, state
from ansible_collections.volcano.colocation.tests.system.node import Node, ansible, throwaway
from ansible_collections.volcano.colocation.tests.system.pods import QOS_CLASSES, qos_classes

NAME = "cri"
SPEC = (
    *("--suite", "trixie", "--cgroup", "v2", "--kubelet", "1.37", "--containerd", "2.4"),
    *("--driver-kubelet", "cgroupfs", "--driver-runtime", "systemd", "--nri", "off"),
    *("--wait", "ssh"),
)
CGROUPFS: dict[str, Any] = {
    "colocation_cgroup_driver": "cgroupfs",
    "colocation_containerd_strategy": "main-file",
    "colocation_nri_enabled": True,
    "colocation_qos": {"levels": ["LS"]},
}
PROTECTION = Path(__file__).with_name("protection.yml")
BURSTABLE = "kubepods.slice/kubepods-burstable.slice"
KUBELETS = "kubelet from 1.37 on sets this to 0 at its start (kubernetes#138903), or with memoryReservationPolicy"
MI = 1 << 20


# Before its pods are created: kubelet sets memory protection when it creates a pod's cgroup.
PREPARE = """printf '{fields}' >> /var/lib/kubelet/config.yaml && systemctl restart kubelet
for _ in $(seq 300); do
  if [ "$(ctr -n k8s.io tasks ls -q 2>/dev/null | wc -l)" -ge 6 ]; then exit 0; fi
  sleep 0.5
done
exit 1"""
FIELDS = r"memoryReservationPolicy: TieredReservation\nmemoryThrottlingFactor: 0.5\n"


@pytest.fixture(scope="module", name="cri")
def _cri(request: pytest.FixtureRequest) -> Iterator[Node]:
    for node in throwaway(request, NAME, *SPEC):
        node.shell(PREPARE.format(fields=FIELDS))
        yield node


@pytest.fixture(scope="module", name="before")
def _before(cri: Node) -> dict[str, str]:
    await_kubelet(cri, "systemd")
    return state(cri)


def memory(node: Node, cgroup: str, *names: str) -> list[str]:
    """Return the kernel's values of ``memory.NAME`` of cgroups that match a pattern, sorted per file."""
    return [word for name in names for word in sorted(node.shell(f"cat /sys/fs/cgroup/{cgroup}/memory.{name}").split())]


def assessed(node: Node, directory: Path) -> dict[str, Any]:
    """The facts that `assess` writes."""
    run = node.ansible("assess", colocation_report_directory=str(directory))
    assert run.code == 0, run.output
    facts: dict[str, Any] = json.loads((directory / f"{NAME}.json").read_text())
    return facts


def driver(facts: dict[str, Any]) -> tuple[str, str]:
    """Return the driver in effect, and which program decides it."""
    return facts["kubelet"]["cgroup_driver"], facts["kubelet"]["cgroup_driver_authority"]


def runtime_driver(node: Node) -> str:
    """SystemdCgroup of runc."""
    (line,) = {line for line in dump(node) if "SystemdCgroup" in line}
    return line


def test_with_tiered_reservation_kubelet_protects_what_pods_request(cri: Node, before: dict[str, str]) -> None:
    assert memory(cri, "kubepods.slice", "min", "low") == [str(96 * MI), str(32 * MI)]
    assert memory(cri, BURSTABLE, "min", "low") == ["0", str(32 * MI)]
    assert memory(cri, "kubepods.slice/kubepods-pod*", "min") == [str(64 * MI)]


def test_the_drivers_source_is_the_cri_and_the_file_is_reported(
    cri: Node, before: dict[str, str], tmp_path: Path
) -> None:
    assert "cgroupDriver: cgroupfs" in cri.shell("cat /var/lib/kubelet/config.yaml")
    assert qos_classes(cri.containers(), "systemd") == QOS_CLASSES
    facts = assessed(cri, tmp_path)
    assert facts["kubelet"]["version"].startswith("1.37.")
    assert facts["runtime"]["version"].startswith("v2.4.")
    assert driver(facts) == ("systemd", "cri")
    assert "driver-setting-ignored" in {finding["code"] for finding in facts["findings"]}
    assert state(cri) == before


def test_kubelet_follows_containerd_to_the_other_driver(cri: Node, tmp_path: Path) -> None:
    assert not serves_nri(cri)
    read, directory = dump(cri), cri.shell("ls /etc/containerd")
    predicted = cri.ansible("provision", "--check", **CGROUPFS)
    assert predicted.code == 0, predicted.output
    assert predicted.recap(NAME)["changed"] == 1
    assert runtime_driver(cri) == "SystemdCgroup = true"

    run = cri.ansible("provision", **CGROUPFS)
    assert run.code == 0, run.output[-4000:]
    assert cri.shell(f"head -1 {CONFIG}") == "version = 4\n"
    assert differences(read, dump(cri)) == [
        "+ SystemdCgroup = false",
        "+ disable = false",
        "- SystemdCgroup = true",
        "- disable = true",
    ]
    assert cri.shell("ls /etc/containerd") == directory
    assert serves_nri(cri)
    assert qos_classes(cri.containers(), "cgroupfs") == QOS_CLASSES
    facts = assessed(cri, tmp_path)
    assert driver(facts) == ("cgroupfs", "cri")
    assert "driver-setting-ignored" not in {finding["code"] for finding in facts["findings"]}

    assert f"LS: memory_low: {KUBELETS}" in run.output
    assert memory(cri, "kubepods/pod*", "min") == [str(64 * MI)]
    assert memory(cri, "kubepods/burstable/pod*", "min", "low") == ["0", str(32 * MI)]
    # Halfway between request and limit; its sandbox has neither.
    assert memory(cri, "kubepods/burstable/pod*/*", "high") == [str(80 * MI), "max"]

    assert cri.ansible("verify", **CGROUPFS).code == 0
    tree, services = cri.tree(), cri.services()
    again = cri.ansible("provision", **CGROUPFS)
    assert again.code == 0, again.output[-4000:]
    assert again.recap(NAME)["changed"] == 0
    assert (cri.tree(), cri.services()) == (tree, services)


def test_restore_brings_both_back(cri: Node, before: dict[str, str]) -> None:
    run = cri.ansible("restore")
    assert run.code == 0, run.output[-4000:]
    await_kubelet(cri, "systemd")
    now = state(cri)
    for what, text in before.items():
        assert now[what] == text, what
    assert qos_classes(cri.containers(), "systemd") == QOS_CLASSES


def test_with_its_default_policy_kubelet_removes_protection(cri: Node) -> None:
    """It keeps memory.min of Burstable, which has no effect below a root without it."""
    cri.shell(
        "sed -i '/^memoryReservationPolicy:/d; /^memoryThrottlingFactor:/d' /var/lib/kubelet/config.yaml;"
        "systemctl set-property --runtime kubepods.slice MemoryMin=32M MemoryLow=16M;"
        "systemctl set-property --runtime kubepods-burstable.slice MemoryMin=32M MemoryLow=16M; sleep 1"
    )
    assert memory(cri, "kubepods.slice", "min", "low") == [str(32 * MI), str(16 * MI)]
    assert memory(cri, BURSTABLE, "min", "low") == [str(32 * MI), str(16 * MI)]
    cri.shell("systemctl restart kubelet")
    await_kubelet(cri, "systemd")
    assert memory(cri, "kubepods.slice", "min", "low") == ["0", "0"]
    assert memory(cri, BURSTABLE, "min", "low") == [str(32 * MI), "0"]
    cri.shell("systemctl set-property --runtime kubepods-burstable.slice MemoryMin=0")

    run = ansible(str(PROTECTION), cri.directory, "-i", cri.inventory)
    assert run.code != 0
    assert KUBELETS in run.output
    assert memory(cri, BURSTABLE, "low") == ["0"]
