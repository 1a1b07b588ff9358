# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of one test: a namespace, the Nodes of a pool, queues and PriorityClasses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ansible_collections.volcano.colocation.tests.volcano import objects
from ansible_collections.volcano.colocation.tests.volcano.cluster import TIMEOUT, Cluster, eventually
from ansible_collections.volcano.colocation.tests.volcano.objects import POOL, Manifest, name_of, phase


class Space:
    """A namespace whose pods run on the Nodes of the pool with its name."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self.cluster = cluster
        self.name = name
        self._global: list[tuple[str, str]] = []

    def create(self, *manifests: Manifest) -> list[Manifest]:
        """Create objects; those without a namespace are deleted with the space."""
        created = self.cluster.create(*manifests)
        self._global += [(item["kind"], name_of(item)) for item in manifests if "namespace" not in item["metadata"]]
        return created

    def adopt(self, kind: str, name: str) -> None:
        """Delete an object that another client has created with the space."""
        self._global.append((kind, name))

    def queue(self, name: str, **spec: Any) -> str:
        """Create a queue, wait until it is open; its name."""
        self.create(objects.queue(name, **spec))
        self.wait_for_queue(name)
        return name

    def wait_for_queue(self, name: str) -> None:
        """Wait until a queue takes jobs."""
        eventually(lambda: (self.cluster.get("Queue", name) or {}).get("status", {}).get("state") == "Open")

    def priorities(self, **values: int) -> None:
        """Create PriorityClasses with these values."""
        self.create(*(objects.priority_class(name, value) for name, value in values.items()))

    def job(
        self,
        name: str,
        replicas: int = 1,
        minimum: int | None = None,
        annotations: dict[str, str] | None = None,
        **options: Any,
    ) -> Manifest:
        """Create a VolcanoJob of one task, whose pods have these annotations.

        Options of the job: ``queue``, ``priorityClassName``, ``policies``; others are those of its pods (``pod_spec``).
        """
        spec = {key: options.pop(key) for key in ("queue", "priorityClassName", "policies") if key in options}
        task = objects.task(replicas=replicas, pod=objects.pod_spec(pool=self.name, **options))
        task["template"]["metadata"] = {"annotations": annotations or {}}
        (created,) = self.create(objects.job(name, self.name, task, minimum=minimum, **spec))
        return created

    def pod(self, name: str, annotations: dict[str, str] | None = None, **options: Any) -> Manifest:
        """Create a pod with the fields of ``pod_spec``."""
        (created,) = self.create(objects.pod(name, self.name, annotations, pool=self.name, **options))
        return created

    def running(self, job: str = "") -> list[str]:
        """The names of the running pods, of one job or of all."""
        return objects.names(self.cluster.running(self.name, job))

    def runs(self, job: str, count: int, timeout: float = TIMEOUT) -> list[Manifest]:
        """Wait until exactly this many pods of a job run; the pods."""

        def look() -> list[Manifest] | None:
            pods = self.cluster.running(self.name, job)
            return pods if len(pods) == count else None

        return eventually(look, lambda: f"{job}: {self.running(job)}\n{self.cluster.events(self.name)}", timeout) or []

    @contextmanager
    def cordoned(self, pods: int) -> Iterator[None]:
        """Create jobs while no pod can run; at the end, wait for this number of pods, and let them run."""
        self._cordon(True)
        yield
        eventually(lambda: len(self.cluster.pods(self.name)) == pods, lambda: self.cluster.events(self.name))
        self._cordon(False)

    def group(self, job: str) -> Manifest | None:
        """The PodGroup of a VolcanoJob."""
        owned = [group for group in self.cluster.items("PodGroup", self.name) if _owner(group) == job]
        assert len(owned) <= 1, owned
        return owned[0] if owned else None

    def reaches(self, job: str, state: str) -> None:
        """Wait for the phase of a VolcanoJob."""
        eventually(
            lambda: phase(self.cluster.get("Job", job, self.name)) == state, lambda: self.cluster.events(self.name)
        )

    def delete(self) -> None:
        """Delete everything, and wait until the scheduler can see no pod or queue of it."""
        cluster = self.cluster
        for kind in ("JobFlow", "Job", "PodGroup", "Pod"):
            for item in cluster.items(kind, self.name):
                cluster.delete(kind, name_of(item), self.name)
        eventually(lambda: not cluster.items("Pod", self.name))
        eventually(lambda: not cluster.items("PodGroup", self.name))
        for kind, name in reversed(self._global):
            self._delete_global(kind, name)
        for node in self._nodes():
            cluster.delete("Node", name_of(node))
        cluster.delete("Namespace", self.name)

    def _nodes(self) -> list[Manifest]:
        return self.cluster.items("Node", selector=f"{POOL}={self.name}")

    def _cordon(self, cordoned: bool) -> None:
        for node in self._nodes():
            self.cluster.patch({**node, "kind": "Node"}, {"spec": {"unschedulable": cordoned}})

    def _delete_global(self, kind: str, name: str) -> None:
        if kind == "Queue":
            eventually(lambda: self._deleted_queue(name))
        else:
            self.cluster.delete(kind, name)

    def _deleted_queue(self, name: str) -> bool:
        """Volcano's webhook refuses to delete a queue whose status still counts PodGroups."""
        try:
            self.cluster.delete("Queue", name)
        except AssertionError:
            return False
        return True


def _owner(group: Manifest) -> str:
    owners = group["metadata"].get("ownerReferences") or [{}]
    return str(owners[0].get("name") or "")
