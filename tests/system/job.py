# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pod of a Job that ends when the next transaction begins; if created again, it ends immediately."""

from __future__ import annotations

from .node import Node

NAME = "job"
MANIFEST = f"/etc/kubernetes/manifests/{NAME}.yaml"
DROP_IN = "/etc/systemd/system/kubelet.service.d/slow.conf"
DIRECTORY = f"/var/lib/{NAME}"
JOURNALS = "/var/lib/volcano-colocation/transactions"
COUNT = f"set -- {JOURNALS}/*/journal.json"
SCRIPT = (
    f"[ -e {DIRECTORY}/seen ] && exit; touch {DIRECTORY}/seen; {COUNT}; n=$#;"
    f" while [ $# = $n ]; do sleep 0.1; {COUNT}; done"
)
POD = f"""\
apiVersion: v1
kind: Pod
metadata:
  name: {NAME}
  namespace: default
  labels:
    job-name: {NAME}
spec:
  automountServiceAccountToken: false
  hostNetwork: true
  restartPolicy: OnFailure
  terminationGracePeriodSeconds: 2
  containers:
  - name: main
    image: localhost/lab/busybox:1
    imagePullPolicy: Never
    command: ["/bin/sh", "-c", "{SCRIPT}"]
    volumeMounts:
    - {{name: work, mountPath: {DIRECTORY}}}
    - {{name: journals, mountPath: {JOURNALS}}}
  volumes:
  - name: journals
    hostPath: {{path: {JOURNALS}, type: Directory}}
  - name: work
    hostPath: {{path: {DIRECTORY}, type: DirectoryOrCreate}}
"""


def start(node: Node) -> None:
    """Start the pod and wait until it runs; needs an earlier transaction. kubelet stops slower than the pod ends."""
    node.shell(f"mkdir -p $(dirname {DROP_IN})")
    node.write(DROP_IN, "[Service]\nExecStopPost=/bin/sleep 5\n")
    node.shell("systemctl daemon-reload")
    node.write(MANIFEST, POD)
    node.shell(f"for i in $(seq 120); do [ -e {DIRECTORY}/seen ] && exit; sleep 1; done; exit 1")


def remove(node: Node) -> None:
    node.shell(f"rm -rf {MANIFEST} {DIRECTORY} {DROP_IN}; systemctl daemon-reload")
