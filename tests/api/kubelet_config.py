# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster's kubelet-config on a real API server, and the role's entries that read and write it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ansible_collections.volcano.colocation.tests.api.apiserver import ApiServer, identity
from ansible_collections.volcano.colocation.tests.system.node import Run, Runner, ansible

NAME, JOURNAL = "kubelet-config", "volcano-colocation"
SIGNATURE = "kubeadm.kubernetes.io/component-config.hash"
FIELDS = [{"keys": ["cgroupDriver"], "value": "systemd"}, {"keys": ["systemReserved", "cpu"], "value": "500m"}]

DRIVER = "cgroupDriver: systemd\n"
COMMENT = "# ask Ada before you change this"
RESERVED = "systemReserved:\n  cpu: 500m\n"


@dataclass(frozen=True)
class Result:
    """A run with the module's result; ``module`` is empty where it failed."""

    run: Run
    module: dict[str, Any]


@dataclass(frozen=True)
class KubeletConfig:
    """``uploaded`` is the text that kubeadm uploads."""

    server: ApiServer
    uploaded: str

    @property
    def original(self) -> str:
        """The text before the role's first run: another driver, with an administrator's comment."""
        return self.uploaded.replace(DRIVER, f"cgroupDriver: cgroupfs   {COMMENT}\n")

    @property
    def written(self) -> str:
        """The text with ``FIELDS``."""
        return self.uploaded.replace(DRIVER, f"{COMMENT}\n{DRIVER}") + RESERVED

    def reset(self) -> None:
        """Restore the original text, and delete the journal."""
        if self.map(JOURNAL):
            self.server.kubectl("delete", "configmap", JOURNAL, "-n", "kube-system")
        if self.text != self.original:
            self.set_text(self.original)

    def set_text(self, text: str) -> None:
        patch = json.dumps({"data": {"kubelet": text}})
        self.server.kubectl("patch", "configmap", NAME, "-n", "kube-system", "--type=merge", "-p", patch)

    def map(self, name: str = NAME) -> dict[str, Any] | None:
        return self.server.get("configmap", name, "-n", "kube-system")

    @property
    def text(self) -> str:
        config_map = self.map()
        assert config_map
        text: str = config_map["data"]["kubelet"]
        return text

    def state(self) -> tuple[str, dict[str, Any] | None]:
        """The text and the journal."""
        return self.text, self.map(JOURNAL)

    def play(
        self,
        entry: str,
        hosts: dict[str, Any],
        *arguments: str,
        runner: Runner = ansible,
        **variables: Any,
    ) -> Result:
        """Run an entry of the role for hosts whose earlier phases registered these results."""
        role = {"name": "volcano.colocation.node", "tasks_from": entry}
        tasks: list[dict[str, Any]] = [
            {"name": "Ask", "ansible.builtin.import_role": role},
            {"name": "Result", "ansible.builtin.debug": {"var": "node_kubeadm"}, "run_once": True},
        ]
        options = {"colocation_kubeconfig": self.server.kubeconfig, **variables}
        run = self.server.run({"name": "Ask", "tasks": tasks}, hosts, *arguments, runner=runner, **options)
        return Result(run, _module_result(run.output))


def _module_result(output: str) -> dict[str, Any]:
    """The output of the debug task; {} where the run did not reach it, or the role sent no request to the cluster."""
    _before, separator, printed = output.partition("TASK [Result]")
    if not separator:
        return {}
    value = json.JSONDecoder().raw_decode(printed, printed.index("{"))[0]["node_kubeadm"]
    return value if isinstance(value, dict) else {}


def observed(name: str, **more: Any) -> dict[str, Any]:
    """Variables of a host that is aligned according to observe."""
    plan: dict[str, list[Any]] = {"refusals": [], "pending": [], "changes": []}
    description = {"names": [name], **identity(name), "kubeadm": True, "main_file": True, "fields": FIELDS}
    return {"node_observed": {"plan": plan, "verdict": "aligned", "kubeadm": {**description, **more}}}


def restored(name: str) -> dict[str, Any]:
    """Variables of a host that restore has restored."""
    return {"node_restored": {"node": {"names": [name], **identity(name)}, "pending": []}}
