# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said of a cluster's kubelet-config, which no node alone can tell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from .model import Effect, Finding, Severity

WRITE = (
    "Let the play have every node of the cluster with the same profile, or set colocation_kubeadm_edit_configmap to"
    " true to write it all the same, or colocation_kubeadm_patches for patches of each node's own."
)


def published(found: Iterable[Finding]) -> list[dict[str, Any]]:
    """As they stand in a result."""
    return [{**asdict(each), "link": each.link} for each in found]


def differs(place: str, values: Sequence[str], reasons: Sequence[str]) -> tuple[Finding, ...]:
    return (
        Finding(
            "kubeadm-config-differs",
            Severity.WARNING,
            Effect.NONE,
            f"{place} says otherwise than the profile; the next kubeadm upgrade of a node brings its values.",
            (*values, *(f"not written, {each}" for each in reasons)),
            WRITE,
        ),
    )


def uneven(place: str, keys: Sequence[Sequence[str]]) -> tuple[Finding, ...]:
    if not keys:
        return ()
    return (
        Finding(
            "kubeadm-config-conflicting",
            Severity.INFO,
            Effect.NONE,
            f"The hosts want different values of some fields, which {place} has no place for.",
            tuple(".".join(each) for each in keys),
            "Set colocation_kubeadm_patches, so that kubeadm keeps them for each node by itself.",
        ),
    )


def missing() -> tuple[Finding, ...]:
    return (
        Finding(
            "kubeadm-config-missing",
            Severity.INFO,
            Effect.NONE,
            "Hosts of the play look like kubeadm's, and their cluster has no kubelet-config in kube-system.",
            (),
            "Look at who made the cluster: what it writes to kubelet's file is not known.",
        ),
    )


def kept(place: str, values: Sequence[str], reasons: Sequence[str]) -> tuple[Finding, ...]:
    return (
        Finding(
            "kubeadm-config-not-restored",
            Severity.WARNING,
            Effect.NONE,
            f"{place} still has what the collection wrote; the next kubeadm upgrade of a node brings it back.",
            (*values, *(f"not put back, {each}" for each in reasons)),
            "Restore every node of the cluster in one run, or set colocation_kubeadm_edit_configmap to true"
            " to put it back all the same.",
        ),
    )
