# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters and hosts of a play, as plans of a cluster's kubelet-config see them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.identity import ClusterNode
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.objects import ConfigMap
from ansible_collections.volcano.colocation.plugins.plugin_utils.kubeadm.kubelet_config_journal import (
    KubeadmState,
    KubeletConfigJournal,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.kubeadm.play_hosts import PlayHost

DRIVER, CPU = ("cgroupDriver",), ("systemReserved", "cpu")
DESIRED: Mapping[tuple[str, ...], Any] = {DRIVER: "systemd", CPU: "500m"}
# As kubeadm 1.20 writes it, with a comment that a user added.
TEXT = """apiVersion: kubelet.config.k8s.io/v1beta1
authentication:
  x509:
    clientCAFile: /etc/kubernetes/pki/ca.crt
cgroupDriver: cgroupfs   # ask Ada before you change this
clusterDNS:
- 10.96.0.10
kind: KubeletConfiguration
rotateCertificates: true
"""
WRITTEN = """apiVersion: kubelet.config.k8s.io/v1beta1
authentication:
  x509:
    clientCAFile: /etc/kubernetes/pki/ca.crt
# ask Ada before you change this
cgroupDriver: systemd
clusterDNS:
- 10.96.0.10
kind: KubeletConfiguration
rotateCertificates: true
systemReserved:
  cpu: 500m
"""


def host(name: str, **different: Any) -> PlayHost:
    """Return a host that matches the Node of its name and has the values of the profile."""
    known = PlayHost(name, (name,), sha256(f"machine-{name}"), f"boot-{name}", True, True, DESIRED)
    return replace(known, **different)


def node(name: str, **different: Any) -> ClusterNode:
    return replace(ClusterNode(name, f"machine-{name}", f"boot-{name}", (1, 30)), **different)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def config_map(text: str = TEXT, version: str = "1", name: str = "kubelet-config") -> ConfigMap:
    return ConfigMap(name, {"kubelet": text}, version, "kube-system")


def kubeadm_state(
    *names: str, stored: ConfigMap | None = None, journal: KubeletConfigJournal | None = None
) -> KubeadmState:
    return KubeadmState(tuple(node(name) for name in names), stored or config_map(), journal)
