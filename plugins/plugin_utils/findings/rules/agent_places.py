# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about places that agents look for by a default, and that are elsewhere on this node."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.node_state import NodeFacts
from ...profile.kubelet_fields import CGROUP_ROOT
from ..evidence import claims
from ..model import Effect, Finding, Rule, Severity

KUBELET_FOLDER = "/var/lib/kubelet"


def _deep_trees(facts: NodeFacts) -> tuple[str, ...]:
    """Trees of pods that are not right below a hierarchy's top, as kind has them."""
    tops = {each.mountpoint for each in facts.cgroup.hierarchies}
    return tuple(tree for tree in facts.cgroup.trees if tree.rpartition("/")[0] not in tops)


def cgroup_root(facts: NodeFacts) -> Iterator[Finding]:
    """volcano cmd/agent/app/options: --kube-cgroup-root is kubelet's cgroupRoot, empty by default."""
    setting = facts.kubelet.settings.get(CGROUP_ROOT.key)
    named = str(setting.value).strip("/") if setting else ""
    deep = _deep_trees(facts)
    if named or deep:
        yield Finding(
            "cgroup-root-not-default",
            Severity.INFO,
            Effect.NONE,
            "kubelet keeps its pods below a cgroup root of its own; agents look at the top unless they are told.",
            (*(claims(facts, CGROUP_ROOT.key) if named else ()), *deep),
            "Give agents the same root: --kube-cgroup-root for Volcano's.",
        )


def kubelet_folder(facts: NodeFacts) -> Iterator[Finding]:
    """volcano pkg/agent/utils/utils.go: GetCPUManagerPolicy reads the checkpoint in KUBELET_ROOT_DIR."""
    folder = facts.kubelet.checkpoint.path.rpartition("/")[0]
    if facts.kubelet.installed and folder != KUBELET_FOLDER:
        yield Finding(
            "kubelet-root-dir-not-default",
            Severity.INFO,
            Effect.NONE,
            f"kubelet's folder is not {KUBELET_FOLDER}, where agents look for its checkpoints.",
            (f"--root-dir {folder}",),
            f"Mount {folder} into the agent; Volcano's takes it from KUBELET_ROOT_DIR.",
        )


RULES: tuple[Rule, ...] = (
    cgroup_root,
    kubelet_folder,
)
