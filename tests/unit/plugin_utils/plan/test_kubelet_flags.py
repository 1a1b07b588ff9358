# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deprecated flags that override the profile: removed from environment files, refused in other places."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.state import plan_document as node_side
from ansible_collections.volcano.colocation.plugins.plugin_utils.assessment.node_plan import make_plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.interpreter import interpret
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.kubelet_state import Flag, Start
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.change_set import Impact
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.file_edits import file_edits
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.kubelet_changes import (
    changed_entries,
    find_overrides,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.transaction_document import transaction_document
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.kubelet_fields import FEATURE_GATES
from ansible_collections.volcano.colocation.tests.support.hosts.host_layouts import Node, profile

HOST = "kubeadm-overriding-flags"
KUBEADM = "/var/lib/kubelet/kubeadm-flags.env"
DEFAULT = "/etc/default/kubelet"
DROP_IN = "/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf"
MAIN = "/var/lib/kubelet/config.yaml"
HEAD = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
DESIRED = {"cgroup_driver": "systemd", "cpu_manager_policy": "none"}
RESTART = frozenset({Impact.RESTART_KUBELET})
DISRUPTIVE = RESTART | {Impact.DRAIN}
KUBECONFIG = [
    "--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf",
    "--kubeconfig=/etc/kubernetes/kubelet.conf",
]
START = ["/usr/bin/kubelet", *KUBECONFIG, "--config=/var/lib/kubelet/config.yaml"]


def started(*flags: str) -> dict[str, Any]:
    """A kubelet that runs with these flags."""
    return {"kubelet": {"argv": [*START, *flags]}}


def test_the_plan_names_each_removed_flag_its_file_and_the_reason(tmp_path: Path) -> None:
    result = Node(tmp_path, HOST).changes(DESIRED)
    assert [str(change) for change in result] == [
        "kubelet cpuManagerPolicy: unset -> none",
        f"kubelet flag --cgroup-driver=cgroupfs: removed from {KUBEADM}, it overrides cgroupDriver",
        f"kubelet flag --cpu-manager-policy=none: removed from {DEFAULT}, it overrides cpuManagerPolicy",
    ]
    # Removing the driver's flag changes the effective driver; the policy's flag has the value that the file gets.
    assert [change.needs for change in result] == [RESTART, DISRUPTIVE, RESTART]


def test_other_lines_stay_and_a_restarted_kubelet_needs_nothing(tmp_path: Path) -> None:
    node = Node(tmp_path, HOST)
    main = node.file(MAIN)
    assert node.edited(DESIRED) == {
        MAIN: main + "cpuManagerPolicy: none\n",
        KUBEADM: 'KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=unix:///run/containerd/containerd.sock'
        ' --pod-infra-container-image=registry.k8s.io/pause:3.9"\n',
        DEFAULT: "# the site's own\nKUBELET_EXTRA_ARGS='--node-ip=10.0.0.7'\n",
    }
    remaining = node.changes(DESIRED)
    assert [(change.path, change.needs) for change in remaining] == [(None, DISRUPTIVE), (None, DISRUPTIVE)]
    assert "kubelet still runs with --cgroup-driver=cgroupfs" in str(remaining[0])
    node.changed(processes=started("--node-ip=10.0.0.7"))
    assert node.changes(DESIRED) == ()
    assert node.facts.driver.source == MAIN


def test_a_flag_of_a_field_that_the_profile_does_not_set_stays(tmp_path: Path) -> None:
    assert Node(tmp_path, HOST).changes({"topology_manager_policy": "restricted"})[0].path == MAIN
    assert {change.target for change in Node(tmp_path / "2", HOST).changes({"read_only_port": 10255})} == {"kubelet"}


def test_a_flag_that_kubelet_does_not_read_stays(tmp_path: Path) -> None:
    """The unit of the rpm does not read /etc/default/kubelet."""
    node = Node(tmp_path, "kubeadm-rpm-stale-default-file")
    assert node.changes({"cgroup_driver": "systemd"}) == ()
    assert node.refused({"cgroup_driver": "systemd"}) == []


def test_a_flag_of_the_next_start_alone_is_removed_without_a_restart(tmp_path: Path) -> None:
    node = Node(tmp_path, "kubeadm-deb-flags-change", processes=started("--node-ip=10.0.0.7"))
    result = node.changes({"cgroup_driver": "systemd"})
    assert [(change.path, change.needs) for change in result] == [(KUBEADM, frozenset()), (DEFAULT, frozenset())]
    node.edited({"cgroup_driver": "systemd"})
    assert node.file(DEFAULT) == "KUBELET_EXTRA_ARGS=\n"
    assert node.changes({"cgroup_driver": "systemd"}) == ()


def test_a_flag_in_a_unit_file_is_refused_by_its_name(tmp_path: Path) -> None:
    node = Node(tmp_path, HOST)
    text = node.file(DROP_IN).replace("--config=/var", "--cgroup-driver=cgroupfs --config=/var")
    node.changed(files={DROP_IN: text})
    assert node.refused(DESIRED) == [("flag-overrides-config", DROP_IN)]
    assert node.refused({"read_only_port": 0}) == []


def test_a_flag_behind_a_link_is_refused(tmp_path: Path) -> None:
    node = Node(
        tmp_path, HOST, files={"/etc/site.env": "KUBELET_EXTRA_ARGS=--cpu-manager-policy=none\n", DEFAULT: None}
    )
    node.changed(links={DEFAULT: "../site.env"})
    assert node.refused(DESIRED) == [("flag-overrides-config", DEFAULT)]


@pytest.mark.parametrize(("state", "codes"), [("yes", ["unit-not-reloaded"]), ("no", [])])
def test_a_unit_that_systemd_has_not_reloaded_is_not_evaluated(state: str, codes: list[str], tmp_path: Path) -> None:
    node = Node(tmp_path, HOST)
    node.changed(live={"services": {"units": {"kubelet.service": {"NeedDaemonReload": state}}}})
    assert [code for code, _file in node.refused(DESIRED)] == codes
    assert node.refused({"read_only_port": 0}) == []


def test_a_flag_is_refused_if_the_unit_is_unknown(tmp_path: Path) -> None:
    node = Node(tmp_path, "kubeadm", processes=started("--cgroup-driver=cgroupfs"))
    assert node.refused({"cgroup_driver": "systemd"}) == [("flag-overrides-config", MAIN)]


@pytest.mark.parametrize(
    ("flag", "reserved", "codes"),
    [
        ("cpu=1", {"cpu": "500m"}, []),
        ("cpu=1,memory=1Gi", {"cpu": "500m", "memory": "1Gi"}, []),
        ("cpu=1,memory=1Gi", {"cpu": "500m"}, ["flag-has-other-entries"]),
    ],
)
def test_a_flag_with_more_entries_than_the_profile_is_not_removed(
    flag: str, reserved: dict[str, str], codes: list[str], tmp_path: Path
) -> None:
    node = Node(tmp_path, HOST, files={DEFAULT: f"KUBELET_EXTRA_ARGS=--system-reserved={flag}\n"})
    node.changed(processes=started(f"--system-reserved={flag}"))
    assert [code for code, _file in node.refused({"system_reserved": reserved})] == codes


def test_a_flag_that_hides_entries_of_the_file_is_not_removed(tmp_path: Path) -> None:
    node = Node(tmp_path, HOST, files={DEFAULT: "KUBELET_EXTRA_ARGS=--system-reserved=cpu=1\n"})
    node.changed(files={MAIN: node.file(MAIN) + "systemReserved: {memory: 8Gi}\n"})
    assert node.refused({"system_reserved": {"cpu": "1"}}) == [("flag-has-other-entries", DEFAULT)]


def test_a_restart_without_an_outdated_flag_disrupts_pods_for_every_change(tmp_path: Path) -> None:
    """A user removed the flag by hand; an unrelated change must not switch the driver under running pods."""
    node = Node(tmp_path, HOST, files={KUBEADM: "KUBELET_KUBEADM_ARGS=\n", DEFAULT: "KUBELET_EXTRA_ARGS=\n"})
    result = node.changes({"cgroup_driver": "systemd", "read_only_port": 10255})
    assert {change.needs for change in result} == {DISRUPTIVE}


def test_a_file_that_agrees_with_its_flag_only_needs_a_restart(tmp_path: Path) -> None:
    """The flag already sets the desired value; the file replaces it, and no pod is affected."""
    node = Node(
        tmp_path,
        HOST,
        files={MAIN: HEAD + "cgroupDriver: systemd\n", KUBEADM: "KUBELET_KUBEADM_ARGS=--cgroup-driver=cgroupfs\n"},
    )
    result = node.changes({"cgroup_driver": "cgroupfs"})
    assert [(change.path, change.needs) for change in result] == [(MAIN, RESTART), (KUBEADM, RESTART)]


def test_a_flag_is_removed_from_kubesprays_continued_lines(tmp_path: Path) -> None:
    node = Node(tmp_path, "kubespray-flags")
    path = "/etc/kubernetes/kubelet.env"
    before = node.file(path)
    texts = node.edited({"topology_manager_policy": "best-effort"})
    assert texts[path] == before.replace(" --topology-manager-policy=restricted \\\n", "")
    assert texts["/etc/kubernetes/kubelet-config.yaml"].endswith("\ntopologyManagerPolicy: best-effort\n")


def test_without_permission_flag_and_field_wait_together(tmp_path: Path) -> None:
    facts = Node(tmp_path, HOST).facts
    plan = make_plan(facts, profile({"cgroup_driver": "systemd"}), allow_disruption=False)
    assert [change.target for change in plan.pending] == ["kubelet flag"]
    assert (plan.changes, plan.strategy, plan.paths) == ((), "main-file", (MAIN,))


def test_the_transaction_of_a_driver_that_a_flag_gave_moves_trees_and_checkpoint(tmp_path: Path) -> None:
    """Only flags are removed, but the pod cgroups change, and the checkpoint of the policy must be moved."""
    node = Node(
        tmp_path,
        HOST,
        files={MAIN: HEAD + 'cgroupDriver: systemd\ncpuManagerPolicy: static\nkubeReserved: {cpu: "1"}\n'},
    )
    desired_profile = profile({"cgroup_driver": "systemd", "cpu_manager_policy": "static"})
    snapshot = node.snapshot
    facts = interpret(snapshot)
    plan = make_plan(facts, desired_profile, allow_disruption=True)
    result = transaction_document(facts, plan, desired_profile, file_edits(snapshot, plan.changes), 300)
    node_side.parse_plan(json.dumps(result))
    assert [file["path"] for file in result["files"]] == [KUBEADM, DEFAULT]
    assert (result["stale_cgroups"], result["fresh_cgroups"]) == (["kubepods"], ["kubepods.slice"])
    assert result["checkpoints"] == ["/var/lib/kubelet/cpu_manager_state"]
    assert result["sandboxes"]["action"] == "stop"
    assert result["services"]["kubelet"] == {"unit": "kubelet.service", "action": "restart"}


GATES = (Flag("--feature-gates", "A=true,C=true", "x"),)


@pytest.mark.parametrize(("gate", "count"), [("A", 1), ("B", 0)])
def test_gates_of_a_flag_override_only_their_own(gate: str, count: int, tmp_path: Path) -> None:
    """cmd/kubelet/app/server.go merges feature gates one by one."""
    facts = replace(Node(tmp_path, "kubeadm").facts.kubelet, start=Start(running=GATES))
    assert len(find_overrides(facts, ((FEATURE_GATES, ("featureGates", gate), True),))) == count


@pytest.mark.parametrize(
    ("below", "text"),
    [(None, "C=true"), ({"C": True}, ""), ({"C": False}, "C=true"), ({"C": True, "D": True}, "")],
)
def test_gates_that_would_be_removed_with_the_flag(below: Any, text: str) -> None:
    assert changed_entries(FEATURE_GATES, GATES, below, (("featureGates", "A"),)) == text
