# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from ansible_collections.volcano.colocation.tests.lab.cluster.kubeadm import (
    configuration,
    kubelet_config_map,
    write_secret,
)
from ansible_collections.volcano.colocation.tests.unit.lab.cluster.paper_plane import PLANE


def test_kubeadm_is_told_the_version_and_asks_nobody() -> None:
    init, cluster = yaml.safe_load_all(configuration(PLANE, "127.0.0.1", "/pki"))
    assert (init["kind"], cluster["kind"]) == ("InitConfiguration", "ClusterConfiguration")
    assert (cluster["kubernetesVersion"], cluster["certificatesDir"]) == ("v1.20.2", "/pki")
    assert init["localAPIEndpoint"] == {"advertiseAddress": "10.0.10.2", "bindPort": 1001}


def test_a_node_finds_the_api_server_at_its_own_gateway_which_the_certificate_names() -> None:
    _init, cluster = yaml.safe_load_all(configuration(PLANE, "10.0.12.2", "/pki"))
    assert cluster["controlPlaneEndpoint"] == "10.0.12.2:1001"
    names = cluster["apiServer"]["certSANs"]
    assert {"127.0.0.1", "localhost", "10.0.10.2", "10.0.12.2", "10.0.249.2"} <= set(names)


@pytest.mark.parametrize(("release", "name"), [("1.20.2", "kubelet-config-1.20"), ("1.9.0", "kubelet-config-1.9")])
def test_the_config_map_has_the_minor_release_in_its_name(release: str, name: str) -> None:
    assert kubelet_config_map(release) == name


def test_a_kubeconfig_is_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text("old\n")
    path.chmod(0o644)
    write_secret(path, "secret\n")
    assert path.stat().st_mode & 0o777 == 0o600
    assert [each.read_text() for each in tmp_path.iterdir()] == ["secret\n"]
