# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts of the files on a node, from what it is asked to be."""

from __future__ import annotations

from .spec import CgroupMode, CpuManager, Driver, NodeSpec, Nri

ENDPOINT = "unix:///run/containerd/containerd.sock"
BUSYBOX_IMAGE = "localhost/lab/busybox:1"
PAUSE_IMAGES = ("registry.k8s.io/pause:3.6", "registry.k8s.io/pause:3.8", "registry.k8s.io/pause:3.10")
"""Sandbox images that containerd 1.6, 1.7 and 2 ask for."""

QOS_CLASSES = ("guaranteed", "burstable", "besteffort")

_KUBELET_UNIT = """\
[Unit]
Description=kubelet: The Kubernetes Node Agent
Documentation=https://kubernetes.io/docs/
Wants=containerd.service
After=containerd.service
StartLimitIntervalSec=0

[Service]
EnvironmentFile=-/etc/default/kubelet
ExecStart=/usr/bin/kubelet --config=/var/lib/kubelet/config.yaml {runtime} $KUBELET_EXTRA_ARGS
Restart=always
RestartSec=5

[Install]
WantedBy=multi-user.target
"""

_KUBELET_CONFIG = """\
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
# This node has no API server: what runs on it are the manifests in staticPodPath.
authentication:
  anonymous:
    enabled: false
  webhook:
    enabled: false
authorization:
  mode: AlwaysAllow
cgroupDriver: {driver}  # has to be the driver of the container runtime
clusterDNS:
- 10.96.0.10
clusterDomain: cluster.local
containerLogMaxSize: 5Mi
cpuManagerPolicy: {cpu_manager}
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

_POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: {name}
  namespace: default
  labels:
    lab: {name}
spec:
  automountServiceAccountToken: false
  hostNetwork: true
  terminationGracePeriodSeconds: 2
  containers:
  - name: main
    image: {image}
    imagePullPolicy: Never
    # Leaves at once when it is stopped: the first process of a container ignores signals it has no handler for.
    command: ["/bin/sh", "-c", "trap 'exit 0' TERM INT; while :; do sleep 3600 & wait $!; done"]
{resources}"""

_RESOURCES = {
    "guaranteed": """\
    resources:
      requests: {cpu: "1", memory: 64Mi}
      limits: {cpu: "1", memory: 64Mi}
""",
    "burstable": """\
    resources:
      requests: {cpu: 100m, memory: 32Mi}
      limits: {cpu: 500m, memory: 128Mi}
""",
    "besteffort": "",
}

_SYSTEMD_CGROUP = """\
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = true
"""

_NRI = """\
  [plugins."io.containerd.nri.v1.nri"]
    disable = false
"""


def kubelet_unit(version: tuple[int, int]) -> str:
    """The unit file. ``--container-runtime`` was removed in 1.27 and is needed before 1.24 (its default was docker)."""
    runtime = f"--container-runtime-endpoint={ENDPOINT}"
    if version < (1, 24):
        runtime = f"--container-runtime=remote {runtime}"
    return _KUBELET_UNIT.format(runtime=runtime)


def kubelet_flags(spec: NodeSpec, address: str) -> list[str]:
    """Flags of this node. By default cAdvisor reads every cgroup each 10 s, a third of an emulated kubelet's time."""
    return [f"--hostname-override={spec.name}", f"--node-ip={address}", "--housekeeping-interval=30s"]


def kubelet_config(spec: NodeSpec, version: tuple[int, int]) -> str:
    """``/var/lib/kubelet/config.yaml``."""
    text = _KUBELET_CONFIG.format(driver=spec.kubelet_driver.value, cpu_manager=spec.cpu_manager.value)
    if spec.cpu_manager is CpuManager.STATIC:
        text += _STATIC_RESERVATION
    if spec.cgroup is CgroupMode.V1 and version >= (1, 31):
        # The field came with 1.31 and defaults to true from 1.35 on (KEP-5573).
        text += "failCgroupV1: false\n"
    return text


def containerd_config(spec: NodeSpec, packaged: str) -> str:
    """Debian's own file, with tables for what differs from containerd's defaults."""
    text = packaged if packaged.endswith("\n") else packaged + "\n"
    if spec.runtime_driver is Driver.SYSTEMD:
        text += _SYSTEMD_CGROUP
    if spec.nri is Nri.ON:
        text += _NRI
    return text


def pod(qos_class: str) -> str:
    """Manifest of the static pod of a QoS class."""
    return _POD.format(name=qos_class, image=BUSYBOX_IMAGE, resources=_RESOURCES[qos_class])


def files(
    spec: NodeSpec, address: str, resolver: str, machine_id: str, key: str, packaged: str, version: tuple[int, int]
) -> dict[str, bytes]:
    """Absolute path to content of everything that makes this node this node; written once, at its first boot."""
    texts = {
        "/etc/containerd/config.toml": containerd_config(spec, packaged),
        "/etc/default/kubelet": f"KUBELET_EXTRA_ARGS={' '.join(kubelet_flags(spec, address))}\n",
        "/etc/hostname": f"{spec.name}\n",
        "/etc/hosts": f"127.0.0.1 localhost\n{address} {spec.name}\n",
        "/etc/machine-id": f"{machine_id}\n",
        "/etc/resolv.conf": f"nameserver {resolver}\n",
        "/etc/ssh/lab_authorized_keys": f"{key.strip()}\n",
        "/var/lib/kubelet/config.yaml": kubelet_config(spec, version),
    }
    texts.update({f"/etc/kubernetes/manifests/{name}.yaml": pod(name) for name in QOS_CLASSES})
    return {path: text.encode() for path, text in texts.items()}
