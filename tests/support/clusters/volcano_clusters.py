# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters with Volcano in them, as plans see them, and the options of a module that wants something of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.objects import ConfigMap
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.argspec import SCHEDULER_CONFIG
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.installed_volcano import (
    REQUIRED_CRDS,
    SchedulerState,
)
from ansible_collections.volcano.colocation.tests.support.clusters.scheduler_confs import TEXT

UID = "6f1c2b7e-0000-4000-8000-000000000001"
MAP = "volcano-scheduler-configmap"
KEY = "volcano-scheduler.conf"
FIELDS = ("weight", "capability", "deserved", "guarantee", "reclaimable", "parent")


def crd(name: str, *fields: str, served: bool = True) -> dict[str, Any]:
    properties: dict[str, Any] = {"spec": {"properties": {field: {} for field in fields}}} if fields else {}
    version = {"name": "v1beta1", "served": served, "schema": {"openAPIV3Schema": {"properties": properties}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name},
        "spec": {"versions": [version]},
    }


def deployment(image: str = "docker.io/volcanosh/vc-scheduler:v1.14.0") -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "volcano-scheduler", "namespace": "volcano-system"},
        "spec": {"template": {"spec": {"containers": [{"name": "s", "image": image}]}}},
    }


def scheduler_state(text: str = TEXT, **different: Any) -> SchedulerState:
    known = SchedulerState(
        UID,
        conf=ConfigMap(MAP, {KEY: text}, "7", "volcano-system"),
        deployment=deployment(),
        crds={name: crd(name, *FIELDS) for name in REQUIRED_CRDS},
    )
    return replace(known, **different)


def options(**explicit: Any) -> dict[str, Any]:
    """Return options with the defaults of the argument specification; nested options must be complete."""
    defaults = {name: option.get("default") for name, option in SCHEDULER_CONFIG.items()}
    return {**defaults, "kubeconfig": "/dev/null", **explicit}


def filled(option: str, **explicit: Any) -> dict[str, Any]:
    """Return one nested option with its defaults."""
    return {
        name: specification.get("default") for name, specification in SCHEDULER_CONFIG[option]["options"].items()
    } | explicit


BE = {
    "name": "colocation-be",
    "value": -100,
    "preemption_policy": "Never",
    "global_default": False,
    "description": "",
}
