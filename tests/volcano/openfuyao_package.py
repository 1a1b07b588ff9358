# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A manifest with the values of openFuyao's standalone package ``colocation-package``, written by hand.

The text of the chart is not available, so this is not its output. From openFuyao's guide of release 25.06, which was
only read, are: the names of the Deployments, the namespace, ``enableOAuth`` and ``openFuyao`` off, a Service of the
type NodePort at 30880, and the address of an existing Prometheus. Names of ConfigMaps and keys are our own.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

NAMESPACE = "openfuyao-colocation"
WEBSITE, SERVICE = "colocation-website", "colocation-service"
PROMETHEUS = "http://prometheus-k8s.monitoring.svc.cluster.local:9090"
IMAGES = "harbor.openfuyao.com/openfuyao"


@dataclass(frozen=True)
class PackageValues:
    """The values of the chart that the guide changes for a standalone installation."""

    prometheus: str = PROMETHEUS
    node_port: int = 30880
    oauth: bool = False


def render_package(values: PackageValues) -> str:
    """The manifest, in the order in which Helm prints kinds."""
    oauth = str(values.oauth).lower()
    port = {"name": "http", "port": 80, "targetPort": 8080, "nodePort": values.node_port}
    documents = [
        _object("v1", "ServiceAccount", SERVICE),
        _object("v1", "ConfigMap", f"{SERVICE}-config", data={"serverHost.prometheus": values.prometheus}),
        _object("v1", "ConfigMap", f"{WEBSITE}-config", data={"enableOAuth": oauth, "openFuyao": "false"}),
        _object("v1", "Service", WEBSITE, spec={"type": "NodePort", "selector": {"app": WEBSITE}, "ports": [port]}),
        _deployment(SERVICE, {"serviceAccountName": SERVICE}),
        _deployment(WEBSITE, {}),
    ]
    return "".join(f"---\n{json.dumps(document)}\n" for document in documents)


def _deployment(name: str, spec: dict[str, Any]) -> dict[str, Any]:
    source = [{"configMapRef": {"name": f"{name}-config"}}]
    container = {"name": name, "image": f"{IMAGES}/{name}:0.13.0", "envFrom": source}
    template = {"metadata": {"labels": {"app": name}}, "spec": {**spec, "containers": [container]}}
    selected = {"selector": {"matchLabels": {"app": name}}}
    return _object("apps/v1", "Deployment", name, spec={"replicas": 1, **selected, "template": template})


def _object(version: str, kind: str, name: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": NAMESPACE}, **fields}
