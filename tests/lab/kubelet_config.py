# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The text of kubelet's configuration file on a node."""

from __future__ import annotations

from .spec import CgroupMode, CpuManager, Layout, NodeSpec

ALONE = """\
# This node has no API server: what runs on it are the manifests in staticPodPath.
authentication:
  anonymous:
    enabled: false
  webhook:
    enabled: false
authorization:
  mode: AlwaysAllow
"""
"""The settings that joining a cluster replaces."""

_KUBELET_CONFIG = """\
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
{alone}\
cgroupDriver: {driver}  # has to be the driver of the container runtime
clusterDNS:
- 10.96.0.10
clusterDomain: cluster.local
containerLogMaxSize: 5Mi
cpuManagerPolicy: {cpu_manager}
# An idle emulated node took a quarter less CPU time with it than with the default of 10 s.
cpuManagerReconcilePeriod: 60s
evictionHard:
  memory.available: 64Mi
  nodefs.available: 2%
  imagefs.available: 2%
failSwapOn: false
healthzBindAddress: 127.0.0.1
healthzPort: 10248
imageMinimumGCAge: 0s
nodeStatusUpdateFrequency: 0s
rotateCertificates: false
staticPodPath: /etc/kubernetes/manifests
streamingConnectionIdleTimeout: 0s
# Changes of the manifests are noticed within this time.
fileCheckFrequency: 5s
syncFrequency: 0s
"""

_STATIC_RESERVATION = """\
# The static CPU manager refuses to start without a reservation.
systemReserved:
  cpu: 500m
"""

# kubespray, roles/kubernetes/node/templates/kubelet-config.v1beta1.yaml.j2
_KUBESPRAY_FIELDS = """\
enforceNodeAllocatable:
- pods
maxPods: 110
readOnlyPort: 0
kubeletCgroups: /system.slice/kubelet.service
kubeReserved:
  cpu: "100m"
  memory: "256Mi"
resolvConf: "/etc/resolv.conf"
eventRecordQPS: 50
"""


def kubelet_config(spec: NodeSpec, version: tuple[int, int]) -> str:
    """A KubeletConfiguration for a kubelet of this version."""
    text = _KUBELET_CONFIG.format(alone=ALONE, driver=spec.kubelet_driver.value, cpu_manager=spec.cpu_manager.value)
    if spec.layout is Layout.KUBESPRAY:
        text += _KUBESPRAY_FIELDS
    if spec.cpu_manager is CpuManager.STATIC:
        text += _STATIC_RESERVATION
    if spec.cgroup is not CgroupMode.V2 and version >= (1, 31):
        # The field was added in 1.31 and defaults to true from 1.35 on (KEP-5573).
        text += "failCgroupV1: false\n"
    return text
