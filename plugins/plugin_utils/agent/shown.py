# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan as people see it: the same in check mode and after the real run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .helm import Helm
from .pools import Pool
from .steps import Plan


def published(plan: Plan, pools: Sequence[Pool], helm: Helm) -> dict[str, Any]:
    """The module's result."""
    return {
        "changed": bool(plan.steps),
        "changes": [str(step) for step in plan.steps],
        "diff": [step.diff() for step in plan.steps],
        "pools": [shown(pool) for pool in pools],
        "helm": {"chart_values": helm.values, "reason": helm.reason},
        "pending": list(plan.pending),
        "warnings": list(plan.notes),
    }


def shown(pool: Pool) -> dict[str, Any]:
    """A pool with what its agent is told, and why it does without a feature."""
    kind = pool.kind
    return {
        "name": pool.name,
        "hosts": list(pool.hosts),
        "cgroup": "v2" if kind.v2 else "v1",
        "cgroup_driver": kind.driver.value,
        "kube_cgroup_root": kind.cgroup_root,
        "pods_cgroup": kind.pods,
        "kubelet_root_dir": kind.kubelet_folder,
        "selinux": kind.selinux,
        "features": [each.value for each in kind.features],
        "unsupported": [{"feature": each.feature.value, "reason": each.reason} for each in pool.left_off],
    }
