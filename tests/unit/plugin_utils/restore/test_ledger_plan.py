# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a restore does, leaves and refuses; the transaction it makes is one that the node's own parser takes."""

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


def planned(found: Evidence, sections: Collection[str] = SECTIONS, *, allow: bool | None = True) -> RestorePlan:
    return plan_restore(found, sections, allow_disruption=allow)


def document(restore: RestorePlan) -> dict[str, Any]:
    found = restore_document(restore.files, 300)
    assert parse_plan(json.dumps(found)).controller == (platform.node() or None)
    return found


def needs(restore: RestorePlan) -> set[Impact]:
    return set().union(*(each.needs for each in restore.changes))


def at_kubelet(old: str, new: str) -> dict[str, Any]:
    """A target whose original has other words in the aligned node's kubelet file."""
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


def test_a_provisioned_node_gets_its_files_back_and_is_left_without_us() -> None:
    restore = planned(provisioned())
    assert [(each.section, each.target, each.action) for each in restore.changes] == [
        ("kubelet", KUBELET_FILE, "restore"),
        ("runtime", RUNTIME_FILE, "restore"),
        ("collection", STATE, "remove"),
        ("collection", ENGINE, "remove"),
    ]
    assert needs(restore) == DRAINED
    assert restore.conflicts == ()


def test_the_transaction_is_the_way_back() -> None:
    found = document(planned(provisioned()))
    original = captured(DIFFERING)
    assert [each["after"] for each in found["files"]] == [
        original["kubelet"]["files"][KUBELET_FILE]["text"],
        original["runtime"]["files"][RUNTIME_FILE]["text"],
    ]
    assert found["services"] == {
        "kubelet": {"unit": "kubelet.service", "action": "restart"},
        "runtime": {"unit": "containerd.service", "action": "restart"},
    }
    # The policy was none before.
    assert found["checkpoints"] == [CHECKPOINT]
    assert found["forget"] == [CHECKPOINT]
    assert found["sandboxes"] == {
        "endpoint": "unix:///run/containerd/containerd.sock",
        "action": "stop",
        "cgroups": ["kubepods.slice"],
    }
    assert found["gate"]["cpu_manager"] == {"path": CHECKPOINT, "policy": "none"}
    assert found["gate"]["runtime_handlers"] == {"runc": False}
    assert found["gate"]["timeout"] == 300
    assert found["gate"]["node"] is None


def test_a_member_of_a_cluster_has_to_be_ready_again() -> None:
    place = ("kubelet", "processes", 0, "argv")
    argv = captured(ALIGNED)["kubelet"]["processes"][0]["argv"]
    joined = put(captured(ALIGNED), [*argv, "--hostname-override=node-7", "--kubeconfig=/etc/k.conf"], *place)
    found = document(planned(provisioned(snapshot=joined)))
    assert found["gate"]["node"] == {"name": "node-7", "kubeconfig": "/etc/k.conf"}


def test_of_a_node_that_was_misaligned_pods_are_not_asked_for_and_the_note_says_why() -> None:
    restore = planned(provisioned())
    gate = document(restore)["gate"]
    assert (gate["pods"], gate["cgroup_driver"], gate["nri_socket"]) == ("any", None, None)
    assert restore.notes == (
        "the restored node is misaligned: kubelet has systemd, the runtime cgroupfs; pods may not start",
    )


def test_of_a_node_that_was_aligned_pods_have_to_return() -> None:
    restore = planned(evidence(at_kubelet("cpuManagerPolicy: static", "cpuManagerPolicy: none"), checkpoint()))
    gate = document(restore)["gate"]
    assert (gate["pods"], gate["cgroup_driver"]) == ("return", "systemd")
    assert gate["nri_socket"] == "/var/run/nri/nri.sock"
    assert needs(restore) == {Impact.RESTART_KUBELET, Impact.DRAIN}
    assert document(restore)["services"]["runtime"]["action"] == "leave"


def test_both_drivers_back_to_cgroupfs_leave_no_tree_behind() -> None:
    restore = planned(
        evidence(
            at_kubelet("cgroupDriver: systemd", "cgroupDriver: cgroupfs"),
            at_runtime("SystemdCgroup = true", "SystemdCgroup = false"),
        )
    )
    found = document(restore)
    assert (found["stale_cgroups"], found["fresh_cgroups"]) == (["kubepods.slice"], ["kubepods"])
    assert (found["gate"]["pods"], found["gate"]["cgroup_driver"]) == ("return", "cgroupfs")


def test_what_moves_no_pod_needs_no_permission() -> None:
    restore = planned(evidence(at_runtime("disable = false", "disable = true")), allow=None)
    assert restore.conflicts == ()
    assert needs(restore) == {Impact.RESTART_RUNTIME}
    found = document(restore)
    assert found["sandboxes"]["action"] == "leave"
    assert (found["gate"]["nri_socket"], found["checkpoints"]) == (None, [])


def test_disruption_without_permission_is_planned_and_says_which_permission_it_needs() -> None:
    restore = planned(provisioned(), allow=None)
    assert restore.changes == planned(provisioned(), allow=True).changes
    assert [(each.section, each.target) for each in restore.obstacles] == [("kubelet+runtime", "pods")]
    assert "3 pod(s) run here" in conflict_message(restore)
    assert "colocation_allow_disruption" in conflict_message(restore)


def test_without_a_pod_there_is_nobody_to_disturb() -> None:
    found = provisioned(snapshot=without_pods(captured(ALIGNED)))
    restore = planned(found, allow=None)
    assert restore.conflicts == ()
    assert needs(restore) == DRAINED - {Impact.DRAIN}


def test_disruption_that_is_not_allowed_is_pending_and_the_rest_is_done() -> None:
    found = evidence(
        at_kubelet("cpuManagerPolicy: static", "cpuManagerPolicy: none"),
        at_runtime("disable = false", "disable = true"),
        checkpoint(),
        qos=QOS,
        removable=[STATE],
    )
    restore = planned(found, allow=False)
    assert [each.target for each in restore.pending] == [KUBELET_FILE]
    assert [each.section for each in restore.changes] == ["qos", "qos", "runtime"]
    assert not restore.clean
    assert document(restore)["forget"] == []


def test_one_side_alone_is_not_given_another_driver() -> None:
    both = (
        at_kubelet("cgroupDriver: systemd", "cgroupDriver: cgroupfs"),
        at_runtime("SystemdCgroup = true", "SystemdCgroup = false"),
    )
    for section in ("kubelet", "runtime"):
        restore = planned(evidence(*both), (section,))
        assert [each.target for each in restore.conflicts] == ["cgroup driver"]
        assert "Restore kubelet and runtime together" in conflict_message(restore)
    assert planned(evidence(*both), ("kubelet", "runtime")).conflicts == ()


def test_a_file_that_was_not_there_is_removed() -> None:
    path = "/etc/containerd/conf.d/zz-volcano-colocation.toml"
    restore = planned(evidence(target(path, "runtime", None, "version = 2\n")), allow=True)
    assert [(each.target, each.action) for each in restore.changes] == [(path, "remove")]
    (entry,) = document(restore)["files"]
    assert entry["remove"] is True
    assert "after" not in entry


def test_the_original_gets_its_mode_and_context_again() -> None:
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


def test_a_kubelet_that_nobody_runs_is_not_started() -> None:
    snapshot = put(captured(ALIGNED), [], "kubelet", "processes")
    snapshot = put(snapshot, "inactive", "services", "units", "kubelet.service", "ActiveState")
    found = evidence(at_kubelet("cgroupDriver: systemd", "cgroupDriver: systemd\npodPidsLimit: 5"), snapshot=snapshot)
    restore = planned(found)
    assert needs(restore) == set()
    assert parse_plan(json.dumps(document(restore))).files_only


def test_one_that_fails_again_and_again_is() -> None:
    snapshot = put(captured(ALIGNED), [], "kubelet", "processes")
    snapshot = put(snapshot, "activating", "services", "units", "kubelet.service", "ActiveState")
    found = evidence(at_kubelet("cgroupDriver: systemd", "cgroupDriver: systemd\npodPidsLimit: 5"), snapshot=snapshot)
    assert needs(planned(found)) == {Impact.RESTART_KUBELET}


def test_a_file_nobody_looked_at_may_mean_anything() -> None:
    restore = planned(evidence(target("/etc/default/kubelet-extra", "kubelet", "A=1\n", "A=2\n")))
    assert needs(restore) == {Impact.RESTART_KUBELET, Impact.DRAIN}


# Conflicts


def foreign(found: str | None, **other: Any) -> dict[str, Any]:
    return kubelet_file(captured(ALIGNED), captured(DIFFERING), standing="foreign", found=content(found), **other)


def test_somebody_elses_change_is_named_with_its_difference() -> None:
    now = captured(ALIGNED)["kubelet"]["files"][KUBELET_FILE]["text"]
    restore = planned(evidence(foreign(now + "maxPods: 50\n")))
    (conflict,) = restore.conflicts
    assert conflict.reason == "it was changed by someone else since transaction t-2"
    assert conflict.diff.splitlines()[:2] == [f"--- {KUBELET_FILE} as t-2 left it", f"+++ {KUBELET_FILE} now"]
    assert conflict.diff.splitlines()[-1] == "+maxPods: 50"
    assert "copy /var/lib/volcano-colocation/originals/abc over it" in conflict.remedy
    assert "remove its entry from /var/lib/volcano-colocation/ledger.json to keep it" in conflict.remedy
    # Nothing of it is among what would be done.
    assert restore.files.edits == ()


def test_a_secret_in_somebody_elses_change_is_not_shown() -> None:
    now = captured(ALIGNED)["kubelet"]["files"][KUBELET_FILE]["text"]
    committed, found = (content(f"{now}token: {word}\n") for word in ("hunter1-Zm9v", SECRET))
    each = foreign("", committed=committed) | {"found": found}
    message = conflict_message(planned(evidence(each)))
    assert "hunter" not in message
    assert "what differs is hidden here" in message


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (None, "it was removed by someone else since transaction t-2"),
        ({"mode": "0600"}, "its mode was changed from 0644 to 0600 by someone else"),
        ({"owner": "1:1"}, "its owner was changed from 0:0 to 1:1 by someone else"),
        ({"xattrs": {"security.selinux": "00"}}, "its attributes were changed by someone else"),
    ],
)
def test_what_somebody_else_did_is_told(found: dict[str, Any] | None, words: str) -> None:
    now = captured(ALIGNED)["kubelet"]["files"][KUBELET_FILE]["text"]
    each = foreign(None) if found is None else foreign("") | {"found": content(now, **found)}
    assert words in conflict_message(planned(evidence(each)))


def test_a_file_that_was_made_again_is_not_removed() -> None:
    each = target("/etc/x", "runtime", "a", None, standing="foreign", found=content("theirs\n"))
    assert "/etc/x: it was created again by someone else" in conflict_message(planned(evidence(each)))


def test_a_conflict_of_a_section_that_is_not_named_is_none() -> None:
    runtime = runtime_file(captured(ALIGNED), captured(ALIGNED))
    assert planned(evidence(foreign("x"), runtime), ("slices", "qos")).conflicts == ()


def test_an_original_that_is_not_the_first_is_not_guessed() -> None:
    earlier = [{"id": "t-0", "backups": f"{STATE}/transactions/t-0/backups"}]
    message = conflict_message(planned(evidence(at_kubelet("static", "none") | {"earlier": earlier})))
    assert "t-0 changed it and is not in the ledger (there was none, or the roll-back failed)" in message
    assert f"{STATE}/transactions/t-0/backups" in message


def test_transactions_without_a_ledger_are_named_and_left() -> None:
    old = [{"id": "t-0", "files": ["/etc/a"], "backups": f"{STATE}/transactions/t-0/backups"}]
    restore = planned(read_evidence({**NOTHING, "without_ledger": old}))
    assert restore.changes == ()
    (note,) = restore.notes
    assert (
        "t-0 is of a version of the collection without a ledger, and is not restored: it wrote /etc/a" in note
    )


def test_what_cannot_be_read_is_a_conflict_of_its_section() -> None:
    broken = at_kubelet("static", "none") | {"error": "/a: it is a symbolic link to /b", "found": None}
    found = evidence(
        broken,
        **with_slices(slice_("node.slice", error="node.slice cannot be removed: process 5 is in it")),
        qos={**QOS, "error": "qos.json: it is damaged"},
    )
    assert [each.section for each in planned(found).conflicts] == ["kubelet", "slices", "qos"]
    assert [each.section for each in planned(found, ("qos",)).conflicts] == ["qos"]
    message = conflict_message(planned(found))
    assert message.startswith("Nothing was changed, for 3 reasons:\n- kubelet: ")


def test_a_slice_that_kubelet_will_still_name_stays() -> None:
    text = captured(ALIGNED)["kubelet"]["files"][KUBELET_FILE]["text"]
    enforced = "enforceNodeAllocatable: [pods, kube-reserved]\n"
    naming = text + enforced + "kubeReservedCgroup: /kube-reserved.slice\n"
    snapshot = put(captured(ALIGNED), naming, "kubelet", "files", KUBELET_FILE, "text")
    slices = with_slices(slice_("kube-reserved.slice"))
    ours = target(KUBELET_FILE, "kubelet", text, naming)

    alone = planned(evidence(ours, snapshot=snapshot, **slices), ("slices",))
    assert [each.target for each in alone.conflicts] == ["kube-reserved.slice"]
    assert "kubelet's kubeReservedCgroup names it" in conflict_message(alone)
    # With its file, kubelet names it no more.
    assert planned(evidence(ours, snapshot=snapshot, **slices)).conflicts == ()
    # Named by others, and enforced: then our unit file is what makes it.
    assert planned(evidence(snapshot=snapshot, **slices)).conflicts != ()
    # kubelet starts without what it does not enforce anything on.
    unenforced = put(snapshot, naming.replace(enforced, ""), "kubelet", "files", KUBELET_FILE, "text")
    assert planned(evidence(snapshot=unenforced, **slices)).conflicts == ()


# What is left, what is shown


def test_what_is_put_back_by_hand_just_leaves_the_ledger() -> None:
    restore = planned(evidence(at_kubelet("static", "none") | {"standing": "original"}, removable=[STATE]))
    assert [each.section for each in restore.changes] == ["collection"]
    assert document(restore)["forget"] == [KUBELET_FILE]


def test_what_the_collection_keeps_stays_while_a_section_is_left() -> None:
    restore = planned(provisioned(qos=QOS), ("qos",))
    assert [each.section for each in restore.changes] == ["qos", "qos"]
    assert restore.notes == ("not selected and unchanged: kubelet, runtime",)
    assert not restore.clean


def test_the_difference_hides_secrets() -> None:
    text = captured(ALIGNED)["kubelet"]["files"][KUBELET_FILE]["text"]
    found = evidence(target(KUBELET_FILE, "kubelet", f"{text}token: {SECRET}\n", text), qos=QOS)
    shown = render_diffs(found, planned(found))
    assert [each["before_header"] for each in shown] == ["QoS settings", KUBELET_FILE]
    assert SECRET not in json.dumps(shown)
    assert "cgroupDriver: systemd" in shown[1]["after"]


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
def test_evidence_of_another_shape_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SnapshotError, match="not the evidence of a ledger"):
        read_evidence({**NOTHING, **wrong})


@pytest.mark.parametrize("document", [7, [], None, "text"])
def test_what_is_not_evidence_is_refused(document: Any) -> None:
    with pytest.raises(SnapshotError, match="not the evidence of a ledger"):
        read_evidence(document)


def test_evidence_of_another_version_is_refused() -> None:
    with pytest.raises(SnapshotError, match="schema 2, this version reads 1"):
        read_evidence({**NOTHING, "schema": 2})
