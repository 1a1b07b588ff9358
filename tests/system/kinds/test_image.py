# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An image in kubespray's layout, prepared offline, is aligned at its first boot; the running node can change again.

It has a startup taint. After the node joins a cluster, pods are scheduled to it once it passes `verify`. In this order.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.lab.cluster import control_plane
from ansible_collections.volcano.colocation.tests.system import workload
from ansible_collections.volcano.colocation.tests.system.containerd_config import serves_nri
from ansible_collections.volcano.colocation.tests.system.node import PROFILE, ROOT, Node, Run, ansible, lab, throwaway
from ansible_collections.volcano.colocation.tests.system.pods import QOS_CLASSES, qos_classes

NAME = "image"
SPEC = (
    *("--suite", "trixie", "--cgroup", "v2", "--layout", "kubespray"),
    *("--driver-kubelet", "cgroupfs", "--driver-runtime", "cgroupfs"),
)
KUBELET = "etc/kubernetes/kubelet-config.yaml"
CONTAINERD = "etc/containerd/config.toml"
OWN = "var/lib/volcano-colocation/"
PLAYBOOK = Path(__file__).with_name("image.yml")
UNTAINT = ROOT / "docs" / "examples" / "rollout" / "new_nodes.yml"
TAINT = {"key": "colocation.volcano.sh/unverified", "effect": "NoSchedule"}
DRIVER: dict[str, Any] = {"colocation_cgroup_driver": "cgroupfs"}
"""The driver of the running node after its change."""
SECONDS = 120.0

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the files of an image are root's")


@pytest.fixture(scope="module", name="image")
def _image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    directory = tmp_path_factory.mktemp("image") / "root"
    lab("image", str(directory), *SPEC)
    with (directory / KUBELET).open("a") as file:
        file.write(f"registerWithTaints: {json.dumps([TAINT])}\n")
    yield directory
    shutil.rmtree(directory)


@pytest.fixture(scope="module", name="booted")
def _booted(image: Path, request: pytest.FixtureRequest) -> Iterator[Node]:
    yield from throwaway(request, NAME, "--root", str(image), *SPEC)


def prepare(image: Path, *arguments: str) -> Run:
    run = ansible(str(PLAYBOOK), image.parent, *arguments, image=str(image))
    assert run.code == 0, run.output
    return run


def contents(image: Path) -> dict[str, tuple[int, ...]]:
    """Return {path: mode, owner, size and time} of the image, without the collection's record."""
    entries: dict[str, tuple[int, ...]] = {}
    for path in image.rglob("*"):
        name = str(path.relative_to(image))
        if not f"{name}/".startswith(OWN):
            status = path.lstat()
            changed = 0 if path.is_dir() else status.st_mtime_ns
            entries[name] = (status.st_mode, status.st_uid, status.st_gid, changed and status.st_size, changed)
    return entries


def test_only_two_files_of_an_image_change_and_check_mode_changes_none(image: Path) -> None:
    before = contents(image)
    predicted = prepare(image, "--check")
    assert contents(image) == before
    done = prepare(image)
    after = contents(image)
    assert {name for name in after.keys() | before.keys() if after.get(name) != before.get(name)} == {
        KUBELET,
        CONTAINERD,
    }
    assert predicted.recap("localhost") == done.recap("localhost")
    assert done.recap("localhost")["changed"] == 2
    assert prepare(image).recap("localhost")["changed"] == 0
    assert contents(image) == after


def test_it_is_aligned_at_its_first_boot(booted: Node) -> None:
    assert qos_classes(booted.containers(), "systemd") == QOS_CLASSES
    assert "static" in booted.shell("cat /var/lib/kubelet/cpu_manager_state")
    assert serves_nri(booted)
    verified = booted.ansible("verify")
    assert verified.code == 0, verified.output
    before, services = booted.tree(), booted.services()
    run = booted.ansible("provision", colocation_nri_enabled=True)
    assert run.code == 0, run.output
    assert run.recap(NAME)["changed"] == 0
    assert (booted.tree(), booted.services()) == (before, services)


def test_kubesprays_file_is_edited_where_it_lies(booted: Node) -> None:
    """On the running node the services are restarted with the other driver."""
    before = booted.shell(f"cat /{KUBELET}").splitlines()
    run = booted.ansible("provision", **DRIVER)
    assert run.code == 0, run.output
    after = booted.shell(f"cat /{KUBELET}").splitlines()
    assert [line for line in before if line not in after] == [line for line in before if "cgroupDriver:" in line]
    assert [line for line in after if line not in before] == [line for line in after if "cgroupDriver:" in line]
    assert qos_classes(booted.containers(), "cgroupfs") == QOS_CLASSES
    assert booted.ansible("provision", **DRIVER).recap(NAME)["changed"] == 0


def untaint(node: Node, **variables: Any) -> Run:
    return ansible(str(UNTAINT), node.directory, "-i", node.inventory, **{**PROFILE, **DRIVER, **variables})


def taints() -> list[dict[str, str]]:
    """Key and effect of the Node's taints."""
    node = json.loads(workload.kubectl("get", "node", NAME, "-o", "json"))
    return [{key: taint[key] for key in TAINT} for taint in node["spec"].get("taints", [])]


def wait_until_unschedulable() -> None:
    """Wait until the scheduler has found no Node for the pod."""
    deadline = time.monotonic() + SECONDS
    path = "jsonpath={.items[*].status.conditions[?(@.type=='PodScheduled')].reason}"
    while workload.kubectl("get", "pods", "-l", f"app={workload.NAME}", "-o", path) != "Unschedulable":
        assert time.monotonic() < deadline
        time.sleep(1)


@pytest.fixture(name="joined")
def _joined(booted: Node, monkeypatch: pytest.MonkeyPatch) -> Iterator[Node]:
    """The node in a cluster whose kubectl is in PATH."""
    lab("cluster", "up", "--nodes", NAME)
    plane = control_plane.store().load()
    monkeypatch.setenv("PATH", f"{plane.programs['kubectl'].parent}:{os.environ['PATH']}")
    monkeypatch.setenv("KUBECONFIG", str(plane.kubeconfig))
    yield booted
    lab("cluster", "down")


def test_a_node_that_joins_gets_pods_after_it_passed_verify(joined: Node) -> None:
    assert TAINT in taints()
    workload.create()
    wait_until_unschedulable()
    failed = untaint(joined, colocation_system_reserved={"cpu": "600m"})
    assert failed.code != 0
    assert f"{NAME} is misaligned" in failed.output
    assert TAINT in taints()
    assert set(workload.places().values()) == {""}

    passed = untaint(joined)
    assert passed.code == 0, passed.output
    assert taints() == []
    workload.wait_for(1)
    assert set(workload.places().values()) == {NAME}
    again = untaint(joined)
    assert (again.code, again.recap(NAME)["changed"]) == (0, 0), again.output
