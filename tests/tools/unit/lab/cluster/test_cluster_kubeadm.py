# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import dataclasses
from pathlib import Path

import yaml

from ansible_collections.volcano.colocation.tests.lab.cluster.kubeadm import (
    configuration,
    make_credentials,
    write_secret,
)
from ansible_collections.volcano.colocation.tests.tools.unit.lab.cluster.paper_plane import PLANE


def test_kubeadm_gets_the_version_and_needs_no_network() -> None:
    init, cluster = yaml.safe_load_all(configuration(PLANE, "127.0.0.1", "/pki"))
    assert (init["kind"], cluster["kind"]) == ("InitConfiguration", "ClusterConfiguration")
    assert (cluster["kubernetesVersion"], cluster["certificatesDir"]) == ("v1.35.4", "/pki")
    assert {init["apiVersion"], cluster["apiVersion"]} == {"kubeadm.k8s.io/v1beta4"}
    assert init["localAPIEndpoint"] == {"advertiseAddress": "10.0.10.2", "bindPort": 1001}


def test_the_certificate_names_every_gateway() -> None:
    _init, cluster = yaml.safe_load_all(configuration(PLANE, "10.0.12.2", "/pki"))
    assert cluster["controlPlaneEndpoint"] == "10.0.12.2:1001"
    names = cluster["apiServer"]["certSANs"]
    assert {"127.0.0.1", "localhost", "10.0.10.2", "10.0.12.2", "10.0.249.2"} <= set(names)


def test_a_kubeconfig_is_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text("old\n")
    path.chmod(0o644)
    write_secret(path, "secret\n")
    assert path.stat().st_mode & 0o777 == 0o600
    assert [path.read_text() for path in tmp_path.iterdir()] == ["secret\n"]


KUBEADM = """\
#!/bin/sh
echo "$*" >> {log}
echo "a kubeconfig"
"""


def test_credentials_are_made_once(tmp_path: Path) -> None:
    program, log = tmp_path / "kubeadm", tmp_path / "calls"
    program.write_text(KUBEADM.format(log=log))
    program.chmod(0o755)
    plane = dataclasses.replace(PLANE, directory=tmp_path, programs={"kubeadm": program})
    make_credentials(plane, tmp_path / "kubeadm.log")
    assert plane.kubeconfig.read_text() == "a kubeconfig\n"
    calls = [line.split(" --")[0] for line in log.read_text().splitlines()]
    assert calls == ["init phase certs all", *["kubeconfig user"] * 3]
    make_credentials(plane, tmp_path / "kubeadm.log")
    assert len(log.read_text().splitlines()) == 4


def test_missing_credentials_of_an_interrupted_start_are_made(tmp_path: Path) -> None:
    program, log = tmp_path / "kubeadm", tmp_path / "calls"
    program.write_text(KUBEADM.format(log=log))
    program.chmod(0o755)
    plane = dataclasses.replace(PLANE, directory=tmp_path, programs={"kubeadm": program})
    make_credentials(plane, tmp_path / "kubeadm.log")
    plane.kubeconfig.unlink()
    make_credentials(plane, tmp_path / "kubeadm.log")
    assert plane.kubeconfig.exists()
