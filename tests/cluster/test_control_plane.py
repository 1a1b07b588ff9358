# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's control plane itself: start, repair, permissions of its files, and removal. It needs no VM."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from ansible_collections.volcano.colocation.tests.lab import nodes
from ansible_collections.volcano.colocation.tests.lab.cluster import control_plane, daemons
from ansible_collections.volcano.colocation.tests.lab.cluster.store import ControlPlane

NAMES = {"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"}

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: waiting, labels: {one: "1", two: "2"}}
spec:
  containers:
  - {name: main, image: localhost/lab/busybox:1}
"""


@pytest.fixture(scope="module", autouse=True)
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A separate state directory for this module, so that no other control plane is changed."""
    directory = tmp_path_factory.mktemp("state")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLOCATION_LAB_STATE", str(directory))
        yield directory
        control_plane.down()


@pytest.fixture(scope="module")
def plane(state: Path) -> ControlPlane:
    return control_plane.up()


def test_the_kubeconfig_is_for_its_owner_only(plane: ControlPlane) -> None:
    assert plane.kubeconfig.stat().st_mode & 0o777 == 0o600
    assert plane.directory.stat().st_mode & 0o777 == 0o700


def test_the_server_reports_its_version(plane: ControlPlane) -> None:
    version = yaml.safe_load(control_plane.kubectl(plane, "get", "--raw=/version"))
    assert (version["gitVersion"], version["major"], version["minor"]) == ("v1.35.4", "1", "35")


def test_the_config_map_has_kubeadms_configuration_of_kubelet(plane: ControlPlane) -> None:
    output = control_plane.kubectl(plane, "-nkube-system", "get", "configmap", "kubelet-config", "--output=yaml")
    (key, text), *other_keys = yaml.safe_load(output)["data"].items()
    assert (key, other_keys) == ("kubelet", [])
    config = yaml.safe_load(text)
    assert (config["kind"], config["apiVersion"]) == ("KubeletConfiguration", "kubelet.config.k8s.io/v1beta1")
    assert config["authentication"]["x509"] == {"clientCAFile": "/etc/kubernetes/pki/ca.crt"}


def test_the_cluster_has_no_nodes(plane: ControlPlane) -> None:
    assert control_plane.nodes(plane) == {}
    assert nodes.store().names() == []


def test_the_policies_that_the_collection_writes_are_served(plane: ControlPlane) -> None:
    served = control_plane.kubectl(plane, "api-resources", "--api-group=admissionregistration.k8s.io", "--output=name")
    assert {"mutatingadmissionpolicies", "validatingadmissionpolicies"} <= {
        name.partition(".")[0] for name in served.split()
    }


def test_pods_are_admitted_and_objects_are_returned_as_json(plane: ControlPlane, tmp_path: Path) -> None:
    manifest = tmp_path / "pod.yaml"
    manifest.write_text(POD)
    control_plane.kubectl(plane, "apply", f"--filename={manifest}")
    output = control_plane.kubectl(plane, "get", "pod", "waiting", "--output=json")
    assert yaml.safe_load(output)["metadata"]["labels"] == {"one": "1", "two": "2"}


def test_a_second_up_changes_nothing(plane: ControlPlane) -> None:
    before, kubeadm = daemons.running(plane.uuid), plane.log("kubeadm").read_text()
    assert set(before) == NAMES
    assert control_plane.up() == plane
    assert daemons.running(plane.uuid) == before
    assert plane.log("kubeadm").read_text() == kubeadm


def test_an_ended_program_is_started_again(plane: ControlPlane) -> None:
    before = daemons.running(plane.uuid)
    os.kill(before["kube-scheduler"], signal.SIGKILL)
    control_plane.up()
    after = daemons.running(plane.uuid)
    assert set(after) == NAMES
    assert {name for name in NAMES if after[name] != before[name]} == {"kube-scheduler"}


def test_down_leaves_nothing(plane: ControlPlane, state: Path) -> None:
    control_plane.down()
    assert daemons.running(plane.uuid) == {}
    assert [path.name for path in state.iterdir()] == [".cluster.lock"]
