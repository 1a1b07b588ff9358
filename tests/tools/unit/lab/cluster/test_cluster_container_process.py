# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A container as a process: what its manifest says becomes mounts, environment and rights."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.lab.cluster import container_process
from ansible_collections.volcano.colocation.tests.lab.errors import UnavailableError

POD: dict[str, Any] = {
    "metadata": {"name": "agent-1", "namespace": "volcano-system"},
    "spec": {
        "nodeName": "n1",
        "volumes": [
            {"name": "sys-fs", "hostPath": {"path": "/sys/fs", "type": "Directory"}},
            {"name": "logs", "hostPath": {"path": "/var/log/agent", "type": "DirectoryOrCreate"}},
            {"name": "token", "projected": {}},
        ],
    },
}
CONTAINER: dict[str, Any] = {
    "command": ["/program"],
    "env": [
        {"name": "CGROUP_DRIVER", "value": "systemd"},
        {"name": "KUBE_NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
    ],
    "securityContext": {"runAsUser": 1000, "capabilities": {"add": ["DAC_OVERRIDE"]}},
    "volumeMounts": [
        {"name": "sys-fs", "mountPath": "/host/sys/fs", "readOnly": True},
        {"name": "logs", "mountPath": "/var/log/agent"},
        {"name": "token", "mountPath": "/var/run/secrets"},
    ],
}


def test_paths_of_the_host_are_those_of_the_node(tmp_path: Path) -> None:
    mounts = container_process.mounts(POD, CONTAINER, tmp_path)
    assert mounts == [
        {"source": str(tmp_path / "sys/fs"), "target": "/host/sys/fs", "read_only": True},
        {"source": str(tmp_path / "var/log/agent"), "target": "/var/log/agent", "read_only": False},
    ]
    assert (tmp_path / "var/log/agent").is_dir()
    assert not (tmp_path / "sys").exists()


def test_variables_have_values_and_fields_of_the_pod() -> None:
    assert container_process.environment(POD, CONTAINER, 6443) == {
        "KUBERNETES_SERVICE_HOST": "127.0.0.1",
        "KUBERNETES_SERVICE_PORT": "6443",
        "CGROUP_DRIVER": "systemd",
        "KUBE_NODE_NAME": "n1",
    }


def test_another_user_cannot_start_a_container(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(UnavailableError, match="need root"):
        container_process.require_root()
