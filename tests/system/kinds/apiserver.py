# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's API server with Nodes that nobody runs, and the role's entries that ask it."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.tests.system.node import Run, ansible, lab

NAME, JOURNAL = "kubelet-config-1.20", "volcano-colocation"
# What kubeadm 1.20 uploads begins so; the comment is somebody's.
TEXT = """apiVersion: kubelet.config.k8s.io/v1beta1
cgroupDriver: cgroupfs   # ask Ada before you change this
clusterDNS:
- 10.96.0.10
kind: KubeletConfiguration
rotateCertificates: true
"""
WRITTEN = """apiVersion: kubelet.config.k8s.io/v1beta1
# ask Ada before you change this
cgroupDriver: systemd
clusterDNS:
- 10.96.0.10
kind: KubeletConfiguration
rotateCertificates: true
systemReserved:
  cpu: 500m
"""
FIELDS = [{"keys": ["cgroupDriver"], "value": "systemd"}, {"keys": ["systemReserved", "cpu"], "value": "500m"}]
QUIETLY = {"check_mode": False, "diff": False, "changed_when": False}
PYTHON = {"ansible_python_interpreter": sys.executable}
SIGNATURE = "kubeadm.kubernetes.io/component-config.hash"


@dataclass(frozen=True)
class Answer:
    """A run with what the module answered; ``said`` is empty where it failed."""

    run: Run
    said: dict[str, Any]


@dataclass(frozen=True)
class ApiServer:
    program: str
    kubeconfig: str
    folder: Path

    def kubectl(self, *words: str, text: str | None = None) -> str:
        argv = [self.program, f"--kubeconfig={self.kubeconfig}", f"--cache-dir={self.folder / 'kubectl'}", *words]
        done = subprocess.run(argv, input=text, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{words}: {done.stderr}"
        return done.stdout

    def node(self, name: str) -> None:
        """A Node as its kubelet would report it."""
        info = {"machineID": f"machine-{name}", "bootID": f"boot-{name}", "kubeletVersion": "v1.20.5"}
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"nodeInfo": info}}
        self.kubectl("create", "--validate=false", "-f", "-", text=json.dumps(node))

    def reset(self, *names: str) -> None:
        """The cluster as kubeadm left it, with these Nodes."""
        self.kubectl("delete", "nodes", "--all")
        self.kubectl("delete", "configmap", JOURNAL, "-n", "kube-system", "--ignore-not-found")
        for name in names:
            self.node(name)
        self.set_text(TEXT)

    def set_text(self, text: str) -> None:
        patch = json.dumps({"data": {"kubelet": text}})
        self.kubectl("patch", "configmap", NAME, "-n", "kube-system", "--type=merge", "-p", patch)

    def config_map(self, name: str = NAME) -> dict[str, Any] | None:
        text = self.kubectl("get", "configmap", name, "-n", "kube-system", "-o", "json", "--ignore-not-found")
        found: dict[str, Any] | None = json.loads(text) if text else None
        return found

    @property
    def text(self) -> str:
        found = self.config_map()
        assert found
        text: str = found["data"]["kubelet"]
        return text

    def play(self, entry: str, hosts: dict[str, Any], *arguments: str, **variables: Any) -> Answer:
        """Run an entry of the role for hosts whose earlier phases left these results."""
        answer = self.folder / "answer.json"
        answer.unlink(missing_ok=True)
        inventory = {"all": {"hosts": hosts, "vars": {"ansible_connection": "local", **PYTHON}}}
        (self.folder / "hosts.json").write_text(json.dumps(inventory))
        role = {"name": "volcano.colocation.node", "tasks_from": entry}
        content = "{{ node_kubeadm | default({}) | to_json }}"
        note = {"content": content, "dest": str(answer), "mode": "0600"}
        tasks: list[dict[str, Any]] = [
            {"name": "Ask", "ansible.builtin.import_role": role},
            {"name": "Note", "ansible.builtin.copy": note, "run_once": True, **QUIETLY},
        ]
        play = {"name": "Ask", "hosts": "all", "gather_facts": False, "tasks": tasks}
        (self.folder / "play.yml").write_text(json.dumps([play]))
        options = {"colocation_kubeconfig": self.kubeconfig, **variables}
        run = ansible("play.yml", self.folder, "-i", "hosts.json", *arguments, **options)
        return Answer(run, json.loads(answer.read_text()) if answer.exists() else {})


def observed(name: str, **more: Any) -> dict[str, Any]:
    """Variables of a host that observe found aligned."""
    plan: dict[str, list[Any]] = {"refusals": [], "pending": [], "changes": []}
    about = {**identity(name), "kubeadm": True, "main_file": True, "fields": FIELDS}
    return {"node_observed": {"plan": plan, "verdict": "aligned", "kubeadm": {**about, **more}}}


def restored(name: str) -> dict[str, Any]:
    """Variables of a host that restore has put back."""
    return {"node_restored": {"node": identity(name), "pending": []}}


def identity(name: str) -> dict[str, Any]:
    machine = hashlib.sha256(f"machine-{name}".encode()).hexdigest()
    return {"names": [name], "machine_id_sha256": machine, "boot_id": f"boot-{name}"}


def up(folder: Path) -> ApiServer:
    found = json.loads(lab("cluster", "up", "--json"))
    return ApiServer(found["kubectl"], found["kubeconfig"], folder)
