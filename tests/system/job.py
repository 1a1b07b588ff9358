# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pod of a Job whose work is done the moment the next transaction has begun; made again, it ends at once."""

from __future__ import annotations

from .node import Node

NAME = "job"
MANIFEST = f"/etc/kubernetes/manifests/{NAME}.yaml"
DROP_IN = "/etc/systemd/system/kubelet.service.d/slow.conf"
FOLDER = f"/var/lib/{NAME}"
JOURNALS = "/var/lib/volcano-colocation/transactions"
COUNT = f"set -- {JOURNALS}/*/journal.json"
SCRIPT = (
    f"[ -e {FOLDER}/seen ] && exit; touch {FOLDER}/seen; {COUNT}; n=$#; while [ $# = $n ]; do sleep 0.1; {COUNT}; done"
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
    - {{name: work, mountPath: {FOLDER}}}
    - {{name: journals, mountPath: {JOURNALS}}}
  volumes:
  - name: journals
    hostPath: {{path: {JOURNALS}, type: Directory}}
  - name: work
    hostPath: {{path: {FOLDER}, type: DirectoryOrCreate}}
"""


def start(node: Node) -> None:
    """Up to where it works. There has to have been a transaction. kubelet takes longer to stop than the pod to end."""
    node.shell(f"mkdir -p $(dirname {DROP_IN})")
    node.write(DROP_IN, "[Service]\nExecStopPost=/bin/sleep 5\n")
    node.shell("systemctl daemon-reload")
    node.write(MANIFEST, POD)
    node.shell(f"for i in $(seq 120); do [ -e {FOLDER}/seen ] && exit; sleep 1; done; exit 1")


def remove(node: Node) -> None:
    node.shell(f"rm -rf {MANIFEST} {FOLDER} {DROP_IN}; systemctl daemon-reload")
