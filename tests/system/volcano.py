# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Replaces Volcano on a real API server: CRDs, a Deployment and a ConfigMap with upstream's names."""

from __future__ import annotations

from typing import Any

from ansible_collections.volcano.colocation.tests.support.clusters.scheduler_confs import UPSTREAM

SPACE, MAP, KEY = "volcano-system", "volcano-scheduler-configmap", "volcano-scheduler.conf"
GROUP, STORED = "scheduling.volcano.sh", "v1beta1"
TEXT = UPSTREAM.replace('backfill"\n', 'backfill"   # as the chart has it\n')


def crd(plural: str, kind: str, scope: str, fields: dict[str, Any]) -> dict[str, Any]:
    spec = {"type": "object", "properties": fields}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": scope,
            "names": {"plural": plural, "kind": kind},
            "versions": [{"name": STORED, "served": True, "storage": True, "schema": schema}],
        },
    }


def resources() -> dict[str, Any]:
    quantity = {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}
    return {"type": "object", "additionalProperties": quantity}


QUEUE = {
    "weight": {"type": "integer"},
    "reclaimable": {"type": "boolean"},
    "parent": {"type": "string"},
    "capability": resources(),
    "deserved": resources(),
    "guarantee": {"type": "object", "properties": {"resource": resources()}},
}


def deployment(image: str) -> dict[str, Any]:
    labels = {"app": "volcano-scheduler"}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "volcano-scheduler", "image": image}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "volcano-scheduler", "namespace": SPACE},
        "spec": {"replicas": 0, "selector": {"matchLabels": labels}, "template": pod},
    }


def volcano() -> list[dict[str, Any]]:
    conf = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": MAP, "namespace": SPACE}, "data": {KEY: TEXT}}
    groups = crd("podgroups", "PodGroup", "Namespaced", {"queue": {"type": "string"}})
    return [crd("queues", "Queue", "Cluster", QUEUE), groups, deployment("volcanosh/vc-scheduler:v1.14.0"), conf]
