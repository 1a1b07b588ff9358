# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The audit of pods: it finds what the admission policy refuses, on one API server."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.level_rules import (
    BATCH_RESOURCES,
    LeveledPod,
    LevelRule,
    level_rules,
)
from ansible_collections.volcano.colocation.tests.volcano.cluster import Cluster, eventually
from ansible_collections.volcano.colocation.tests.volcano.leveled_pods import (
    ADMISSION,
    OPENFUYAO,
    RULES,
    VOLCANO,
    leveled,
)
from ansible_collections.volcano.colocation.tests.volcano.objects import Manifest
from ansible_collections.volcano.colocation.tests.volcano.space import Space

POLICY = "ValidatingAdmissionPolicy 'volcano-colocation-levels'"
ALL_RULES = level_rules(BATCH_RESOURCES)
PODS = 150
"""Generated pods; each takes a request."""

RESOURCES: dict[str, tuple[tuple[str, str], ...]] = {
    "cpu": (("", ""), ("100m", ""), ("", "2"), ("2", "2"), ("2000m", "2"), ("1500m", "1.5"), ("1", "2"), ("0", "0")),
    "memory": (("", ""), ("1Gi", ""), ("1Gi", "1024Mi"), ("1G", "1Gi"), ("", "64Mi")),
    "kubernetes.io/batch-cpu": (("", ""), ("", ""), ("500", "500")),
    "nvidia.com/gpu": (("", ""), ("", ""), ("", ""), ("1", "1")),
    "ephemeral-storage": (("", ""), ("1Gi", ""), ("1Gi", "2Gi")),
}
"""Requests and limits that the API server accepts together."""


@pytest.fixture(scope="module", name="warnings")
def _warnings(cluster: Cluster) -> Callable[[Manifest], tuple[Manifest, list[str]]]:
    """A pod as the API server would store it, and the messages of all rules that it breaks."""
    cluster.configure(colocation_admission={**ADMISSION, "action": "Warn"})

    def warnings(manifest: Manifest) -> tuple[Manifest, list[str]]:
        stored, texts = cluster.dry_run_with_warnings(manifest)
        return stored, [text.partition(": ")[2] for text in texts if POLICY in text]

    eventually(lambda: warnings(leveled({VOLCANO: "XL"}))[1])
    return warnings


def generated_pods(seed: int) -> Iterator[Manifest]:
    """Pods of all levels with all kinds of resources, two containers at most, and one for the start."""
    generator = random.Random(seed)  # noqa: S311 - test data
    names = ["HLS", "LS", "BE", "HLS", "LS", "BE", "LC", "-1", "7", "8", "be", ""]
    while True:
        annotations = {generator.choice((VOLCANO, VOLCANO, OPENFUYAO)): generator.choice(names)}
        if generator.random() < 0.2:
            annotations = {VOLCANO: generator.choice(names), OPENFUYAO: generator.choice(names)}
        manifest = leveled(annotations)
        (container,) = manifest["spec"]["containers"]
        kinds = ("containers",) * generator.choice((1, 1, 2)) + ("initContainers",) * (generator.random() < 0.2)
        simple = generator.random() < 0.5
        resources = [_resources(generator, simple=simple) for _kind in kinds]
        for kind in ("containers", "initContainers"):
            manifest["spec"][kind] = [
                {**container, "name": f"c{number}", "resources": amounts}
                for number, (owner, amounts) in enumerate(zip(kinds, resources, strict=True))
                if owner == kind
            ]
        if generator.random() < 0.05:
            manifest["spec"]["resources"] = {"requests": {"cpu": "64", "memory": "64Gi"}}
        yield manifest


def _resources(generator: random.Random, *, simple: bool) -> dict[str, dict[str, str]]:
    """Requests and limits of a container; simple ones follow the rule of a level more often."""
    if simple:
        return generator.choice(
            (
                {},
                {"requests": {"cpu": "2", "memory": "1Gi"}, "limits": {"cpu": "2000m", "memory": "1024Mi"}},
                {"requests": {"kubernetes.io/batch-cpu": "500"}, "limits": {"kubernetes.io/batch-cpu": "500"}},
                {"requests": {"cpu": "100m"}},
            )
        )
    chosen = {name: generator.choice(pairs) for name, pairs in RESOURCES.items()}
    requests = {name: request for name, (request, _limit) in chosen.items() if request}
    return {"requests": requests, "limits": {name: limit for name, (_request, limit) in chosen.items() if limit}}


def test_policy_and_audit_agree_on_every_pod(warnings: Callable[[Manifest], tuple[Manifest, list[str]]]) -> None:
    followed: set[tuple[str, bool]] = set()
    for manifest, _number in zip(generated_pods(21), range(PODS), strict=False):
        stored, refused = warnings(manifest)
        pod = LeveledPod.of(stored)
        broken = [rule.message for rule in ALL_RULES if pod.level and not rule.is_followed(pod)]
        assert sorted(broken) == sorted(refused), stored
        followed |= {(rule.message, rule.message in broken) for rule in ALL_RULES if _concerns(rule, pod)}
    assert followed == {(rule.message, broken) for rule, broken in product(ALL_RULES, (True, False))}


def _concerns(rule: LevelRule, pod: LeveledPod) -> bool:
    level, colon, _text = rule.message.partition(":")
    return bool(pod.level) and (pod.level == level or not colon)


def test_the_audit_reports_running_pods_that_break_a_rule(
    cluster: Cluster,
    space: Callable[..., Space],
    warnings: Callable[[Manifest], tuple[Manifest, list[str]]],
) -> None:
    own = space(cpus=64, **{"kubernetes.io/batch-cpu": "64000", "kubernetes.io/batch-memory": "64Gi"})
    parts: dict[str, str] = {}
    rows: list[Any] = [row.values for row in RULES]
    for number, (good, bad, part) in enumerate(rows):
        for kind, manifest in (("good", good), ("bad", bad)):
            _run_on(own, f"{kind}{number}", manifest)
        parts[f"{own.name}/bad{number}"] = part
    eventually(lambda: len(cluster.running(own.name)) == 2 * len(RULES), lambda: cluster.events(own.name))

    before = cluster.items("Pod", own.name)
    run = cluster.play("audit", "--check", "--diff")
    assert (run.code, run.recap("localhost")["changed"]) == (0, 0), run.output
    assert [item["spec"] for item in cluster.items("Pod", own.name)] == [item["spec"] for item in before]
    lines = [line for line in run.output.splitlines() if f"{own.name}/" in line]
    for name, part in parts.items():
        assert any(name in line and part in line for line in lines), (name, run.output)
    assert not any(f"{own.name}/good" in line for line in lines)
    assert all(any(rule.message in line for line in lines) for rule in ALL_RULES)


def _run_on(own: Space, name: str, manifest: Manifest) -> None:
    """Create the pod on the space's Node, where KWOK runs it."""
    metadata = {**manifest["metadata"], "name": name, "namespace": own.name}
    spec: dict[str, Any] = {**manifest["spec"], "nodeName": f"{own.name}-0"}
    own.create({**manifest, "metadata": metadata, "spec": spec})
