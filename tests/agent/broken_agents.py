# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Agents that another client has broken: they run, are healthy for kubelet and publish capacity."""

from __future__ import annotations

from typing import Any

from ansible_collections.volcano.colocation.tests.agent.field import BLIND, MISLED, Field

AGENT = "volcano-agent"


def break_agents(field: Field) -> None:
    """Take the cgroups from one agent, and give another the driver that its node does not use."""
    _change(field, BLIND, volumeMounts=[_elsewhere(mount) for mount in _agent(field, BLIND)["volumeMounts"]])
    _change(field, MISLED, env=[_other_driver(variable) for variable in _agent(field, MISLED)["env"]])


def _agent(field: Field, node: str) -> dict[str, Any]:
    containers = field.daemon_set(node)["spec"]["template"]["spec"]["containers"]
    return next(container for container in containers if container["name"] == AGENT)


def _change(field: Field, node: str, **fields: Any) -> None:
    """A merge patch replaces lists as a whole."""
    container = {**_agent(field, node), **fields}
    field.cluster.patch(field.daemon_set(node), {"spec": {"template": {"spec": {"containers": [container]}}}})


def _elsewhere(mount: dict[str, Any]) -> dict[str, Any]:
    return {**mount, "mountPath": "/sys/fs"} if mount["mountPath"] == "/host/sys/fs" else mount


def _other_driver(variable: dict[str, Any]) -> dict[str, Any]:
    return {**variable, "value": "systemd"} if variable["name"] == "CGROUP_DRIVER" else variable
