# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of a node before and after, for tests of the fault injection."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.volcano.colocation.tests.faults.picture import Picture

KUBELET = "/var/lib/kubelet/config.yaml"
CHECKPOINT = "/var/lib/kubelet/cpu_manager_state"
DROP_IN = "/etc/containerd/conf.d/colocation.toml"

BEFORE = Picture(
    files={"/etc/hosts": "-rw-r--r-- 0:0 aa", KUBELET: "-rw------- 0:7 bb", CHECKPOINT: "-rw------- 0:0 cc"},
    checkpoints={"cpu_manager_state": "none", "memory_manager_state": "None"},
    units={"kubelet.service": "ActiveState=active"},
    pods=("/kubepods/besteffort/pod1/ID", "/kubepods/besteffort/pod1/ID"),
    managed=(),
    unfinished=(),
    planned={},
)
SYSTEMD = "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod1.slice/cri-containerd-ID.scope"
COMMITTED = replace(
    BEFORE,
    files={
        "/etc/hosts": "-rw-r--r-- 0:0 aa",
        KUBELET: "-rw------- 0:7 dd",
        CHECKPOINT: "-rw------- 0:0 ee",
        DROP_IN: "-rw-r--r-- 0:0 ff",
    },
    checkpoints={"cpu_manager_state": "static", "memory_manager_state": "None"},
    pods=(SYSTEMD, SYSTEMD),
    planned={KUBELET: "dd", DROP_IN: "ff"},
)
