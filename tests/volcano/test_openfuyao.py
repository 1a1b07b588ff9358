# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The values of openFuyao's standalone package pass through ``manifest_apply``, or are refused by name."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.api.apiserver import PYTHON
from ansible_collections.volcano.colocation.tests.system.node import Run
from ansible_collections.volcano.colocation.tests.volcano.cluster import Cluster
from ansible_collections.volcano.colocation.tests.volcano.openfuyao_package import (
    NAMESPACE,
    PROMETHEUS,
    SERVICE,
    WEBSITE,
    PackageValues,
    render_package,
)

Apply = Callable[..., Run]
STANDALONE = PackageValues()
ELSEWHERE = PackageValues(prometheus="http://prometheus.other.svc:9090", node_port=30881)
OUT_OF_RANGE = PackageValues(prometheus="http://prometheus.third.svc:9090", node_port=40000)
RANGE = "spec.ports[0].nodePort: Invalid value: 40000: provided port is not in the valid range."


@pytest.fixture(name="apply")
def _apply(cluster: Cluster) -> Iterator[Apply]:
    """Apply the package with some values, or delete it; at the end it is deleted."""

    def apply(values: PackageValues | None, *arguments: str) -> Run:
        options: dict[str, Any] = {"kubeconfig": cluster.server.kubeconfig, "cluster_uid": cluster.server.uid}
        if values is None:
            options["state"] = "absent"
        else:
            path = cluster.server.directory / "package.yaml"
            path.write_text(render_package(values))
            options |= {"manifest": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        task = {"name": "Apply", "volcano.colocation.manifest_apply": {"name": "openfuyao", "timeout": 60, **options}}
        return cluster.server.run({"name": "Apply", "tasks": [task]}, {"localhost": PYTHON}, *arguments)

    yield apply
    removed = apply(None)
    assert removed.code == 0, removed.output
    assert cluster.get("Service", WEBSITE, NAMESPACE) is None


def values_of(cluster: Cluster) -> tuple[str, str, int, str]:
    """The address of Prometheus, the type and port of the Service, and whether OAuth is on."""
    config, website = (cluster.get("ConfigMap", f"{name}-config", NAMESPACE) for name in (SERVICE, WEBSITE))
    service = cluster.get("Service", WEBSITE, NAMESPACE)
    assert config
    assert website
    assert service
    (port,) = service["spec"]["ports"]
    return (
        config["data"]["serverHost.prometheus"],
        service["spec"]["type"],
        port["nodePort"],
        website["data"]["enableOAuth"],
    )


def test_the_values_of_the_standalone_package_are_applied_changed_and_refused(cluster: Cluster, apply: Apply) -> None:
    first = apply(STANDALONE)
    assert (first.code, first.recap("localhost")["changed"]) == (0, 1), first.output
    assert values_of(cluster) == (PROMETHEUS, "NodePort", 30880, "false")
    ready = cluster.volcano.kubectl("get", "deployments", "-n", NAMESPACE, "-o", "jsonpath={..readyReplicas}")
    assert ready.split() == ["1", "1"]
    again = apply(STANDALONE)
    assert (again.code, again.recap("localhost")["changed"]) == (0, 0), again.output

    changed = apply(ELSEWHERE)
    assert (changed.code, changed.recap("localhost")["changed"]) == (0, 1), changed.output
    elsewhere = (ELSEWHERE.prometheus, "NodePort", 30881, "false")
    assert values_of(cluster) == elsewhere

    # An API server's dry run does not check the range, and clients cannot read it
    # (kubernetes pkg/registry/core/service/portallocator/operation.go).
    apply(OUT_OF_RANGE, "--check")
    assert values_of(cluster) == elsewhere

    refused = apply(OUT_OF_RANGE)
    assert refused.code != 0
    assert RANGE in refused.output
    assert f"services {WEBSITE} in {NAMESPACE}" in refused.output
    assert "1 of 2 steps were done before it" in refused.output
    assert "Correct this value" in refused.output
    assert values_of(cluster) == (OUT_OF_RANGE.prometheus, "NodePort", 30881, "false")

    assert apply(STANDALONE).code == 0
    assert values_of(cluster) == (PROMETHEUS, "NodePort", 30880, "false")
