# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Volcano and its agent are installed from a bundle on a node that cannot reach a registry. In this order.

The controller is in the network of the machine, because it uses the node and its API server there; what it does without
a network is in tests/package/test_bundle.py.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.lab import volcano_images
from ansible_collections.volcano.colocation.tests.lab.cache import Cache
from ansible_collections.volcano.colocation.tests.lab.paths import cache_root
from ansible_collections.volcano.colocation.tests.system import agent, workload
from ansible_collections.volcano.colocation.tests.system.node import SPEC, Node, Run, ansible, lab, throwaway
from ansible_collections.volcano.colocation.tests.system.workload import kubectl

NAME, SPACE, POD = "bundle", "volcano-system", "scheduled"
SERVICES = "10.96.0.0/12"
"""The addresses of Services, for which the lab's node needs a route."""
SECONDS = 180.0


@pytest.fixture(scope="module", name="offline")
def _offline(request: pytest.FixtureRequest) -> Iterator[Node]:
    """A node of a cluster that has routes only to the API server."""
    for node in throwaway(request, NAME, *SPEC):
        lab("cluster", "up", "--nodes", NAME)
        gateway = node.shell("ip route show default").split()[2]
        node.shell(f"ip route add {SERVICES} via {gateway}; ip route del default; ip route add unreachable default")
        yield node
        lab("cluster", "down")


@pytest.fixture(scope="module", name="variables")
def _variables(offline: Node) -> dict[str, Any]:
    """Build a bundle; the variables of its installation."""
    directory = offline.directory
    volcano = volcano_images.programs(Cache(cache_root()))
    archives = volcano_images.write_archives(volcano, directory)
    image = agent.archive(offline, directory / "vc-agent.tar")
    volcano_images.write_manifest(volcano, directory / "volcano.yaml")
    run = ansible(
        "volcano.colocation.bundle_build",
        directory,
        colocation_bundle_directory=str(directory / "bundle"),
        colocation_bundle_volcano_manifest=str(directory / "volcano.yaml"),
        colocation_bundle_agent_image=image,
        colocation_bundle_image_archives={
            **{name: str(path) for name, path in archives.items()},
            image: str(directory / "vc-agent.tar"),
        },
    )
    assert run.code == 0, run.output
    return {
        "colocation_bundle_directory": str(directory / "bundle"),
        "colocation_kubeconfig": json.loads(lab("cluster", "up", "--json"))["kubeconfig"],
        "colocation_cluster_uid": kubectl("get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}"),
        "colocation_agent_features": ["OverSubscription", "Eviction", "Resources"],
        "colocation_agent_label_nodes": True,
    }


def install(node: Node, variables: dict[str, Any], *arguments: str) -> Run:
    run = ansible("volcano.colocation.bundle_install", node.directory, "-i", node.inventory, *arguments, **variables)
    assert run.code == 0, run.output
    return run


def images(node: Node) -> set[str]:
    """Names of Volcano's images in the node's runtime."""
    return {name for name in node.shell("ctr -n k8s.io images list -q").splitlines() if "/volcanosh/" in name}


def expected_images(variables: dict[str, Any]) -> set[str]:
    described = json.loads((Path(variables["colocation_bundle_directory"]) / "bundle.json").read_text())
    return {image["image"] for image in described["images"]}


def test_the_node_has_no_registry(offline: Node) -> None:
    assert "unreachable default" in offline.shell("ip route")
    assert offline.shell("ip route get 192.0.2.1 >/dev/null 2>&1 && echo route || echo none").strip() == "none"
    pull = "timeout 60 ctr -n k8s.io images pull docker.io/volcanosh/vc-scheduler:v1.14.0"
    assert offline.shell(f"{pull} >/dev/null 2>&1 && echo pulled || echo failed").strip() == "failed"


def test_check_mode_shows_the_installation_and_imports_nothing(offline: Node, variables: dict[str, Any]) -> None:
    run = install(offline, variables, "--check", "--diff")
    assert run.recap(NAME)["changed"] > 0
    for image in expected_images(variables):
        assert f"+{image} sha256:" in run.output
    assert images(offline) == set()
    assert SPACE not in kubectl("get", "namespaces", "-o", "name")


def test_volcano_and_its_agent_run_from_the_bundle(offline: Node, variables: dict[str, Any]) -> None:
    install(offline, variables)
    assert images(offline) == expected_images(variables)
    pods = json.loads(kubectl("get", "pods", "-n", SPACE, "-o", "json"))["items"]
    containers = [container for pod in pods for container in pod["spec"]["containers"]]
    assert {container["image"] for container in containers} == expected_images(variables)
    assert {container["imagePullPolicy"] for container in containers} == {"Never"}
    assert agent.batch_cpu(NAME) > 0


def test_the_scheduler_of_the_bundle_schedules_a_pod() -> None:
    container = {"name": "main", "image": "localhost/lab/busybox:1", "imagePullPolicy": "Never"}
    spec = {"schedulerName": "volcano", "hostNetwork": True, "containers": [{**container, "command": ["sleep", "600"]}]}
    metadata = {"name": POD, "namespace": "default"}
    workload.apply_document({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    kubectl("wait", "--for=condition=Ready", f"--timeout={SECONDS:.0f}s", "pod", POD)
    kubectl("delete", "pod", POD, "--grace-period=1")


def test_a_second_run_changes_nothing(offline: Node, variables: dict[str, Any]) -> None:
    assert install(offline, variables).recap(NAME)["changed"] == 0


def test_a_changed_archive_is_refused_before_the_node_is_read(offline: Node, variables: dict[str, Any]) -> None:
    bundle = Path(variables["colocation_bundle_directory"])
    archive = next((bundle / "images").glob("*vc-agent*"))
    with archive.open("ab") as stream:
        stream.write(b"\0")
    try:
        options = ("-i", offline.inventory)
        run = ansible("volcano.colocation.bundle_install", offline.directory, *options, **variables)
    finally:
        with archive.open("rb+") as stream:
            stream.truncate(archive.stat().st_size - 1)
    assert run.code != 0
    assert f"images/{archive.name} was changed. Nothing was changed." in run.output
    assert "TASK [volcano.colocation.agent" not in run.output


def test_the_removal_of_the_agent_keeps_volcanos_images(offline: Node, variables: dict[str, Any]) -> None:
    options = {**variables, "colocation_agent_state": "absent"}
    del options["colocation_bundle_directory"]
    run = ansible("volcano.colocation.cluster", offline.directory, "-i", offline.inventory, **options)
    assert run.code == 0, run.output
    assert images(offline) == {name for name in expected_images(variables) if "vc-agent" not in name}


def test_the_removal_of_volcano_leaves_no_image(offline: Node, variables: dict[str, Any]) -> None:
    role = {"name": "volcano.colocation.scheduler"}
    tasks = [{"include_role": {**role, "tasks_from": entry}} for entry in ("restore", "uninstall", "remove_images")]
    playbook = offline.directory / "remove.yml"
    playbook.write_text(json.dumps([{"hosts": "all", "become": True, "gather_facts": False, "tasks": tasks}]))
    options = {name: value for name, value in variables.items() if not name.startswith("colocation_bundle_")}
    removal = {**options, "colocation_volcano_remove_crds": True, "colocation_volcano_remove_in_use": True}
    run = ansible(str(playbook), offline.directory, "-i", offline.inventory, **removal)
    assert run.code == 0, run.output
    deadline = time.monotonic() + SECONDS
    while kubectl("get", "pods", "-n", SPACE, "-o", "name"):
        assert time.monotonic() < deadline
        time.sleep(2)
    assert images(offline) == set(), run.output
    with pytest.raises(AssertionError):
        offline.shell("test -e /var/lib/volcano-colocation/images.json")
