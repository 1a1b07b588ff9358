# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The manifests in docs/examples/volcano do what their comments say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from ansible_collections.volcano.colocation.tests.volcano.cluster import Cluster, eventually, never
from ansible_collections.volcano.colocation.tests.volcano.objects import Manifest, ended, name_of, names, phase
from ansible_collections.volcano.colocation.tests.volcano.space import Space

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples" / "volcano"


def example(name: str, namespace: str = "") -> list[Manifest]:
    """The objects of an example, in a namespace."""
    document = yaml.safe_load((EXAMPLES / name).read_text(encoding="utf-8"))
    items: list[Manifest] = document.get("items", [document])
    for item in items:
        item["metadata"].update({"namespace": namespace} if namespace else {})
    return items


@pytest.fixture(name="own")
def _own(cluster: Cluster, space: Callable[..., Space]) -> Space:
    """A namespace for the examples, with their queues."""
    cluster.configure()
    own = space(cpus=3)
    own.create(*example("queues.yml"))
    for name in ("online", "offline"):
        own.wait_for_queue(name)
    return own


def test_the_queues(cluster: Cluster, own: Space) -> None:
    reclaimable = {name: (cluster.get("Queue", name) or {})["spec"]["reclaimable"] for name in ("online", "offline")}
    assert reclaimable == {"online": False, "offline": True}


def test_the_job_starts_together_restarts_after_an_eviction_and_ends_with_its_leader(
    cluster: Cluster, own: Space
) -> None:
    (manifest,) = example("job.yml", own.name)
    own.create(manifest)
    pods = own.runs("training", 3)
    assert names(pods) == ["training-leader-0", "training-worker-0", "training-worker-1"]
    assert {name_of(pod): variables(pod)["VC_TASK_INDEX"] for pod in pods}["training-worker-1"] == "1"
    assert {pod["spec"]["subdomain"] for pod in pods} == {"training"}
    service = cluster.get("Service", "training", own.name)
    assert service
    assert service["spec"]["clusterIP"] == "None"

    cluster.evict(own.name, "training-worker-1")
    before = {pod["metadata"]["uid"] for pod in pods}
    eventually(lambda: not before & {pod["metadata"]["uid"] for pod in cluster.pods(own.name, "training")})
    own.runs("training", 3)

    leader = cluster.get("Pod", "training-leader-0", own.name)
    assert leader
    cluster.patch(leader, ended("Succeeded"))
    own.reaches("training", "Completed")
    eventually(lambda: not cluster.running(own.name))


def test_a_job_is_deleted_when_its_time_is_over(cluster: Cluster, own: Space) -> None:
    (manifest,) = example("job.yml", own.name)
    manifest["spec"]["ttlSecondsAfterFinished"] = 1
    own.create(manifest)
    own.runs("training", 3)
    cluster.patch({"kind": "Pod", "metadata": {"name": "training-leader-0", "namespace": own.name}}, ended("Succeeded"))
    eventually(lambda: cluster.get("Job", "training", own.name) is None)


def test_the_flow_runs_its_jobs_in_turn(cluster: Cluster, own: Space) -> None:
    own.create(*example("jobflow.yml", own.name))
    (first,) = own.runs("nightly-prepare", 1)
    never(lambda: cluster.get("Job", "nightly-evaluate", own.name), 2)
    cluster.patch(first, ended("Succeeded"))
    (second,) = own.runs("nightly-evaluate", 1)
    cluster.patch(second, ended("Succeeded"))
    eventually(lambda: phase(cluster.get("JobFlow", "nightly", own.name)) == "Succeed")


def variables(pod: Manifest) -> dict[str, str]:
    """The variables of a pod's container."""
    return {variable["name"]: variable.get("value", "") for variable in pod["spec"]["containers"][0]["env"]}
