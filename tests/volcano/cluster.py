# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster with Volcano's programs and Nodes without kubelets, its objects, and what the tests wait for."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any, TypeVar

from kubernetes import config
from kubernetes.dynamic import DynamicClient
from kubernetes.dynamic.exceptions import DynamicApiError, NotFoundError

from ansible_collections.volcano.colocation.tests.api.apiserver import PYTHON, ApiServer
from ansible_collections.volcano.colocation.tests.lab.cluster.volcano import NAMESPACE, SCHEDULER_CONFIG, Volcano
from ansible_collections.volcano.colocation.tests.system.node import Run, ansible
from ansible_collections.volcano.colocation.tests.volcano.objects import API_VERSIONS, Manifest, name_of

CONFIGURATION: dict[str, Any] = {"colocation_scheduler_dropped_actions": ["enqueue"]}
"""The role's variables of most tests; others add to them."""

Result = TypeVar("Result")
TIMEOUT = 150.0
SETTLED = 3.0
"""Seconds in which the scheduler, with a cycle of one second, would do what a test says that it does not."""


class RefusedError(AssertionError):
    """The API server, or a webhook, refused a request."""


class Cluster:
    """The API server's objects, and runs of the role ``scheduler``."""

    def __init__(self, server: ApiServer, volcano: Volcano) -> None:
        self.server = server
        self.volcano = volcano

    @cached_property
    def _client(self) -> DynamicClient:
        return DynamicClient(config.new_client_from_config(self.server.kubeconfig))

    def create(self, *manifests: Manifest) -> list[Manifest]:
        """The created objects; RefusedError with the server's message."""
        return [self._request("create", manifest, body=manifest) for manifest in manifests]

    def dry_run(self, manifest: Manifest) -> Manifest:
        """An object as the API server would create it; RefusedError with the server's message."""
        return self._request("create", manifest, body=manifest, dry_run="All")

    def dry_run_with_warnings(self, manifest: Manifest) -> tuple[Manifest, list[str]]:
        """The same, with the server's warnings (headers ``299 - "TEXT"``)."""
        stored = self.dry_run(manifest)
        warnings = self._client.client.last_response.headers.getlist("Warning")
        return stored, [text.partition('"')[2].removesuffix('"') for text in warnings]

    def patch(self, manifest: Manifest, change: Manifest) -> Manifest:
        """A merge patch of the manifest's object; RefusedError with the server's message."""
        return self._request("patch", manifest, body=change, name=name_of(manifest), content_type=MERGE)

    def get(self, kind: str, name: str, namespace: str | None = None) -> Manifest | None:
        """An object; None if it does not exist."""
        try:
            return dict(self._resource(kind).get(name=name, namespace=namespace).to_dict())
        except NotFoundError:
            return None

    def items(self, kind: str, namespace: str | None = None, selector: str = "") -> list[Manifest]:
        """All objects of a kind, in one namespace or in all."""
        listed = self._resource(kind).get(namespace=namespace, label_selector=selector)
        return list(listed.to_dict()["items"])

    def delete(self, kind: str, name: str, namespace: str | None = None) -> None:
        """Delete an object; does nothing if it does not exist. RefusedError with the server's message."""
        with suppress(NotFoundError), _refusals():
            self._resource(kind).delete(name=name, namespace=namespace)

    def evict(self, namespace: str, name: str) -> None:
        """Evict a pod by the API that a drain uses."""
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": namespace}}
        with _refusals():
            self._resource("Pod").subresources["eviction"].create(name=name, namespace=namespace, body=body)

    def pods(self, namespace: str, job: str = "") -> list[Manifest]:
        """The pods of a namespace, or of one VolcanoJob there, that are not being deleted."""
        pods = self.items("Pod", namespace, f"volcano.sh/job-name={job}" if job else "")
        return [pod for pod in pods if not pod["metadata"].get("deletionTimestamp")]

    def running(self, namespace: str, job: str = "") -> list[Manifest]:
        return [pod for pod in self.pods(namespace, job) if pod["status"].get("phase") == "Running"]

    def events(self, namespace: str) -> str:
        """The reasons and messages of a namespace's events, and the phases of its PodGroups, for failures."""
        lines = [f"{event['reason']}: {event.get('message')}" for event in self.items("Event", namespace)]
        groups = [f"{name_of(group)}: {group.get('status')}" for group in self.items("PodGroup", namespace)]
        return "\n".join([*dict.fromkeys(lines), *groups])

    def play(self, entry: str = "main", *arguments: str, **variables: Any) -> Run:
        """Run an entry of the role ``scheduler``, then give the scheduler its ConfigMap's text."""
        task = {"name": "Run the role", "ansible.builtin.import_role": _role(entry)}
        options = {"colocation_kubeconfig": self.server.kubeconfig, "colocation_cluster_uid": self.server.uid}
        play = {"name": "Run the role", "tasks": [task]}
        run = self.server.run(play, {"localhost": PYTHON}, *arguments, runner=ansible, **{**options, **variables})
        if entry in ("main", "restore"):
            self.volcano.write_scheduler_config()
        return run

    def configure(self, text: str | None = None, **variables: Any) -> str:
        """Run the role on a configuration, the current one by default; the text that the scheduler uses then."""
        if text is not None:
            change = {"data": {SCHEDULER_CONFIG[1]: text}}
            self.patch({"kind": "ConfigMap", "metadata": {"name": SCHEDULER_CONFIG[0], "namespace": NAMESPACE}}, change)
        run = self.play(**{**CONFIGURATION, **variables})
        assert run.code == 0, run.output
        return self.volcano.scheduler_config.read_text()

    def _resource(self, kind: str) -> Any:
        return self._client.resources.get(api_version=API_VERSIONS[kind], kind=kind)

    def _request(self, verb: str, manifest: Manifest, **options: Any) -> Manifest:
        namespace = manifest["metadata"].get("namespace")
        request = getattr(self._resource(manifest["kind"]), verb)
        with _refusals():
            return dict(request(namespace=namespace, **options).to_dict())


MERGE = "application/merge-patch+json"


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except NotFoundError:
        raise
    except DynamicApiError as error:
        raise RefusedError(json.loads(error.body)["message"]) from error


def eventually(look: Callable[[], Result], why: Callable[[], str] = str, timeout: float = TIMEOUT) -> Result:
    """The first true result of ``look``; AssertionError with ``why`` after the timeout."""
    deadline = time.monotonic() + timeout
    while not (result := look()):
        assert time.monotonic() < deadline, why()
        time.sleep(0.2)
    return result


def never(look: Callable[[], object], seconds: float = SETTLED) -> None:
    """``look`` stays false; AssertionError with its first true result."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        result = look()
        assert not result, result
        time.sleep(0.2)


def _role(entry: str) -> dict[str, str]:
    return {"name": "volcano.colocation.scheduler", "tasks_from": entry}
