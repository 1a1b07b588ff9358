# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order in which objects are created."""

from __future__ import annotations

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.objects import Ref
from ansible_collections.volcano.colocation.plugins.plugin_utils.manifest.apply_order import Stage, apply_rank, stage_of


def ref(kind: str, api: str = "apps/v1") -> Ref:
    return Ref(api, kind, "a", "b")


def test_every_object_has_its_stage() -> None:
    assert stage_of(Ref("v1", "Namespace", "a")) is Stage.NAMESPACES
    assert stage_of(ref("Job", "batch/v1")) is Stage.WORKLOADS
    assert stage_of(ref("Job", "batch.volcano.sh/v1alpha1")) is Stage.CUSTOM
    assert stage_of(Ref("apiregistration.k8s.io/v1", "APIService", "a")) is Stage.CUSTOM
    assert stage_of(ref("PodDisruptionBudget", "policy/v1")) is Stage.ACCESS
    assert stage_of(Ref("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "a")) is Stage.WEBHOOKS
    assert apply_rank(Ref("scheduling.k8s.io/v1", "PriorityClass", "a")) < apply_rank(ref("ServiceAccount", "v1"))
    assert apply_rank(ref("Job", "batch/v1")) < apply_rank(ref("Deployment")) < apply_rank(Ref("x/v1", "Y", "z"))
