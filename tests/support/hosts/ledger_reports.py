# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ledger reports of a provisioned node, built from two snapshots of one node: before and after."""

from __future__ import annotations

from typing import Any

from ansible_collections.volcano.colocation.plugins.plugin_utils.restore.ledger_evidence import Evidence, read_evidence
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    CHECKPOINT,
    DIFFERING,
    KUBELET_FILE,
    RUNTIME_FILE,
    Snapshot,
    captured,
)

NOTHING: dict[str, Any] = {
    "schema": 1,
    "unfinished": [],
    "unsettled": [],
    "without_ledger": [],
    "targets": [],
    "slices": {"slices": [], "strays": []},
    "qos": {"changed": False, "settings": [], "gone": [], "unit": None, "before": "", "after": "", "error": None},
    "removable": [],
    "kept": {},
    "snapshot": None,
}
QOS: dict[str, Any] = {
    "changed": True,
    "settings": [
        {
            "cgroup": "kubepods.slice/kubepods-besteffort.slice",
            "knob": "cpu_quota",
            "before": "2500m",
            "after": "max",
            "backend": "dbus",
            "changed": True,
            "cause": "",
        }
    ],
    "gone": [],
    "unit": "volcano-colocation-qos.service",
    "before": "kubepods.slice/kubepods-besteffort.slice cpu_quota: 2500m\n",
    "after": "kubepods.slice/kubepods-besteffort.slice cpu_quota: max\n",
    "error": None,
}


def content(text: str | None, **other: Any) -> dict[str, Any] | None:
    return None if text is None else {"text": text, "mode": "0644", "owner": "0:0", "xattrs": {}, **other}


def target(path: str, section: str, original: str | None, now: str | None, **other: Any) -> dict[str, Any]:
    """Return a target whose file is unchanged since the commit."""
    return {
        "path": path,
        "section": section,
        "kind": "file",
        "original": content(original),
        "committed": content(now),
        "found": content(now),
        "standing": "committed",
        "original_file": "/var/lib/volcano-colocation/originals/abc",
        "first": "t-1",
        "last": "t-2",
        "earlier": [],
        "error": None,
        **other,
    }


def kubelet_file(now: Snapshot, original: Snapshot, **other: Any) -> dict[str, Any]:
    return target(KUBELET_FILE, "kubelet", _text(original, "kubelet"), _text(now, "kubelet"), **other)


def runtime_file(now: Snapshot, original: Snapshot, **other: Any) -> dict[str, Any]:
    return target(RUNTIME_FILE, "runtime", _text(original, "runtime"), _text(now, "runtime"), **other)


def checkpoint() -> dict[str, Any]:
    return target(
        CHECKPOINT, "kubelet", '{"policyName":"none"}', '{"policyName":"static"}', kind="checkpoint", committed=None
    )


def evidence(*targets: dict[str, Any], **other: Any) -> Evidence:
    """The evidence of an aligned node with these targets."""
    return read_evidence({**NOTHING, "targets": list(targets), "snapshot": captured(ALIGNED), **other})


def provisioned(**other: Any) -> Evidence:
    """Return the evidence of the aligned node, whose originals are those of the misaligned node."""
    now, original = captured(ALIGNED), captured(DIFFERING)
    removable = ["/var/lib/volcano-colocation", "/usr/local/lib/volcano-colocation"]
    targets = (kubelet_file(now, original), runtime_file(now, original), checkpoint())
    return evidence(*targets, **{"removable": removable, **other})


def _text(snapshot: Snapshot, side: str) -> str:
    path = KUBELET_FILE if side == "kubelet" else RUNTIME_FILE
    return str(snapshot[side]["files"][path]["text"])
