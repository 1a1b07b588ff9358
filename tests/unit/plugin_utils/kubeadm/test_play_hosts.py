# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts of the play, parsed from the results that the role's phases registered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.interpreter import interpret
from ansible_collections.volcano.colocation.plugins.plugin_utils.kubeadm.play_hosts import (
    describe_node,
    parse_host,
    parse_restored_host,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.change_set import Change, Plan, Refusal
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.node_profile import parse_profile
from ansible_collections.volcano.colocation.plugins.plugin_utils.report.plan_result import plan_result
from ansible_collections.volcano.colocation.tests.support.clusters.kubeadm_clusters import sha256
from ansible_collections.volcano.colocation.tests.support.hosts.host_layouts import Node

CHANGE = Change("kubelet", "cgroupDriver", "cgroupfs", "systemd", "differs", frozenset(), "/x", ("cgroupDriver",))
DESCRIPTION: dict[str, Any] = {
    "names": ["worker-1"],
    "machine_id_sha256": "abc",
    "boot_id": "boot",
    "kubeadm": True,
    "main_file": True,
    "fields": [{"keys": ["cgroupDriver"], "value": "systemd"}],
}


def observed(plan: Plan, **more: Any) -> dict[str, Any]:
    return {"plan": plan_result(plan), "kubeadm": DESCRIPTION, "verdict": "misaligned", **more}


def test_a_kubeadm_node_describes_itself(tmp_path: Path) -> None:
    files = {"/etc/machine-id": "0123456789abcdef0123456789abcdef\n", "/proc/sys/kernel/hostname": "Worker-1\n"}
    snapshot = Node(tmp_path, "kubeadm", files=files, live={"system": {"boot_id": "b-1"}}).snapshot
    profile = parse_profile({"cgroup_driver": "systemd", "system_reserved": {"cpu": "1"}})
    description = describe_node(interpret(snapshot), snapshot, profile)
    assert description == {
        "names": ["worker-1"],
        "machine_id_sha256": sha256("0123456789abcdef0123456789abcdef"),
        "boot_id": "b-1",
        "kubeadm": True,
        "main_file": True,
        "fields": [
            {"keys": ["cgroupDriver"], "value": "systemd"},
            {"keys": ["systemReserved", "cpu"], "value": "1"},
        ],
    }


def test_kubelets_hostname_override_comes_first(tmp_path: Path) -> None:
    argv = ["/usr/bin/kubelet", "--config=/var/lib/kubelet/config.yaml", "--hostname-override=Node-7.example"]
    node = Node(tmp_path, "kubeadm", processes={"kubelet": {"argv": argv}}, files={"/proc/sys/kernel/hostname": "w\n"})
    snapshot = node.snapshot
    assert describe_node(interpret(snapshot), snapshot, parse_profile({}))["names"] == ["node-7.example", "w"]


def test_settings_of_a_drop_in_are_not_in_kubeadms_file(tmp_path: Path) -> None:
    snapshot = Node(tmp_path, "kubeadm-1.30-config-dir").snapshot
    description = describe_node(interpret(snapshot), snapshot, parse_profile({"cgroup_driver": "systemd"}))
    assert (description["kubeadm"], description["main_file"]) == (True, False)


@pytest.mark.parametrize(
    ("before", "after", "planned", "lacks"),
    [
        (observed(Plan(), verdict="aligned"), None, False, None),
        (observed(Plan()), None, False, "it is misaligned"),
        (observed(Plan(changes=(CHANGE,)), observation="id"), None, True, None),
        (observed(Plan(changes=(CHANGE,)), observation="id"), None, False, "its plan was not applied"),
        (observed(Plan(changes=(CHANGE,)), observation="id"), {"transaction": {"state": "committed"}}, False, None),
        (
            observed(Plan(changes=(CHANGE,)), observation="id"),
            {"transaction": {"state": "committed"}, "failed": True},
            False,
            "its plan was not applied",
        ),
        (
            observed(Plan(changes=(CHANGE,)), observation="id"),
            {"transaction": {"state": "rolled-back"}, "failed": True},
            False,
            "its plan was not applied",
        ),
        (observed(Plan(pending=(CHANGE,))), None, True, "1 setting(s) of it are pending"),
        (observed(Plan(refusals=(Refusal("x", "y", "z"),))), None, True, "the profile cannot be applied to it"),
        ({"plan": {}}, None, True, "it was not observed in this run"),
        (None, None, True, "it was not observed in this run"),
    ],
)
def test_why_a_host_is_not_aligned(before: Any, after: Any, planned: bool, lacks: str | None) -> None:
    parsed = parse_host("Worker.example", before, after, planned=planned)
    assert parsed.lacks == lacks
    if lacks != "it was not observed in this run":
        assert parsed.node_names == ("worker-1", "worker.example")
        assert parsed.fields == {("cgroupDriver",): "systemd"}


@pytest.mark.parametrize(
    ("restored", "lacks"),
    [
        ({"node": DESCRIPTION, "pending": []}, None),
        ({"node": DESCRIPTION, "pending": [{}, {}]}, "2 setting(s) of it are not restored yet"),
        ({"node": DESCRIPTION, "failed": True}, "it was not restored in this run"),
        (None, "it was not restored in this run"),
    ],
)
def test_why_a_host_is_not_restored(restored: Any, lacks: str | None) -> None:
    assert parse_restored_host("a", restored).lacks == lacks
