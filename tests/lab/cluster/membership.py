# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of a node's files that make it a member of a cluster.

They start from the node's current files, so that a test's changes stay. Each edit is idempotent.
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
"""Path of the cluster's certificate authority with kubeadm and with kubespray (variable kube_cert_dir)."""

ENVIRONMENT = {Layout.STANDALONE: "/etc/default/kubelet", Layout.KUBESPRAY: "/etc/kubernetes/kubelet.env"}
"""Files whose flags name the kubeconfig; with kubeadm the drop-in names it."""

REMOVED = {Layout.STANDALONE: (), Layout.KUBEADM: (LONE_DROPIN,), Layout.KUBESPRAY: ()}
"""Files that exist only on a node without an API server."""

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

# Replaces kube-proxy for the service `kubernetes` only: pods with hostNetwork reach the API server.
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
    """kubelet's configuration with authentication by the cluster's authority and authorization by the API server."""
    member = _MEMBER.format(authority=AUTHORITY[layout])
    if member in text:
        return text
    if ALONE not in text:
        raise LabError(
            f"{CONFIG[layout]} has other settings of authentication than the lab wrote: "
            "join the node before you change them"
        )
    return text.replace(ALONE, member)


def environment(text: str, layout: Layout) -> str:
    """The file of ``ENVIRONMENT`` with the flag that names the kubeconfig."""
    before = _BEFORE_FLAG[layout]
    if _FLAG in text:
        return text
    if before not in text:
        raise LabError(
            f"{ENVIRONMENT[layout]} has no {before}, which the lab wrote: take the node down and start it again"
        )
    return text.replace(before, f"{before}{_FLAG} ", 1)


def service_unit(service: str, server: str) -> str:
    """A unit that redirects connections for ``service``, ADDRESS:PORT, to ``server``."""
    address, port = service.split(":")
    match = f"OUTPUT -p tcp -d {address} --dport {port} -j DNAT --to-destination {server}"
    return _SERVICE_UNIT.format(rule=f"-I {match}", undo=f"-D {match}")
