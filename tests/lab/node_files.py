# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts of the files on a node, from its specification."""

from __future__ import annotations

from dataclasses import dataclass

from . import kubelet_files, pods
from .errors import LabError
from .kubelet_files import Version
from .spec import DEBIAN_CONTAINERD, Driver, NodeSpec, Nri, default_nri
from .toml_edit import has_table, set_value

PAUSE_IMAGES = ("registry.k8s.io/pause:3.6", "registry.k8s.io/pause:3.8", "registry.k8s.io/pause:3.10")
"""Default sandbox images of Debian's containerd 1.6, 1.7 and 2.1."""

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


_RUNC = ("containerd", "runtimes", "runc", "options")
_RUNC_OPTIONS = (
    ("plugins", "io.containerd.cri.v1.runtime", *_RUNC),
    ("plugins", "io.containerd.grpc.v1.cri", *_RUNC),
)
"""The first name of the CRI plugin is that of schema 3 (containerd 2.0) and later."""

_NRI_TABLE = ("plugins", "io.containerd.nri.v1.nri")


@dataclass(frozen=True)
class Identity:
    """The values that are unique to a node; ``key`` is the public key that may log in."""

    address: str
    resolver: str
    machine_id: str
    key: str


def containerd_config(spec: NodeSpec, packaged: str) -> str:
    """containerd's configuration: Debian's with tables added, or another containerd's defaults with values set."""
    return _append_tables(spec, packaged) if spec.containerd == DEBIAN_CONTAINERD else _edit_values(spec, packaged)


def _append_tables(spec: NodeSpec, packaged: str) -> str:
    text = packaged if packaged.endswith("\n") else packaged + "\n"
    if spec.runtime_driver is Driver.SYSTEMD:
        text += _SYSTEMD_CGROUP
    if spec.nri is not default_nri(spec.suite, spec.containerd):
        text += _NRI.format(disable="true" if spec.nri is Nri.OFF else "false")
    return text


def _edit_values(spec: NodeSpec, printed: str) -> str:
    runc = next((table for table in _RUNC_OPTIONS if has_table(printed, table)), None)
    if not runc:
        raise LabError(
            "`containerd config default` prints no options of runc: the lab does not support this containerd"
        )
    text = set_value(printed, runc, "SystemdCgroup", _toml(spec.runtime_driver is Driver.SYSTEMD))
    if has_table(text, _NRI_TABLE):
        return set_value(text, _NRI_TABLE, "disable", _toml(spec.nri is Nri.OFF))
    if spec.nri is Nri.ON:
        raise LabError(f"the containerd of node {spec.name} has no NRI: omit --nri on")
    return text


def _toml(value: bool) -> str:
    return "true" if value else "false"


def fixed_files(spec: NodeSpec, packaged: str, kubelet: Version | None) -> dict[str, str]:
    """Absolute path to text of the files on every node of this specification and in its image."""
    texts = {"/etc/containerd/config.toml": containerd_config(spec, packaged)}
    if kubelet:
        texts.update(kubelet_files.fixed_files(spec, kubelet))
        texts.update({f"/etc/kubernetes/manifests/{name}.yaml": pods.pod(name) for name in pods.QOS_CLASSES})
    else:
        texts["/etc/lab/pods.json"] = pods.over_cri(spec)
    return texts


def own_files(spec: NodeSpec, identity: Identity, kubelet: Version | None) -> dict[str, str]:
    """Absolute path to text of the files with this node's identity."""
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
