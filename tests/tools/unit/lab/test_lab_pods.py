# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json

import pytest
import yaml

from ansible_collections.volcano.colocation.tests.lab.guest import pods as guest
from ansible_collections.volcano.colocation.tests.lab.pods import QOS_CLASSES, over_cri, pod
from ansible_collections.volcano.colocation.tests.support.lab.paper_nodes import SPEC


def qos_class(manifest: dict[str, object]) -> str:
    """The class kubelet gives a pod of one container (Kubernetes, core/v1 helper/qos)."""
    (container,) = manifest["spec"]["containers"]  # type: ignore[index]
    resources = container.get("resources")
    if not resources:
        return "besteffort"
    return "guaranteed" if resources["requests"] == resources["limits"] else "burstable"


@pytest.mark.parametrize("name", QOS_CLASSES)
def test_there_is_a_pod_of_each_class(name: str) -> None:
    manifest = yaml.safe_load(pod(name))
    assert qos_class(manifest) == name == manifest["metadata"]["name"]
    assert manifest["spec"]["hostNetwork"] is True
    assert manifest["spec"]["containers"][0]["imagePullPolicy"] == "Never"


def test_the_guaranteed_pod_asks_for_whole_cpus() -> None:
    cpu = yaml.safe_load(pod("guaranteed"))["spec"]["containers"][0]["resources"]["limits"]["cpu"]
    assert int(cpu) >= 1


def test_a_node_without_kubelet_gets_the_same_pods() -> None:
    for settings in json.loads(over_cri(SPEC))["pods"]:
        (container,) = yaml.safe_load(pod(settings["name"]))["spec"]["containers"]
        assert (settings["image"], settings["command"]) == (container["image"], container["command"])


UID = "0a1b2c3d-0000-5000-8000-000000000001"


@pytest.mark.parametrize(
    ("driver", "qos_class", "path"),
    [
        ("systemd", "guaranteed", "/kubepods.slice/kubepods-pod0a1b2c3d_0000_5000_8000_000000000001.slice"),
        (
            "systemd",
            "burstable",
            "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0a1b2c3d_0000_5000_8000_000000000001.slice",
        ),
        ("cgroupfs", "guaranteed", f"/kubepods/pod{UID}"),
        ("cgroupfs", "besteffort", f"/kubepods/besteffort/pod{UID}"),
    ],
)
def test_its_pods_are_in_the_cgroups_that_kubelet_would_name(driver: str, qos_class: str, path: str) -> None:
    assert guest.cgroup_parent(driver, qos_class, UID) == path
