# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""In which order objects are made."""

from __future__ import annotations

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.objects import Ref
from ansible_collections.volcano.colocation.plugins.plugin_utils.manifest.order import Stage, rank, stage


def ref(kind: str, api: str = "apps/v1") -> Ref:
    return Ref(api, kind, "a", "b")


def test_every_object_has_its_stage() -> None:
    assert stage(Ref("v1", "Namespace", "a")) is Stage.NAMESPACES
    assert stage(ref("Job", "batch/v1")) is Stage.WORKLOADS
    assert stage(ref("Job", "batch.volcano.sh/v1alpha1")) is Stage.CUSTOM
    assert stage(Ref("apiregistration.k8s.io/v1", "APIService", "a")) is Stage.CUSTOM
    assert stage(ref("PodDisruptionBudget", "policy/v1")) is Stage.ACCESS
    assert stage(Ref("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "a")) is Stage.WEBHOOKS
    assert rank(Ref("scheduling.k8s.io/v1", "PriorityClass", "a")) < rank(ref("ServiceAccount", "v1"))
    assert rank(ref("Job", "batch/v1")) < rank(ref("Deployment")) < rank(Ref("x/v1", "Y", "z"))
