# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts of the files on a node, from what it is asked to be."""

from __future__ import annotations

from dataclasses import dataclass

from . import kubelet_files, pods
from .kubelet_files import Version
from .spec import Driver, NodeSpec, Nri

PAUSE_IMAGES = ("registry.k8s.io/pause:3.6", "registry.k8s.io/pause:3.8", "registry.k8s.io/pause:3.10")
"""Sandbox images that containerd 1.6, 1.7 and 2 ask for."""

_SYSTEMD_CGROUP = """\
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = true
"""

_NRI = """\
  [plugins."io.containerd.nri.v1.nri"]
    disable = {disable}
"""


@dataclass(frozen=True)
class Identity:
    """What no other node has; ``key`` is the public key that may log in."""

    address: str
    resolver: str
    machine_id: str
    key: str


def containerd_config(spec: NodeSpec, packaged: str) -> str:
    """Debian's own file, with tables for what differs from containerd's defaults."""
    text = packaged if packaged.endswith("\n") else packaged + "\n"
    if spec.runtime_driver is Driver.SYSTEMD:
        text += _SYSTEMD_CGROUP
    if spec.nri is not spec.suite.nri:
        text += _NRI.format(disable="true" if spec.nri is Nri.OFF else "false")
    return text


def fixed_files(spec: NodeSpec, packaged: str, kubelet: Version | None) -> dict[str, str]:
    """Absolute path to text of what every node of this specification has, an image of it too; no kubelet is None."""
    texts = {"/etc/containerd/config.toml": containerd_config(spec, packaged)}
    if kubelet:
        texts.update(kubelet_files.fixed_files(spec, kubelet))
        texts.update({f"/etc/kubernetes/manifests/{name}.yaml": pods.pod(name) for name in pods.QOS_CLASSES})
    else:
        texts["/etc/lab/pods.json"] = pods.over_cri(spec)
    return texts


def own_files(spec: NodeSpec, identity: Identity, kubelet: Version | None) -> dict[str, str]:
    """Absolute path to text of what makes this node this node."""
    address = identity.address
    return {
        "/etc/hostname": f"{spec.name}\n",
        "/etc/hosts": f"127.0.0.1 localhost\n{address} {spec.name}\n",
        "/etc/machine-id": f"{identity.machine_id}\n",
        "/etc/resolv.conf": f"nameserver {identity.resolver}\n",
        "/etc/ssh/lab_authorized_keys": f"{identity.key.strip()}\n",
        **(kubelet_files.own_files(spec, kubelet, address) if kubelet else {}),
    }


def links(spec: NodeSpec, kubelet: Version | None) -> dict[str, str]:
    """Absolute path to target of the symbolic links that ``fixed_files`` needs."""
    return kubelet_files.links(spec.layout) if kubelet else {}
