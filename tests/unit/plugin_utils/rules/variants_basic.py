# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Variants of a real node on which the rules about drivers, configuration files, checkpoints and records fire."""

from __future__ import annotations

from collections.abc import Callable

from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.rule_types import Verdict
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    KUBELET_FILE,
    Snapshot,
    checkpoint,
    kubelet_edit,
    put,
    running_handlers,
    runtime_edit,
    runtime_text,
    stopped_kubelet,
)

ID = "0123456789abcdef" * 4
HANDLERS = "".join(
    f'[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.{name}.options]\nSystemdCgroup = {value}\n'
    for name, value in (("runc", "true"), ("nvidia", "false"))
)

STATE = "/var/lib/volcano-colocation"
RECORDS = [
    {"record": "journal", "file": f"{STATE}/transactions/t-1/journal.json", "message": "it is damaged", "remedy": "a"},
    {"record": "settings", "file": f"{STATE}/qos.json", "message": "it has schema 2", "remedy": ""},
]
VARIANTS: dict[str, tuple[Verdict, Callable[[Snapshot], Snapshot]]] = {
    "cgroup-mode-unknown": (Verdict.UNKNOWN, lambda node: put(node, [], "cgroups", "mountinfo")),
    "pid1-not-systemd": (Verdict.UNSUPPORTED, lambda node: put(node, "tini", "system", "pid1")),
    "not-installed": (Verdict.UNSUPPORTED, lambda node: put(node, None, "runtime", "program")),
    "config-unreadable": (Verdict.UNKNOWN, lambda node: runtime_text(node, "version = \n")),
    "kubelet-driver-unknown": (
        Verdict.UNKNOWN,
        lambda node: kubelet_edit(node, "cgroupDriver: systemd", "cgroupDriver: Systemd"),
    ),
    "unfinished-transaction": (
        Verdict.MISALIGNED,
        lambda node: put(node, ["20261121T013455-1a2b3c4d"], "unfinished_transactions"),
    ),
    "record-unreadable": (Verdict.UNKNOWN, lambda node: put(node, RECORDS, "record_problems")),
    "runtime-not-answering": (
        Verdict.UNKNOWN,
        lambda node: put(node, {"endpoint": "unix:///x.sock", "error": "refused"}, "runtime", "cri"),
    ),
    "kubelet-unhealthy": (Verdict.MISALIGNED, stopped_kubelet),
    "runtime-handlers-disagree": (Verdict.MISALIGNED, lambda node: runtime_text(node, f"version = 2\n{HANDLERS}")),
    "driver-mismatch": (
        Verdict.MISALIGNED,
        lambda node: running_handlers(runtime_edit(node, "SystemdCgroup = true", "SystemdCgroup = false"), runc=False),
    ),
    "containers-misplaced": (
        Verdict.MISALIGNED,
        lambda node: put(node, {f"0::/system.slice/kubepods-pod1.slice:cri-containerd:{ID}": 1}, "containers"),
    ),
    "containers-of-other-driver": (
        Verdict.MISALIGNED,
        lambda node: put(node, {f"0::/kubepods/burstable/pod1/{ID}": 1}, "containers"),
    ),
    "runtime-restart-changes-driver": (
        Verdict.LATENT,
        lambda node: runtime_edit(node, "SystemdCgroup = true", "SystemdCgroup = false"),
    ),
    "kubelet-config-changed-after-start": (
        Verdict.LATENT,
        lambda node: put(node, 4e9, "kubelet", "files", KUBELET_FILE, "ctime"),
    ),
    "checkpoint-unreadable": (Verdict.LATENT, lambda node: checkpoint(node, "{")),
    "checkpoint-policy-differs": (Verdict.LATENT, lambda node: checkpoint(node, '{"policyName":"none"}')),
    "checkpoint-cpus-differ": (Verdict.LATENT, lambda node: put(node, "0-3", "cpus", "online")),
}
