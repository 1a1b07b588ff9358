# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why kubeadm's folder of patches cannot take one of ours, or would undo it."""

from __future__ import annotations

from collections.abc import Iterator

from ..change_set import Refusal
from ..draft import PlanDraft
from ..kubeadm_patch import conflicting_fields, unsupported_reason
from .model import Rule


def _folder(draft: PlanDraft) -> Iterator[Refusal]:
    found = draft.kubelet.kubeadm_patches
    if not draft.profile.kubeadm_patches or found is None or unsupported_reason(draft):
        return
    if found.kind not in ("missing", "directory"):
        yield Refusal(
            "kubeadm-patches-not-a-directory",
            f"is a {found.kind}; kubeadm takes only a folder itself for --patches",
            "Name the real folder in kubeadm_patches (colocation_kubeadm_patches) and to kubeadm.",
            file=found.folder,
            variable="kubeadm_patches",
        )
    elif found.unseen:
        yield Refusal(
            "kubeadm-patches-not-read",
            f"not all patches are known: {found.unseen}",
            "Keep at most 64 readable patches of kubeletconfiguration there; one that is not known could beat all.",
            file=found.folder,
            variable="kubeadm_patches",
        )
    for patch in found.patches:
        if patch.problem:
            yield Refusal(
                "kubeadm-patch-unreadable",
                f"{patch.problem}; kubeadm upgrade fails on it",
                "Correct the file or take it away; it is left as it is.",
                file=patch.path,
            )


def _overridden(draft: PlanDraft) -> Iterator[Refusal]:
    found = dict.fromkeys((patch.path, keys[0]) for patch, keys in conflicting_fields(draft))
    for path, key in found:
        yield Refusal(
            "kubeadm-patch-overrides",
            f"changes {key}, and kubeadm applies it after the patch of this collection",
            f"Take {key} out of it, or give the file a name that sorts before kubeletconfigurationzz.",
            file=path,
        )


RULES: tuple[Rule, ...] = (_folder, _overridden)
