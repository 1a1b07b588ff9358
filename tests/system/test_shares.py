# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The CPU share of an online pod beside an offline one: docs/qos-profiles.md, "Measured effect"."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.system.knobs import attempt
from ansible_collections.volcano.colocation.tests.system.node import ROOT, Node, lab

BUSY = ROOT / "molecule" / "shared" / "share" / "busy.py"
MANIFEST = "/etc/kubernetes/manifests/burstable.yaml"
SECONDS, TRIES = 2, 5
TOLERANCE = 0.06
OFFLINE: dict[str, Any] = {"qos_class": "besteffort", "level": "pods"}


def shares(node: Node, request: int, proven: Callable[[float], bool]) -> list[dict[str, float]]:
    """Return results of busy.py with online pods of the weight of ``request`` thousandths of a CPU.

    A busy machine may run only one CPU of a node for a while, so it is measured again until the online pod's part is
    ``proven``.
    """
    words = f"{SECONDS} besteffort-{node.name} burstable-{node.name} {request}"
    results: list[dict[str, float]] = []
    while len(results) < TRIES and not (results and proven(results[-1]["part"])):
        results.append(json.loads(lab("ssh", node.name, "--", f"python3 - {words}", text=BUSY.read_text())))
    return results


def is_no_more(part: float) -> bool:
    """Whether the part is not above that by the weights of kubelet's classes."""
    return part <= 0.8 + TOLERANCE


@contextmanager
def requesting(node: Node, request: int) -> Iterator[None]:
    """Run the online pod with another request."""
    text = node.shell(f"cat {MANIFEST}")
    assert "cpu: 100m" in text
    try:
        replace_pod(node, text.replace("cpu: 100m", f"cpu: {request}m"))
        yield
    finally:
        replace_pod(node, text)


def replace_pod(node: Node, manifest: str) -> None:
    """Replace the manifest, and wait until the pod runs as a new container; return immediately if it is unchanged."""
    if node.shell(f"cat {MANIFEST}") == manifest:
        return
    ids = "ctr -n k8s.io tasks ls | awk '$3 == \"RUNNING\" { print $1 }' | sort"
    before = set(node.shell(ids).split())
    node.write(MANIFEST, manifest)
    node.shell(
        f"for _ in $(seq 240); do now=$({ids}); "
        f'if [ $(echo "$now" | wc -l) -eq {len(before)} ] && [ "$now" != \'{chr(10).join(sorted(before))}\' ]; '
        "then exit 0; fi; sleep 0.5; done; exit 1"
    )


@pytest.mark.parametrize(("request_", "weights"), [(100, 0.8), (500, 0.95)])
def test_the_part_of_an_online_pod_is_that_of_its_request(node: Node, request_: int, weights: float) -> None:
    """Weights of 4 and 20 on cgroup v2, beside 1: kubelet's, by a linear formula."""

    def is_near(part: float) -> bool:
        return abs(part - weights) <= TOLERANCE

    with requesting(node, request_):
        results = shares(node, request_, is_near)
    assert results[-1]["weights"] == weights, results
    assert is_near(results[-1]["part"]), results


def test_idle_offline_pods_leave_an_online_pod_no_more(node: Node) -> None:
    """cpu_idle counts among the pods of a class; classes are weighed by kubelet."""
    done = attempt(node, [{**OFFLINE, "settings": {"cpu_idle": True}}])
    assert done.changed == 1, done
    try:
        results = shares(node, 100, is_no_more)
    finally:
        attempt(node, [{**OFFLINE, "state": "absent"}])
    assert is_no_more(results[-1]["part"]), results
