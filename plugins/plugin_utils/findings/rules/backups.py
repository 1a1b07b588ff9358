# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about backups in folders where each file counts: whoever reads the folder cannot tell them from the real."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.node_state import NodeFacts
from ..model import Effect, Finding, Rule, Severity

BACKUPS = (
    "~",
    ".bak",
    ".backup",
    ".orig",
    ".old",
    ".save",
    ".swp",
    ".rpmsave",
    ".rpmorig",
    ".rpmnew",
    ".dpkg-old",
    ".dpkg-dist",
    ".dpkg-new",
)


def nri_backup(facts: NodeFacts) -> Iterator[Finding]:
    found = tuple(name for name in facts.writers.nri_plugins if name.endswith(BACKUPS))
    if found:
        yield Finding(
            "nri-backup-is-run",
            Severity.WARNING,
            Effect.LATENT,
            "A backup lies in NRI's plugin folder: the runtime starts every executable file there.",
            tuple(f"/opt/nri/plugins/{name}" for name in found),
            "Move it out of the folder before the runtime restarts.",
        )


def static_pod_backup(facts: NodeFacts) -> Iterator[Finding]:
    """kubernetes pkg/kubelet/config/file.go and file_linux.go: only a name that begins with a dot is passed over."""
    found = tuple(path for path in facts.kubelet.static_pods or () if path.endswith(BACKUPS))
    if found:
        yield Finding(
            "static-pod-backup-is-run",
            Severity.WARNING,
            Effect.LATENT,
            "A backup lies in kubelet's folder of static pods: kubelet takes every file there for a pod.",
            found,
            "Move it out of the folder; kubelet stops the pod that only the backup describes.",
        )


def _stem(path: str) -> str:
    """kubelet takes a name that ends in .conf, and nothing else; CRI-O takes any."""
    return path.removesuffix(".conf")


def dropin_backup(facts: NodeFacts) -> Iterator[Finding]:
    """cri-o pkg/config/config.go, UpdateFromPath; kubernetes cmd/kubelet/app/server.go, mergeKubeletConfigurations."""
    of_runtime = facts.runtime.layers[1:] if facts.runtime.name == "cri-o" else ()
    paths = [each.path for each in (*facts.kubelet.dropins, *of_runtime) if each.kind != "missing"]
    found = tuple(path for path in paths if _stem(path).endswith(BACKUPS))
    if found:
        yield Finding(
            "dropin-backup-is-read",
            Severity.WARNING,
            Effect.NONE,
            "A backup lies in a folder of drop-ins, and is read after the file that it is a backup of.",
            found,
            "Move it out of the folder, and see whether a value in force came from it.",
        )


RULES: tuple[Rule, ...] = (
    nri_backup,
    static_pod_backup,
    dropin_backup,
)
