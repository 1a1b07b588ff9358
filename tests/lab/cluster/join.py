# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Joining running nodes to the control plane."""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Sequence

from .. import nodes
from ..base_files import archive
from ..errors import LabError
from ..kubelet_files import CONFIG
from ..progress import Progress
from ..store import Node
from . import control_plane, kubeadm, membership
from .components import API_SERVICE
from .store import ControlPlane

TIMEOUT = 300.0


def join(plane: ControlPlane, names: Sequence[str]) -> None:
    """Join nodes and wait until each is ready; a node that has joined before gets its files again."""
    members = [_check_member(plane, nodes.running(name)) for name in names]
    progress = {node.name: Progress(node.name) for node in members}
    for node in members:
        _make_member(plane, node, progress[node.name])
    for node in members:
        _await_ready(plane, node, progress[node.name])


def too_new(kubelet: str, server: str) -> bool:
    """No kubelet may be newer than its API server (https://kubernetes.io/releases/version-skew-policy/#kubelet)."""
    return _minor(kubelet) > _minor(server)


def _minor(release: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", release)[:2])


def _check_member(plane: ControlPlane, node: Node) -> Node:
    if not node.kubelet_release:
        raise LabError(f"node {node.name} has no kubelet and cannot join")
    if too_new(node.kubelet_release, plane.release):
        raise LabError(
            f"the kubelet of node {node.name} ({node.kubelet_release}) is newer than the API server ({plane.release})"
        )
    return node


def _make_member(plane: ControlPlane, node: Node, progress: Progress) -> None:
    layout, connection = node.spec.layout, node.connection
    secret = kubeadm.kubeconfig(plane, f"system:node:{node.name}", "system:nodes", node.gateway)
    texts = {
        membership.AUTHORITY[layout]: (plane.pki / "ca.crt").read_text(),
        membership.SERVICE_UNIT: membership.service_unit(API_SERVICE, f"{node.gateway}:{plane.ports.api}"),
        CONFIG[layout]: membership.config(connection.run(f"cat {CONFIG[layout]}"), layout),
    }
    if layout in membership.ENVIRONMENT:
        path = membership.ENVIRONMENT[layout]
        texts[path] = membership.environment(connection.run(f"cat {path}"), layout)
    unit = membership.SERVICE_UNIT.rpartition("/")[2]
    links = {f"/etc/systemd/system/multi-user.target.wants/{unit}": membership.SERVICE_UNIT}
    files = archive(texts, links, [(membership.KUBECONFIG, secret.encode(), 0o600)])
    steps = [
        "base64 --decode | tar --extract --directory=/ --no-same-owner",
        *(f"rm -f {path}" for path in membership.REMOVED[layout]),
        "systemctl daemon-reload",
        f"systemctl restart {unit} kubelet.service",
    ]
    progress.say("joining: writing kubelet's kubeconfig and restarting kubelet")
    for line in connection.lines(" && ".join(["set -o pipefail", *steps]), base64.encodebytes(files).decode()):
        progress.say(line)


def _await_ready(plane: ControlPlane, node: Node, progress: Progress) -> None:
    deadline = time.monotonic() + TIMEOUT
    with progress.repeated("waiting until the API server reports it as ready"):
        while not _is_ready(plane, node):
            if time.monotonic() > deadline:
                raise LabError(f"node {node.name} is not ready after {TIMEOUT:.0f} s (see: journal {node.name})")
            time.sleep(1)
    progress.say("ready in the cluster")


def _is_ready(plane: ControlPlane, node: Node) -> bool:
    """True when the Node is ready and its status is from this boot, not from an earlier node of the same name."""
    output = control_plane.kubectl(plane, "get", "node", node.name, "--ignore-not-found", "--output=json")
    if not output:
        return False
    item = json.loads(output)
    same_boot = item["status"]["nodeInfo"]["bootID"] == node.boot_id or not node.boot_id
    return same_boot and control_plane.is_ready(item)
