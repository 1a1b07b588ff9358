# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The changes, notes and refusals of a restore; the node's parser accepts its transaction."""

from __future__ import annotations

import json
import platform
from collections.abc import Collection
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.state.plan_document import parse_plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.interpreter import SnapshotError
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.change_set import Impact
from ansible_collections.volcano.colocation.plugins.plugin_utils.restore.execution import (
    conflict_message,
    render_diffs,
    restore_document,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.restore.ledger_evidence import (
    SECTIONS,
    Evidence,
    read_evidence,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.restore.ledger_plan import RestorePlan, plan_restore
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    CHECKPOINT,
    DIFFERING,
    KUBELET_FILE,
    RUNTIME_FILE,
    captured,
    put,
    without_pods,
)
from ansible_collections.volcano.colocation.tests.support.hosts.ledger_reports import (
    NOTHING,
    QOS,
    checkpoint,
    content,
    evidence,
    kubelet_file,
    provisioned,
    runtime_file,
    target,
)

SECRET = "hunter2-Zm9v"
STATE, ENGINE = "/var/lib/volcano-colocation", "/usr/local/lib/volcano-colocation"
DRAINED = {Impact.RESTART_KUBELET, Impact.RESTART_RUNTIME, Impact.DRAIN}


def planned(node_evidence: Evidence, sections: Collection[str] = SECTIONS, *, allow: bool | None = True) -> RestorePlan:
    return plan_restore(node_evidence, sections, allow_disruption=allow)


def document(restore: RestorePlan) -> dict[str, Any]:
    transaction = restore_document(restore.files, 300)
    assert parse_plan(json.dumps(transaction)).controller == (platform.node() or None)
    return transaction


def needs(restore: RestorePlan) -> set[Impact]:
    return set().union(*(change.needs for change in restore.changes))


def at_kubelet(old: str, new: str) -> dict[str, Any]:
    """A target whose original differs from the aligned node's kubelet file."""
    text = captured(ALIGNED)["kubelet"]["files"][KUBELET_FILE]["text"]
    assert old in text
    return target(KUBELET_FILE, "kubelet", text.replace(old, new), text)


def at_runtime(old: str, new: str) -> dict[str, Any]:
    text = captured(ALIGNED)["runtime"]["files"][RUNTIME_FILE]["text"]
    assert old in text
    return target(RUNTIME_FILE, "runtime", text.replace(old, new), text)


def slice_(name: str, **other: Any) -> dict[str, Any]:
    path = f"/etc/systemd/system/{name}"
    diff = [{"before_header": path, "after_header": path, "before": "x", "after": ""}]
    return {"name": name, "error": None, "diff": diff, "warnings": [], **other}


def with_slices(*slices: dict[str, Any]) -> dict[str, Any]:
    return {"slices": {"slices": list(slices), "strays": []}}


def test_a_node_with_nothing_to_restore_has_an_empty_plan() -> None:
    restore = planned(read_evidence(NOTHING), allow=None)
    assert (restore.changes, restore.pending, restore.conflicts, restore.notes) == ((), (), (), ())


def test_a_provisioned_node_is_restored_completely() -> None:
    restore = planned(provisioned())
    assert [(change.section, change.target, change.action) for change in restore.changes] == [
        ("kubelet", KUBELET_FILE, "restore"),
        ("runtime", RUNTIME_FILE, "restore"),
        ("collection", STATE, "remove"),
        ("collection", ENGINE, "remove"),
    ]
    assert needs(restore) == DRAINED
    assert restore.conflicts == ()


def test_the_transaction_restores_the_originals() -> None:
    transaction = document(planned(provisioned()))
    original = captured(DIFFERING)
    assert [file["after"] for file in transaction["files"]] == [
        original["kubelet"]["files"][KUBELET_FILE]["text"],
        original["runtime"]["files"][RUNTIME_FILE]["text"],
    ]
    assert transaction["services"] == {
        "kubelet": {"unit": "kubelet.service", "action": "restart"},
        "runtime": {"unit": "containerd.service", "action": "restart"},
    }
    # The policy was "none" before.
    assert transaction["checkpoints"] == [CHECKPOINT]
    assert transaction["forget"] == [CHECKPOINT]
    assert transaction["sandboxes"] == {
        "endpoint": "unix:///run/containerd/containerd.sock",
        "action": "stop",
        "cgroups": ["kubepods.slice"],
    }
    assert transaction["gate"]["cpu_manager"] == {"path": CHECKPOINT, "policy": "none"}
    assert transaction["gate"]["runtime_handlers"] == {"runc": False}
    assert transaction["gate"]["timeout"] == 300
    assert transaction["gate"]["node"] is None


def test_a_node_of_a_cluster_must_become_ready_again() -> None:
    place = ("kubelet", "processes", 0, "argv")
    argv = captured(ALIGNED)["kubelet"]["processes"][0]["argv"]
    joined = put(captured(ALIGNED), [*argv, "--hostname-override=node-7", "--kubeconfig=/etc/k.conf"], *place)
    transaction = document(planned(provisioned(snapshot=joined)))
    assert transaction["gate"]["node"] == {"name": "node-7", "kubeconfig": "/etc/k.conf"}


def test_a_misaligned_original_does_not_require_pods_and_has_a_note() -> None:
    restore = planned(provisioned())
    gate = document(restore)["gate"]
    assert (gate["pods"], gate["cgroup_driver"], gate["nri_socket"]) == ("any", None, None)
    assert restore.notes == (
        "the restored node is misaligned: kubelet has systemd, the runtime cgroupfs; pods may not start",
    )


def test_an_aligned_original_requires_pods() -> None:
    restore = planned(evidence(at_kubelet("cpuManagerPolicy: static", "cpuManagerPolicy: none"), checkpoint()))
    gate = document(restore)["gate"]
    assert (gate["pods"], gate["cgroup_driver"]) == ("return", "systemd")
    assert gate["nri_socket"] == "/var/run/nri/nri.sock"
    assert needs(restore) == {Impact.RESTART_KUBELET, Impact.DRAIN}
    assert document(restore)["services"]["runtime"]["action"] == "leave"


def test_a_restore_to_cgroupfs_removes_the_old_tree() -> None:
    restore = planned(
        evidence(
            at_kubelet("cgroupDriver: systemd", "cgroupDriver: cgroupfs"),
            at_runtime("SystemdCgroup = true", "SystemdCgroup = false"),
        )
    )
    transaction = document(restore)
    assert (transaction["stale_cgroups"], transaction["fresh_cgroups"]) == (["kubepods.slice"], ["kubepods"])
    assert (transaction["gate"]["pods"], transaction["gate"]["cgroup_driver"]) == ("return", "cgroupfs")


def test_a_change_without_a_drain_needs_no_permission() -> None:
    restore = planned(evidence(at_runtime("disable = false", "disable = true")), allow=None)
    assert restore.conflicts == ()
    assert needs(restore) == {Impact.RESTART_RUNTIME}
    transaction = document(restore)
    assert transaction["sandboxes"]["action"] == "leave"
    assert (transaction["gate"]["nri_socket"], transaction["checkpoints"]) == (None, [])


def test_disruption_without_permission_names_the_missing_permission() -> None:
    restore = planned(provisioned(), allow=None)
    assert restore.changes == planned(provisioned(), allow=True).changes
    assert [(obstacle.section, obstacle.target) for obstacle in restore.obstacles] == [("kubelet+runtime", "pods")]
    assert "3 pod(s) run on this node" in conflict_message(restore)
    assert "colocation_allow_disruption" in conflict_message(restore)


def test_without_pods_no_drain_is_needed() -> None:
    node_evidence = provisioned(snapshot=without_pods(captured(ALIGNED)))
    restore = planned(node_evidence, allow=None)
    assert restore.conflicts == ()
    assert needs(restore) == DRAINED - {Impact.DRAIN}


def test_forbidden_disruption_is_pending_and_other_changes_are_planned() -> None:
    node_evidence = evidence(
        at_kubelet("cpuManagerPolicy: static", "cpuManagerPolicy: none"),
        at_runtime("disable = false", "disable = true"),
        checkpoint(),
        qos=QOS,
        removable=[STATE],
    )
    restore = planned(node_evidence, allow=False)
    assert [change.target for change in restore.pending] == [KUBELET_FILE]
    assert [change.section for change in restore.changes] == ["qos", "qos", "runtime"]
    assert not restore.clean
    assert document(restore)["forget"] == []


def test_a_restore_of_one_side_must_not_change_its_driver() -> None:
    both = (
        at_kubelet("cgroupDriver: systemd", "cgroupDriver: cgroupfs"),
        at_runtime("SystemdCgroup = true", "SystemdCgroup = false"),
    )
    for section in ("kubelet", "runtime"):
        restore = planned(evidence(*both), (section,))
        assert [conflict.target for conflict in restore.conflicts] == ["cgroup driver"]
        assert "Restore kubelet and runtime together" in conflict_message(restore)
    assert planned(evidence(*both), ("kubelet", "runtime")).conflicts == ()


def test_a_new_file_is_removed() -> None:
    path = "/etc/containerd/conf.d/zz-volcano-colocation.toml"
    restore = planned(evidence(target(path, "runtime", None, "version = 2\n")), allow=True)
    assert [(change.target, change.action) for change in restore.changes] == [(path, "remove")]
    (entry,) = document(restore)["files"]
    assert entry["remove"] is True
    assert "after" not in entry


def test_the_original_mode_and_context_are_restored() -> None:
    label = {"security.selinux": "00ff"}
    text = captured(ALIGNED)["kubelet"]["files"][KUBELET_FILE]["text"]
    original = content(text + "# end\n", mode="0600", owner="0:7", xattrs=label)
    restore = planned(evidence(target(KUBELET_FILE, "kubelet", "", text) | {"original": original}))
    (edit,) = parse_plan(json.dumps(document(restore))).files
    assert edit.attributes is not None
    assert (edit.attributes.mode, edit.attributes.uid, edit.attributes.gid, edit.attributes.xattrs) == (
        0o600,
        0,
        7,
        label,
    )


def test_a_stopped_kubelet_is_not_started() -> None:
    snapshot = put(captured(ALIGNED), [], "kubelet", "processes")
    snapshot = put(snapshot, "inactive", "services", "units", "kubelet.service", "ActiveState")
    node_evidence = evidence(
        at_kubelet("cgroupDriver: systemd", "cgroupDriver: systemd\npodPidsLimit: 5"), snapshot=snapshot
    )
    restore = planned(node_evidence)
    assert needs(restore) == set()
    assert parse_plan(json.dumps(document(restore))).files_only


def test_a_failing_kubelet_is_restarted() -> None:
    snapshot = put(captured(ALIGNED), [], "kubelet", "processes")
    snapshot = put(snapshot, "activating", "services", "units", "kubelet.service", "ActiveState")
    node_evidence = evidence(
        at_kubelet("cgroupDriver: systemd", "cgroupDriver: systemd\npodPidsLimit: 5"), snapshot=snapshot
    )
    assert needs(planned(node_evidence)) == {Impact.RESTART_KUBELET}


def test_a_file_without_evidence_has_the_largest_impact() -> None:
    restore = planned(evidence(target("/etc/default/kubelet-extra", "kubelet", "A=1\n", "A=2\n")))
    assert needs(restore) == {Impact.RESTART_KUBELET, Impact.DRAIN}


# Conflicts


def foreign(text: str | None, **other: Any) -> dict[str, Any]:
    return kubelet_file(captured(ALIGNED), captured(DIFFERING), standing="foreign", found=content(text), **other)


def test_a_foreign_change_is_named_with_its_difference() -> None:
    now = captured(ALIGNED)["kubelet"]["files"][KUBELET_FILE]["text"]
    restore = planned(evidence(foreign(now + "maxPods: 50\n")))
    (conflict,) = restore.conflicts
    assert conflict.reason == "it was changed by someone else since transaction t-2"
    assert conflict.diff.splitlines()[:2] == [f"--- {KUBELET_FILE} as t-2 left it", f"+++ {KUBELET_FILE} now"]
    assert conflict.diff.splitlines()[-1] == "+maxPods: 50"
    assert "copy /var/lib/volcano-colocation/originals/abc over it" in conflict.remedy
    assert "remove its entry from /var/lib/volcano-colocation/ledger.json to keep it" in conflict.remedy
    # The file is not restored.
    assert restore.files.edits == ()


def test_a_secret_in_a_foreign_change_is_not_shown() -> None:
    now = captured(ALIGNED)["kubelet"]["files"][KUBELET_FILE]["text"]
    committed, current = (content(f"{now}token: {word}\n") for word in ("hunter1-Zm9v", SECRET))
    changed = foreign("", committed=committed) | {"found": current}
    message = conflict_message(planned(evidence(changed)))
    assert "hunter" not in message
    assert "what differs is hidden here" in message


@pytest.mark.parametrize(
    ("current", "message"),
    [
        (None, "it was removed by someone else since transaction t-2"),
        ({"mode": "0600"}, "its mode was changed from 0644 to 0600 by someone else"),
        ({"owner": "1:1"}, "its owner was changed from 0:0 to 1:1 by someone else"),
        ({"xattrs": {"security.selinux": "00"}}, "its attributes were changed by someone else"),
    ],
)
def test_a_foreign_change_is_described(current: dict[str, Any] | None, message: str) -> None:
    now = captured(ALIGNED)["kubelet"]["files"][KUBELET_FILE]["text"]
    changed = foreign(None) if current is None else foreign("") | {"found": content(now, **current)}
    assert message in conflict_message(planned(evidence(changed)))


def test_a_recreated_file_is_not_removed() -> None:
    created = target("/etc/x", "runtime", "a", None, standing="foreign", found=content("foreign\n"))
    assert "/etc/x: it was created again by someone else" in conflict_message(planned(evidence(created)))


def test_conflicts_of_unselected_sections_are_ignored() -> None:
    runtime = runtime_file(captured(ALIGNED), captured(ALIGNED))
    assert planned(evidence(foreign("x"), runtime), ("slices", "qos")).conflicts == ()


def test_an_unknown_original_is_a_conflict() -> None:
    earlier = [{"id": "t-0", "backups": f"{STATE}/transactions/t-0/backups"}]
    message = conflict_message(planned(evidence(at_kubelet("static", "none") | {"earlier": earlier})))
    assert "t-0 changed it and is not in the ledger (there was none, or the roll-back failed)" in message
    assert f"{STATE}/transactions/t-0/backups" in message


def test_transactions_without_a_ledger_are_named() -> None:
    old = [{"id": "t-0", "files": ["/etc/a"], "backups": f"{STATE}/transactions/t-0/backups"}]
    restore = planned(read_evidence({**NOTHING, "without_ledger": old}))
    assert restore.changes == ()
    (note,) = restore.notes
    assert "t-0 is of a version of the collection without a ledger, and is not restored: it wrote /etc/a" in note


def test_a_read_error_is_a_conflict_of_its_section() -> None:
    broken = at_kubelet("static", "none") | {"error": "/a: it is a symbolic link to /b", "found": None}
    node_evidence = evidence(
        broken,
        **with_slices(slice_("node.slice", error="node.slice cannot be removed: process 5 is in it")),
        qos={**QOS, "error": "qos.json: it is damaged"},
    )
    assert [conflict.section for conflict in planned(node_evidence).conflicts] == ["kubelet", "slices", "qos"]
    assert [conflict.section for conflict in planned(node_evidence, ("qos",)).conflicts] == ["qos"]
    message = conflict_message(planned(node_evidence))
    assert message.startswith("Nothing was changed, for 3 reasons:\n- kubelet: ")


def test_a_slice_that_kubelet_still_needs_stays() -> None:
    text = captured(ALIGNED)["kubelet"]["files"][KUBELET_FILE]["text"]
    enforced = "enforceNodeAllocatable: [pods, kube-reserved]\n"
    naming = text + enforced + "kubeReservedCgroup: /kube-reserved.slice\n"
    snapshot = put(captured(ALIGNED), naming, "kubelet", "files", KUBELET_FILE, "text")
    slices = with_slices(slice_("kube-reserved.slice"))
    kubelet_target = target(KUBELET_FILE, "kubelet", text, naming)

    alone = planned(evidence(kubelet_target, snapshot=snapshot, **slices), ("slices",))
    assert [conflict.target for conflict in alone.conflicts] == ["kube-reserved.slice"]
    assert "kubelet's kubeReservedCgroup names it" in conflict_message(alone)
    # After the restore of its file, kubelet no longer names it.
    assert planned(evidence(kubelet_target, snapshot=snapshot, **slices)).conflicts == ()
    # Foreign configuration names it and it is enforced: then the managed unit file creates it.
    assert planned(evidence(snapshot=snapshot, **slices)).conflicts != ()
    # kubelet starts without a cgroup that it does not enforce.
    unenforced = put(snapshot, naming.replace(enforced, ""), "kubelet", "files", KUBELET_FILE, "text")
    assert planned(evidence(snapshot=unenforced, **slices)).conflicts == ()


# Remaining sections, and diffs


def test_a_file_restored_by_hand_leaves_the_ledger() -> None:
    restore = planned(evidence(at_kubelet("static", "none") | {"standing": "original"}, removable=[STATE]))
    assert [change.section for change in restore.changes] == ["collection"]
    assert document(restore)["forget"] == [KUBELET_FILE]


def test_own_files_stay_while_a_section_remains() -> None:
    restore = planned(provisioned(qos=QOS), ("qos",))
    assert [change.section for change in restore.changes] == ["qos", "qos"]
    assert restore.notes == ("not selected and unchanged: kubelet, runtime",)
    assert not restore.clean


def test_diffs_hide_secrets() -> None:
    text = captured(ALIGNED)["kubelet"]["files"][KUBELET_FILE]["text"]
    node_evidence = evidence(target(KUBELET_FILE, "kubelet", f"{text}token: {SECRET}\n", text), qos=QOS)
    diffs = render_diffs(node_evidence, planned(node_evidence))
    assert [diff["before_header"] for diff in diffs] == ["QoS settings", KUBELET_FILE]
    assert SECRET not in json.dumps(diffs)
    assert "cgroupDriver: systemd" in diffs[1]["after"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"targets": [{}]},
        {"targets": 5},
        {"targets": ["x"]},
        {"without_ledger": [{"id": 1}]},
        {"unfinished": [7]},
        {"unsettled": "t-1"},
        {"removable": [None]},
        {"slices": []},
        {"slices": {"slices": [7], "strays": []}},
        {"qos": {"before": 1}},
        {"snapshot": []},
        {"identity": 7},
    ],
)
def test_evidence_of_another_schema_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SnapshotError, match="not the evidence of a ledger"):
        read_evidence({**NOTHING, **wrong})


@pytest.mark.parametrize("document", [7, [], None, "text"])
def test_other_documents_are_refused(document: Any) -> None:
    with pytest.raises(SnapshotError, match="not the evidence of a ledger"):
        read_evidence(document)


def test_evidence_of_another_version_is_refused() -> None:
    with pytest.raises(SnapshotError, match="schema 2, this version reads 1"):
        read_evidence({**NOTHING, "schema": 2})
