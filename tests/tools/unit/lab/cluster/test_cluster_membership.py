# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import dataclasses

import pytest
import yaml

from ansible_collections.volcano.colocation.tests.lab import kubelet_files
from ansible_collections.volcano.colocation.tests.lab.cluster import membership
from ansible_collections.volcano.colocation.tests.lab.cluster.join import too_new
from ansible_collections.volcano.colocation.tests.lab.errors import LabError
from ansible_collections.volcano.colocation.tests.lab.spec import Layout
from ansible_collections.volcano.colocation.tests.support.lab.paper_nodes import SPEC

VERSION = (1, 20)


def files(layout: Layout) -> dict[str, str]:
    spec = dataclasses.replace(SPEC, layout=layout)
    fixed = kubelet_files.fixed_files(spec, VERSION)
    return {**fixed, **kubelet_files.own_files(spec, VERSION, "10.0.12.15")}


def config(layout: Layout) -> str:
    return files(layout)[kubelet_files.CONFIG[layout]]


@pytest.mark.parametrize(
    ("layout", "authority"),
    [
        (Layout.STANDALONE, "/etc/kubernetes/pki/ca.crt"),
        (Layout.KUBEADM, "/etc/kubernetes/pki/ca.crt"),
        (Layout.KUBESPRAY, "/etc/kubernetes/ssl/ca.crt"),
    ],
)
def test_kubelet_delegates_authorization_to_the_api_server(layout: Layout, authority: str) -> None:
    before = yaml.safe_load(config(layout))
    after = yaml.safe_load(membership.config(config(layout), layout))
    assert after.pop("authorization") == {"mode": "Webhook"}
    assert after.pop("authentication") == {
        "anonymous": {"enabled": False},
        "webhook": {"enabled": True},
        "x509": {"clientCAFile": authority},
    }
    assert after == {key: value for key, value in before.items() if key not in ("authentication", "authorization")}


def test_other_changes_of_the_configuration_stay() -> None:
    changed = config(Layout.KUBEADM) + "cpuCFSQuota: false  # from a test\n"
    once = membership.config(changed, Layout.KUBEADM)
    assert once.endswith("cpuCFSQuota: false  # from a test\n")
    assert membership.config(once, Layout.KUBEADM) == once


def test_other_settings_of_authentication_are_not_overwritten() -> None:
    changed = config(Layout.KUBEADM).replace("mode: AlwaysAllow", "mode: Webhook")
    with pytest.raises(LabError, match=r"/var/lib/kubelet/config\.yaml has other settings"):
        membership.config(changed, Layout.KUBEADM)


@pytest.mark.parametrize(
    ("layout", "line"),
    [
        (
            Layout.STANDALONE,
            "KUBELET_EXTRA_ARGS=--kubeconfig=/etc/kubernetes/kubelet.conf --hostname-override=one "
            "--node-ip=10.0.12.15 --housekeeping-interval=30s",
        ),
        (
            Layout.KUBESPRAY,
            'KUBELET_ARGS="--kubeconfig=/etc/kubernetes/kubelet.conf --config=/etc/kubernetes/kubelet-config.yaml \\',
        ),
    ],
)
def test_the_flags_name_the_kubeconfig(layout: Layout, line: str) -> None:
    text = files(layout)[membership.ENVIRONMENT[layout]]
    once = membership.environment(text, layout)
    assert line in once.splitlines()
    assert len(once.splitlines()) == len(text.splitlines())
    assert membership.environment(once, layout) == once


def test_a_file_without_its_flags_is_named() -> None:
    with pytest.raises(LabError, match="/etc/default/kubelet has no KUBELET_EXTRA_ARGS="):
        membership.environment("# empty\n", Layout.STANDALONE)


def test_kubeadms_drop_in_names_the_kubeconfig_without_the_labs() -> None:
    (removed,) = membership.REMOVED[Layout.KUBEADM]
    kubeadm = files(Layout.KUBEADM)
    assert 'Environment="KUBELET_KUBECONFIG_ARGS="' in kubeadm[removed]
    assert f"--kubeconfig={membership.KUBECONFIG}" in kubeadm["/etc/systemd/system/kubelet.service.d/10-kubeadm.conf"]


def test_the_service_address_is_redirected_to_the_host() -> None:
    unit = membership.service_unit("10.96.0.1:443", "10.0.12.2:1001").splitlines()
    rule = "OUTPUT -p tcp -d 10.96.0.1 --dport 443 -j DNAT --to-destination 10.0.12.2:1001"
    assert f"ExecStart=/usr/sbin/iptables -t nat -I {rule}" in unit
    assert f"ExecStop=/usr/sbin/iptables -t nat -D {rule}" in unit


@pytest.mark.parametrize(
    ("kubelet", "server", "refused"),
    [
        ("1.35.4", "1.35.4", False),
        ("1.35.9", "1.35.4", False),
        ("1.9.0", "1.35.4", False),
        ("1.37.2", "1.35.4", True),
        ("1.36.0-rc.0", "1.35.4", True),
    ],
)
def test_no_kubelet_is_newer_than_its_api_server(kubelet: str, server: str, refused: bool) -> None:
    assert too_new(kubelet, server) is refused
