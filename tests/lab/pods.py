# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pods of every node, one of each QoS class: static pods of kubelet, or CRI pods without kubelet."""

from __future__ import annotations

import json

from .spec import NodeSpec

BUSYBOX_IMAGE = "localhost/lab/busybox:1"
QOS_CLASSES = ("guaranteed", "burstable", "besteffort")

# Exits immediately on SIGTERM: the first process of a container ignores signals without a handler.
_SCRIPT = "trap 'exit 0' TERM INT; while :; do sleep 3600 & wait $!; done"

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
    command: ["/bin/sh", "-c", "{script}"]
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
      limits: {memory: 128Mi}
""",
    "besteffort": "",
}

_CRI_RESOURCES = {
    "guaranteed": {"cpu_period": 100000, "cpu_quota": 100000, "cpu_shares": 1024, "memory_limit": 64 << 20},
    "burstable": {"cpu_period": 100000, "cpu_quota": 0, "cpu_shares": 102, "memory_limit": 128 << 20},
    "besteffort": {"cpu_period": 100000, "cpu_quota": 0, "cpu_shares": 2, "memory_limit": 0},
}
"""The same requests and limits as kubelet passes them to the runtime (pkg/kubelet/cm/helpers_linux.go)."""


def pod(qos_class: str) -> str:
    """Manifest of the static pod of a QoS class."""
    return _POD.format(name=qos_class, image=BUSYBOX_IMAGE, script=_SCRIPT, resources=_RESOURCES[qos_class])


def over_cri(spec: NodeSpec) -> str:
    """``/etc/lab/pods.json``: the same pods for guest/pods.py, which replaces kubelet."""
    command = ["/bin/sh", "-c", _SCRIPT]
    pods = [{"name": name, "image": BUSYBOX_IMAGE, "command": command, **_CRI_RESOURCES[name]} for name in QOS_CLASSES]
    return json.dumps({"driver": spec.kubelet_driver.value, "pods": pods}, indent=1) + "\n"
