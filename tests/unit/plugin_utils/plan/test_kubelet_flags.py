# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deprecated flags that beat the profile: out of their environment files, refused where they stand elsewhere."""

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


def test_the_plan_says_which_flag_goes_from_where_and_why(tmp_path: Path) -> None:
    result = Node(tmp_path, HOST).changes(DESIRED)
    assert [str(change) for change in result] == [
        "kubelet cpuManagerPolicy: unset -> none",
        f"kubelet flag --cgroup-driver=cgroupfs: removed from {KUBEADM}, it overrides cgroupDriver",
        f"kubelet flag --cpu-manager-policy=none: removed from {DEFAULT}, it overrides cpuManagerPolicy",
    ]
    # The driver in force changes with its flag; the policy's flag says what the file will say.
    assert [change.needs for change in result] == [RESTART, DISRUPTIVE, RESTART]


def test_the_files_keep_all_else_and_a_restarted_kubelet_needs_nothing(tmp_path: Path) -> None:
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


def test_a_flag_of_a_field_that_is_left_alone_stays(tmp_path: Path) -> None:
    assert Node(tmp_path, HOST).changes({"topology_manager_policy": "restricted"})[0].path == MAIN
    assert {change.target for change in Node(tmp_path / "2", HOST).changes({"read_only_port": 10255})} == {"kubelet"}


def test_a_flag_nobody_reads_stays(tmp_path: Path) -> None:
    """The unit of the rpm does not read /etc/default/kubelet."""
    node = Node(tmp_path, "kubeadm-rpm-stale-default-file")
    assert node.changes({"cgroup_driver": "systemd"}) == ()
    assert node.refused({"cgroup_driver": "systemd"}) == []


def test_a_flag_of_the_next_start_alone_goes_without_a_restart(tmp_path: Path) -> None:
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
def test_a_unit_that_systemd_has_not_read_again_tells_nothing(state: str, codes: list[str], tmp_path: Path) -> None:
    node = Node(tmp_path, HOST)
    node.changed(live={"services": {"units": {"kubelet.service": {"NeedDaemonReload": state}}}})
    assert [code for code, _file in node.refused(DESIRED)] == codes
    assert node.refused({"read_only_port": 0}) == []


def test_where_no_unit_was_seen_the_flag_is_refused(tmp_path: Path) -> None:
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
def test_a_flag_that_holds_more_than_the_profile_names_is_not_dropped(
    flag: str, reserved: dict[str, str], codes: list[str], tmp_path: Path
) -> None:
    node = Node(tmp_path, HOST, files={DEFAULT: f"KUBELET_EXTRA_ARGS=--system-reserved={flag}\n"})
    node.changed(processes=started(f"--system-reserved={flag}"))
    assert [code for code, _file in node.refused({"system_reserved": reserved})] == codes


def test_entries_of_the_file_that_the_flag_hides_are_not_let_loose(tmp_path: Path) -> None:
    node = Node(tmp_path, HOST, files={DEFAULT: "KUBELET_EXTRA_ARGS=--system-reserved=cpu=1\n"})
    node.changed(files={MAIN: node.file(MAIN) + "systemReserved: {memory: 8Gi}\n"})
    assert node.refused({"system_reserved": {"cpu": "1"}}) == [("flag-has-other-entries", DEFAULT)]


def test_a_restart_that_drops_a_flag_disturbs_pods_whoever_asks_for_it(tmp_path: Path) -> None:
    """The file was cleaned by hand; a quiet change of today must not switch the driver under running pods."""
    node = Node(tmp_path, HOST, files={KUBEADM: "KUBELET_KUBEADM_ARGS=\n", DEFAULT: "KUBELET_EXTRA_ARGS=\n"})
    result = node.changes({"cgroup_driver": "systemd", "read_only_port": 10255})
    assert {change.needs for change in result} == {DISRUPTIVE}


def test_a_file_that_agrees_with_its_flag_only_waits_for_a_restart(tmp_path: Path) -> None:
    """The flag has been giving kubelet what is wanted; the file takes over from it, and no pod notices."""
    node = Node(
        tmp_path,
        HOST,
        files={MAIN: HEAD + "cgroupDriver: systemd\n", KUBEADM: "KUBELET_KUBEADM_ARGS=--cgroup-driver=cgroupfs\n"},
    )
    result = node.changes({"cgroup_driver": "cgroupfs"})
    assert [(change.path, change.needs) for change in result] == [(MAIN, RESTART), (KUBEADM, RESTART)]


def test_a_flag_is_taken_out_of_kubesprays_continued_lines(tmp_path: Path) -> None:
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
    """Only a flag goes, and yet the trees change and the policy's checkpoint has to go with its flag."""
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
def test_gates_of_a_flag_beat_only_their_own(gate: str, count: int, tmp_path: Path) -> None:
    """cmd/kubelet/app/server.go merges feature gates one by one."""
    facts = replace(Node(tmp_path, "kubeadm").facts.kubelet, start=Start(running=GATES))
    assert len(find_overrides(facts, ((FEATURE_GATES, ("featureGates", gate), True),))) == count


@pytest.mark.parametrize(
    ("below", "text"),
    [(None, "C=true"), ({"C": True}, ""), ({"C": False}, "C=true"), ({"C": True, "D": True}, "")],
)
def test_gates_that_would_go_with_the_flag(below: Any, text: str) -> None:
    assert changed_entries(FEATURE_GATES, GATES, below, (("featureGates", "A"),)) == text
