# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's API server with Nodes without a kubelet, and playbooks that use it."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.tests.system.node import Run, Runner, ansible

PYTHON = {"ansible_python_interpreter": sys.executable}
USERS, LABEL = "kube-system", ("colocation-test", "user")


@dataclass(frozen=True)
class ApiServer:
    """``directory`` is for playbooks; ``kubectl_argv`` are kubectl's program and its first arguments."""

    kubectl_argv: tuple[str, ...]
    kubeconfig: str
    directory: Path

    def kubectl(self, *words: str, text: str | None = None) -> str:
        done = subprocess.run([*self.kubectl_argv, *words], input=text, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{words}: {done.stderr}"
        return done.stdout

    def items(self, *words: str) -> list[dict[str, Any]]:
        """The objects of ``kubectl get``, without those that do not exist."""
        text = self.kubectl("get", *words, "-o", "json", "--ignore-not-found")
        document = json.loads(text) if text else {"items": []}
        items: list[dict[str, Any]] = document.get("items", [document])
        return items

    def get(self, *words: str) -> dict[str, Any] | None:
        """The only object of ``kubectl get``; None if it does not exist."""
        items = self.items(*words)
        assert len(items) <= 1, words
        return items[0] if items else None

    def create(self, objects: Iterable[dict[str, Any]]) -> None:
        document = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        self.kubectl("create", "--validate=false", "-f", "-", text=json.dumps(document))

    @cached_property
    def uid(self) -> str:
        """The cluster's UID."""
        return self.kubectl("get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}")

    def kubeconfig_file(self, name: str, config: Mapping[str, Any]) -> str:
        """The path of a kubeconfig with this content."""
        path = self.directory / f"{name}.conf"
        path.write_text(json.dumps(config))
        return str(path)

    @cached_property
    def config(self) -> dict[str, Any]:
        """The administrator's kubeconfig."""
        config: dict[str, Any] = json.loads(self.kubectl("config", "view", "--raw", "--flatten", "-o", "json"))
        return config

    def user(self, name: str, rules: list[dict[str, Any]]) -> str:
        """A kubeconfig of a new ServiceAccount with these rules."""
        self.create(_service_account(name, rules))
        token = self.kubectl("create", "token", name, "-n", USERS).strip()
        return self.kubeconfig_file(
            name, {**self.config, "users": [{**self.config["users"][0], "user": {"token": token}}]}
        )

    def delete_users(self) -> None:
        """Delete all objects that ``user`` has created."""
        kinds = "serviceaccounts,clusterroles,clusterrolebindings"
        self.kubectl("delete", kinds, "-n", USERS, "-l", "=".join(LABEL))

    def run(
        self,
        play: Mapping[str, Any],
        hosts: Mapping[str, Mapping[str, Any]],
        *arguments: str,
        runner: Runner = ansible,
        **variables: Any,
    ) -> Run:
        """Run one play for hosts with these variables, all of them on this machine."""
        inventory = {"all": {"hosts": hosts, "vars": {"ansible_connection": "local", **PYTHON}}}
        (self.directory / "hosts.json").write_text(json.dumps(inventory))
        (self.directory / "play.yml").write_text(json.dumps([{"hosts": "all", "gather_facts": False, **play}]))
        return runner("play.yml", self.directory, "-i", "hosts.json", *arguments, **variables)


def node(name: str, kubelet: str = "v1.35.4") -> dict[str, Any]:
    """A Node as its kubelet reports it."""
    info = {"machineID": f"machine-{name}", "bootID": f"boot-{name}", "kubeletVersion": kubelet}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"nodeInfo": info}}


def identity(name: str) -> dict[str, Any]:
    """The identity that a host reports, for ``node``."""
    machine = hashlib.sha256(f"machine-{name}".encode()).hexdigest()
    return {"machine_id_sha256": machine, "boot_id": f"boot-{name}"}


def _service_account(name: str, rules: list[dict[str, Any]]) -> list[dict[str, Any]]:
    group = "rbac.authorization.k8s.io"
    metadata = {"name": name, "labels": dict([LABEL])}
    head = {"apiVersion": f"{group}/v1", "metadata": metadata}
    role = {"apiGroup": group, "kind": "ClusterRole", "name": name}
    subject = {"kind": "ServiceAccount", "name": name, "namespace": USERS}
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {**metadata, "namespace": USERS}},
        {**head, "kind": "ClusterRole", "rules": rules},
        {**head, "kind": "ClusterRoleBinding", "roleRef": role, "subjects": [subject]},
    ]
