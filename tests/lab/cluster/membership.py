# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts of the files that make a node of the lab a member of a cluster.

They are edits of what the node has, so that what a test changed there before stays. Each may be done again.
"""

from __future__ import annotations

from ..errors import LabError
from ..kubelet_config import ALONE
from ..kubelet_files import CONFIG, LONE_DROPIN
from ..spec import Layout

KUBECONFIG = "/etc/kubernetes/kubelet.conf"
AUTHORITY = {
    Layout.STANDALONE: "/etc/kubernetes/pki/ca.crt",
    Layout.KUBEADM: "/etc/kubernetes/pki/ca.crt",
    Layout.KUBESPRAY: "/etc/kubernetes/ssl/ca.crt",
}
"""The cluster's certificate authority where kubeadm and kubespray put it (kubespray's variable kube_cert_dir)."""

ENVIRONMENT = {Layout.STANDALONE: "/etc/default/kubelet", Layout.KUBESPRAY: "/etc/kubernetes/kubelet.env"}
"""Files whose flags name the kubeconfig; with kubeadm its drop-in does."""

REMOVED = {Layout.STANDALONE: (), Layout.KUBEADM: (LONE_DROPIN,), Layout.KUBESPRAY: ()}
"""Files of a node without an API server only."""

SERVICE_UNIT = "/etc/systemd/system/lab-api-server.service"

_MEMBER = """\
authentication:
  anonymous:
    enabled: false
  webhook:
    enabled: true
  x509:
    clientCAFile: {authority}
authorization:
  mode: Webhook
"""

_FLAG = f"--kubeconfig={KUBECONFIG}"
_BEFORE_FLAG = {Layout.STANDALONE: "KUBELET_EXTRA_ARGS=", Layout.KUBESPRAY: 'KUBELET_ARGS="'}

# What kube-proxy does for the service `kubernetes`, and it alone: pods of the host's network find the API server.
_SERVICE_UNIT = """\
[Unit]
Description=The API server of the lab's cluster at its service address

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/sbin/iptables -t nat {rule}
ExecStop=/usr/sbin/iptables -t nat {undo}

[Install]
WantedBy=multi-user.target
"""


def config(text: str, layout: Layout) -> str:
    """kubelet's configuration: clients are known by the cluster's authority, and the API server says what they may."""
    member = _MEMBER.format(authority=AUTHORITY[layout])
    if member in text:
        return text
    if ALONE not in text:
        raise LabError(
            f"{CONFIG[layout]} has other settings of authentication than the lab wrote: "
            "let a node join before you change them"
        )
    return text.replace(ALONE, member)


def environment(text: str, layout: Layout) -> str:
    """The file of ``ENVIRONMENT`` with the flag that names the kubeconfig."""
    before = _BEFORE_FLAG[layout]
    if _FLAG in text:
        return text
    if before not in text:
        raise LabError(f"{ENVIRONMENT[layout]} has no {before}: the lab wrote it, and something removed it")
    return text.replace(before, f"{before}{_FLAG} ", 1)


def service_unit(service: str, server: str) -> str:
    """A unit that leads connections to ``service``, ADDRESS:PORT, to ``server``."""
    address, port = service.split(":")
    match = f"OUTPUT -p tcp -d {address} --dport {port} -j DNAT --to-destination {server}"
    return _SERVICE_UNIT.format(rule=f"-I {match}", undo=f"-D {match}")
