# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a kubeadm upgrade would write to kubelet's file: the cluster's kubelet-config, and a node's patches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..facts.config_file import Cause, advice
from ..plan.change_set import Refusal
from ..plan.draft import PlanDraft
from ..plan.kubeadm_patch import conflicting_fields, unsupported_reason
from .rule_types import Effect, Finding, Severity

WRITE_REMEDY = (
    "Run the play on every node of the cluster with the same profile, or set colocation_kubeadm_edit_configmap to"
    " true to write it anyway, or colocation_kubeadm_patches to write a patch on each node."
)


def config_differs(place: str, values: Sequence[str], reasons: Sequence[str]) -> tuple[Finding, ...]:
    return (
        Finding(
            "kubeadm-config-differs",
            Severity.WARNING,
            Effect.NONE,
            f"{place} differs from the profile; the next kubeadm upgrade of a node applies its values.",
            (*values, *(f"not written: {reason}" for reason in reasons)),
            WRITE_REMEDY,
        ),
    )


def config_conflicting(place: str, keys: Sequence[Sequence[str]]) -> tuple[Finding, ...]:
    if not keys:
        return ()
    return (
        Finding(
            "kubeadm-config-conflicting",
            Severity.INFO,
            Effect.NONE,
            f"The hosts need different values of some fields, but {place} has one value for all of them.",
            tuple(".".join(key) for key in keys),
            "Set colocation_kubeadm_patches, so that kubeadm keeps the values of each node.",
        ),
    )


def config_missing() -> tuple[Finding, ...]:
    return (
        Finding(
            "kubeadm-config-missing",
            Severity.INFO,
            Effect.NONE,
            "Hosts of the play look like kubeadm nodes, but their cluster has no ConfigMap kubelet-config in"
            " kube-system.",
            (),
            "Find out which tool created the cluster: what it writes to kubelet's file is unknown.",
        ),
    )


def config_not_restored(place: str, values: Sequence[str], reasons: Sequence[str]) -> tuple[Finding, ...]:
    return (
        Finding(
            "kubeadm-config-not-restored",
            Severity.WARNING,
            Effect.NONE,
            f"{place} still has values of this collection; the next kubeadm upgrade of a node applies them again.",
            (*values, *(f"not restored: {reason}" for reason in reasons)),
            "Restore every node of the cluster in one run, or set colocation_kubeadm_edit_configmap to true"
            " to restore it anyway.",
        ),
    )


def refuse_patch_directory(draft: PlanDraft) -> Iterator[Refusal]:
    directory = draft.kubelet.kubeadm_patches
    if not draft.profile.kubeadm_patches or directory is None or unsupported_reason(draft):
        return
    if directory.kind not in ("missing", "directory"):
        yield Refusal(
            "kubeadm-patches-not-a-directory",
            f"is a {directory.kind}; kubeadm accepts only a real directory for --patches",
            "Use the real directory in colocation_kubeadm_patches and for kubeadm's --patches.",
            file=directory.directory,
            variable="kubeadm_patches",
        )
    elif directory.unread:
        yield Refusal(
            "kubeadm-patches-not-read",
            f"not all patches are known: the directory {directory.unread.message}",
            advice("An unknown patch could override the others.", directory.unread),
            file=directory.directory,
            variable="kubeadm_patches",
        )
    for patch in directory.patches:
        if patch.problem:
            unread = patch.problem.cause is Cause.NOT_READ
            yield Refusal(
                "kubeadm-patch-unreadable",
                patch.problem.message if unread else f"{patch.problem.message}; kubeadm upgrade fails on it",
                advice("An unknown patch could override the others.", patch.problem),
                file=patch.path,
                line=patch.problem.line,
            )


def refuse_overridden_patch(draft: PlanDraft) -> Iterator[Refusal]:
    conflicts = dict.fromkeys((patch.path, keys[0]) for patch, keys in conflicting_fields(draft))
    for path, key in conflicts:
        yield Refusal(
            "kubeadm-patch-overrides",
            f"changes {key}, and kubeadm applies it after the patch of this collection",
            f"Remove {key} from it, or give the file a name that sorts before kubeletconfigurationzz.",
            file=path,
        )
