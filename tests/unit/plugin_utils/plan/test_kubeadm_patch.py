# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubeadm's patch directory: a separate patch that is applied last, and what prevents it from taking effect."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import yaml

from ansible_collections.volcano.colocation.plugins.plugin_utils.assessment.node_plan import make_plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.change_set import Plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.draft import PlanDraft
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.file_edits import file_edits
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.owner_instructions import overwritten_files
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.catalogue import KUBEADM_REFUSALS, refusals
from ansible_collections.volcano.colocation.tests.support.hosts.host_layouts import Node, profile

DIRECTORY = "/etc/kubernetes/patches"
OWN = f"{DIRECTORY}/kubeletconfigurationzz-volcano-colocation+merge.yaml"
DESIRED: Mapping[str, Any] = MappingProxyType(
    {
        "kubeadm_patches": DIRECTORY,
        "cgroup_driver": "systemd",
        "system_reserved": {"cpu": "500m"},
        "pod_pids_limit": -1,
    }
)
TEXT = """# Made by volcano.colocation for kubeadm --patches. Keep patches of your own in another file.
cgroupDriver: systemd
podPidsLimit: -1
systemReserved:
  cpu: 500m
"""
V131: dict[str, Any] = {"kubelet": {"version": "Kubernetes v1.31.2"}}


def kubeadm_node(directory: Path, files: dict[str, str] | None = None, **changed: Any) -> Node:
    live = changed.pop("live", V131)
    placed = {f"{DIRECTORY}/{name}": text for name, text in (files or {}).items()}
    return Node(directory, "kubeadm", live=live, files=placed, kubeadm_patches=DIRECTORY, **changed)


def written(node: Node, options: Mapping[str, Any] = DESIRED) -> dict[str, str]:
    """The patches that a plan writes; the node then has them."""
    snapshot = node.snapshot
    changes = PlanDraft(node.facts, profile(options)).patch_changes
    texts = {edit.path: edit.after for edit in file_edits(snapshot, changes)}
    node.changed(files=texts)
    return texts


def plan(node: Node, options: Mapping[str, Any] = DESIRED, *, allow_disruption: bool = True) -> Plan:
    return make_plan(node.facts, profile(options), allow_disruption=allow_disruption)


def refused(node: Node, options: Mapping[str, Any] = DESIRED) -> list[tuple[str, str | None]]:
    return [
        (refusal.code, refusal.file) for refusal in refusals(PlanDraft(node.facts, profile(options)), KUBEADM_REFUSALS)
    ]


def test_all_settings_of_the_profile_are_in_a_separate_file(tmp_path: Path) -> None:
    """Also values that the main file has already, or by default: the cluster's configuration may differ."""
    node = kubeadm_node(tmp_path)
    assert written(node) == {OWN: TEXT}
    assert written(node) == {}


def test_one_more_setting_is_added_and_other_lines_stay(tmp_path: Path) -> None:
    node = kubeadm_node(tmp_path)
    written(node)
    assert written(node, {**DESIRED, "system_reserved": {"cpu": "500m", "memory": "1Gi"}}) == {
        OWN: TEXT + "  memory: 1Gi\n"
    }


def test_the_patch_needs_no_restart_and_names_the_file(tmp_path: Path) -> None:
    (change,) = PlanDraft(
        kubeadm_node(tmp_path).facts, profile({"kubeadm_patches": DIRECTORY, "pod_pids_limit": 99})
    ).patch_changes
    assert (change.path, change.setting, change.before, change.after) == (OWN, "podPidsLimit", None, 99)
    assert change.needs == frozenset()
    assert str(change) == "kubeadm patch podPidsLimit: unset -> 99"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("kubeletconfiguration+merge.yaml", "cgroupDriver: systemd\nsystemReserved: {cpu: 500m}\npodPidsLimit: -1\n"),
        ("kubeletconfiguration.yaml", "cgroupDriver: systemd\nsystemReserved: {cpu: 0.5}\n---\npodPidsLimit: -1\n"),
        ("kubeletconfiguration0.json", '{"cgroupDriver":"systemd","systemReserved":{"cpu":"500m"},"podPidsLimit":-1}'),
    ],
)
def test_a_foreign_patch_with_the_same_values_is_enough(name: str, text: str, tmp_path: Path) -> None:
    # kubelet rejects a number as a quantity: then only that field is written
    expected = {} if "0.5" not in text else {OWN: TEXT.splitlines(keepends=True)[0] + "systemReserved:\n  cpu: 500m\n"}
    assert written(kubeadm_node(tmp_path, {name: text})) == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("kubeletconfiguration+merge.yaml", "cgroupDriver: cgroupfs\n"),
        ("kubeletconfiguration1+json.yaml", "- {op: replace, path: /cgroupDriver, value: cgroupfs}\n"),
        ("kubeletconfiguration+json.json", '[{"op": "remove", "path": "/cgroupDriver"}]'),
        ("kubeletconfiguration+strategic.yaml", "cgroupDriver: null\n"),
        ("kubeletconfiguration.yaml", "$patch: replace\ncgroupDriver: systemd\n"),
        ("aaa/kubeletconfiguration.yaml", "cgroupDriver: cgroupfs\n"),
    ],
)
def test_the_own_patch_repeats_values_of_an_earlier_patch(name: str, text: str, tmp_path: Path) -> None:
    only = {"kubeadm_patches": DIRECTORY, "cgroup_driver": "systemd"}
    node = kubeadm_node(tmp_path, {name: text})
    assert refused(node, only) == []
    assert yaml.safe_load(written(node, only)[OWN]) == {"cgroupDriver": "systemd"}
    assert node.file(f"{DIRECTORY}/{name}") == text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("zz/kubeletconfiguration+merge.yaml", "cgroupDriver: cgroupfs\n"),
        ("zz/kubeletconfiguration+json.yaml", "- {op: add, path: /cgroupDriver, value: systemd}\n"),
        ("kubeletconfigurationzzz.yaml", "cgroupDriver: null\n"),
        ("kubeletconfigurationzzz.json", '{"cgroupDriver": "cgroupfs", "systemReserved": {"memory": "1Gi"}}'),
    ],
)
def test_a_later_patch_with_another_value_is_named(name: str, text: str, tmp_path: Path) -> None:
    assert refused(kubeadm_node(tmp_path, {name: text})) == [("kubeadm-patch-overrides", f"{DIRECTORY}/{name}")]


def test_a_later_patch_of_other_fields_or_the_same_value_is_ignored(tmp_path: Path) -> None:
    text = "cgroupDriver: systemd\nmaxPods: 50\nsystemReserved: {memory: 1Gi}\n"
    assert refused(kubeadm_node(tmp_path, {"kubeletconfigurationzzz.yaml": text})) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("kubeletconfiguration.yaml", "cgroupDriver: [\n"),
        ("kubeletconfiguration.json", "[1]"),
        ("kubeletconfiguration+json.yaml", "op: add\n"),
    ],
)
def test_a_patch_that_does_not_parse_is_refused(name: str, text: str, tmp_path: Path) -> None:
    assert refused(kubeadm_node(tmp_path, {name: text})) == [("kubeadm-patch-unreadable", f"{DIRECTORY}/{name}")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("kubeletconfiguration.yaml", ""),
        ("kube-apiserver.yaml", "spec: [\n"),
        ("kubeletconfiguration.yaml.bak", "cgroupDriver: [\n"),
    ],
)
def test_files_that_kubeadm_ignores_are_ignored(name: str, text: str, tmp_path: Path) -> None:
    node = kubeadm_node(tmp_path, {name: text})
    assert refused(node) == []
    assert written(node) == {OWN: TEXT}


def test_kubeadm_does_not_follow_a_link_to_a_directory(tmp_path: Path) -> None:
    node = kubeadm_node(tmp_path, links={DIRECTORY: "/srv/patches"})
    assert refused(node) == [("kubeadm-patches-not-a-directory", DIRECTORY)]


def test_more_patches_than_are_read_are_refused(tmp_path: Path) -> None:
    files = {f"kubeletconfiguration{number:02}.yaml": "maxPods: 5\n" for number in range(65)}
    assert refused(kubeadm_node(tmp_path, files)) == [("kubeadm-patches-not-read", DIRECTORY)]


def test_without_a_directory_no_patch_is_written(tmp_path: Path) -> None:
    assert written(kubeadm_node(tmp_path), {"cgroup_driver": "systemd"}) == {}


@pytest.mark.parametrize(
    ("name", "changed", "reason"),
    [
        ("kubespray", {}, "the node's layout is kubespray, not kubeadm"),
        (
            "kubeadm",
            {"live": {"kubelet": {"version": "Kubernetes v1.24.9"}}},
            "kubeadm 1.24.9 ignores patches of kubelet's configuration, as does every kubeadm before 1.25",
        ),
        ("kubeadm-1.30-config-dir", {}, "its settings are in a drop-in, which kubeadm does not change"),
    ],
)
def test_a_node_that_gets_none_says_why(name: str, changed: dict[str, Any], reason: str, tmp_path: Path) -> None:
    result = plan(Node(tmp_path, name, kubeadm_patches=DIRECTORY, **changed))
    assert [(setting.setting, setting.reason) for setting in result.skipped] == [("kubeadm_patches", reason)]
    assert not [change for change in result.changes if change.path == OWN]


def test_an_older_snapshot_has_no_patches(tmp_path: Path) -> None:
    result = plan(Node(tmp_path, "kubeadm", live=V131))
    assert [setting.reason for setting in result.skipped] == ["the snapshot does not contain the patch directory"]


def test_with_the_patch_kubeadm_overwrites_flags_only(tmp_path: Path) -> None:
    with_patch = plan(kubeadm_node(tmp_path), {**DESIRED, "pod_pids_limit": 99})
    without = plan(kubeadm_node(tmp_path), {"pod_pids_limit": 99})
    assert [overwritten_files(owner, with_patch.changes) for owner in with_patch.owners] == [()]
    assert [overwritten_files(owner, without.changes) for owner in without.owners] == [
        ("/var/lib/kubelet/config.yaml",)
    ]


def test_pending_changes_of_kubelet_are_not_written_to_the_patch(tmp_path: Path) -> None:
    options = {**DESIRED, "cpu_manager_policy": "static"}
    pods = {"runtime": {"cri": {"sandboxes": [{"ready": True}]}}}
    result = plan(kubeadm_node(tmp_path, live={**V131, **pods}), options, allow_disruption=False)
    patched = [
        (change.setting, change in result.pending)
        for change in (*result.changes, *result.pending)
        if change.path == OWN
    ]
    assert sorted(patched) == [
        ("cgroupDriver", False),
        ("cpuManagerPolicy", True),
        ("podPidsLimit", False),
        ("systemReserved.cpu", True),
    ]
