# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An API server in memory with controllers behind it: what they and it make of objects by themselves.

It sets defaults, normalizes values and counts generations as a server does, has namespaces and serves what CRDs
define. Workloads run immediately unless ``stuck`` has a reason why not. It does not validate objects.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.objects import Object, Ref
from ansible_collections.volcano.colocation.tests.support.clusters.memory_api_server import Refusal, Server, Stored

APIS = ("batch/v1", "admissionregistration.k8s.io/v1")
SECRET = "volcano-admission-secret"


@dataclass
class Cluster(Server):
    """``stuck``: Deployments whose pods do not become Ready, each with the reason. ``failing``: Jobs that fail."""

    stuck: dict[str, str] = field(default_factory=dict)
    failing: bool = False

    def __post_init__(self) -> None:
        self.apis = (*APIS, *self.apis)
        space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system", "uid": "the-cluster"}}
        self.add(space)

    def names(self) -> set[str]:
        return {f"{kind} {name}" for kind, _space, name in self.objects}

    def forget_jobs(self) -> None:
        """Delete the Jobs, as ttlSecondsAfterFinished does."""
        self.objects = {key: stored for key, stored in self.objects.items() if key[0] != "Job"}

    def write(self, verb: str, definition: Stored, *, dry: bool) -> Stored:
        ref = Ref.of(definition)
        if not self.serves(ref.api_version, ref.kind):
            raise Refusal(404, f"no {ref.kind} in {ref.api_version}")
        if ref.namespace and not self.get("Namespace", ref.namespace):
            raise Refusal(404, f'namespaces "{ref.namespace}" not found')
        stored = super().write(verb, definition, dry=dry)
        if verb == "delete" and not dry:
            self._take_along(ref)
        return stored

    def _take_along(self, ref: Ref) -> None:
        if ref.kind == "Namespace":
            self.objects = {key: stored for key, stored in self.objects.items() if key[1] != ref.name}
        if ref.kind == "Deployment":
            self.objects.pop(("Pod", ref.namespace, f"{ref.name}-1"), None)

    def _store(self, ref: Ref, manifest: Stored) -> None:
        self._complete(ref, manifest)
        before = self.get(ref.kind, ref.name, ref.namespace) or {}
        super()._store(ref, manifest)
        stored = self.objects[ref.kind, ref.namespace, ref.name]
        changed = before.get("spec") != stored.get("spec")
        stored["metadata"]["generation"] = before.get("metadata", {}).get("generation", 0) + changed
        self._run(ref, stored)

    @staticmethod
    def _complete(ref: Ref, manifest: Stored) -> None:
        """Set defaults, and write quantities as the server does."""
        if ref.kind == "Deployment":
            manifest["spec"].setdefault("progressDeadlineSeconds", 600)
            for webhook in manifest["spec"]["template"]["spec"]["containers"]:
                webhook.setdefault("imagePullPolicy", "IfNotPresent")
                requests = webhook.get("resources", {}).get("requests", {})
                if requests.get("cpu") == "1000m":
                    requests["cpu"] = "1"
        if ref.kind == "ValidatingWebhookConfiguration":
            for webhook in manifest["webhooks"]:
                webhook.setdefault("timeoutSeconds", 10)
                webhook["clientConfig"].setdefault("caBundle", "Y2E=")

    def _run(self, ref: Ref, stored: Stored) -> None:
        if ref.kind == "CustomResourceDefinition":
            group = stored["spec"].get("group")
            self.apis += tuple(f"{group}/{version['name']}" for version in stored["spec"]["versions"])
            stored["status"] = {"conditions": [{"type": "Established", "status": "True"}]}
        if ref.kind == "Deployment":
            self._run_deployment(ref, stored)
        if ref.kind == "Job":
            condition = {"type": "Failed" if self.failing else "Complete", "status": "True", "message": "backoff"}
            stored["status"] = {"conditions": [condition]}
            self.add(_secret(ref.namespace or ""))

    def _run_deployment(self, ref: Ref, stored: Stored) -> None:
        reason = self.stuck.get(ref.name, "")
        count = 0 if reason else stored["spec"].get("replicas", 1)
        generation = stored["metadata"]["generation"]
        stored["status"] = {"observedGeneration": generation, "updatedReplicas": 1, "availableReplicas": count}
        labels = stored["spec"]["template"]["metadata"]["labels"]
        name = {"name": f"{ref.name}-1", "namespace": ref.namespace, "labels": dict(labels)}
        owned = {**name, "ownerReferences": [{"kind": "ReplicaSet", "name": ref.name}]}
        waiting = {"waiting": {"reason": reason, "message": "the registry says no"}} if reason else {"running": {}}
        statuses = [{"name": "c", "state": waiting}]
        ready = {"type": "Ready", "status": "False" if reason else "True"}
        status = {"containerStatuses": statuses, "conditions": [ready]}
        self.add({"apiVersion": "v1", "kind": "Pod", "metadata": owned, "status": status})

    def recover(self) -> None:
        """Let the stuck pods run."""
        self.stuck.clear()
        for (kind, _space, _name), stored in copy.deepcopy(self.objects).items():
            if kind == "Deployment":
                self.add(stored)


def _secret(namespace: str) -> Object:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": SECRET, "namespace": namespace}, "data": {}}
