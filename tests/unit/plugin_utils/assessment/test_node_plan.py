# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of a node: allowed changes, pending changes, and the edits of its files."""

from __future__ import annotations

import hashlib

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.assessment.node_plan import make_plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.text_errors import UneditableFile
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.interpreter import interpret
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.change_set import Change, Impact, Refusal
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.draft import pod_changes
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.file_edits import FileEdit, file_edits
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    DIFFERING,
    KUBELET_FILE,
    RUNTIME_FILE,
    captured,
    desired,
    facts_of,
    golden,
    kubelet_adds,
    missing,
    old_containerd,
    profile_of,
    put,
    without_pods,
)

ID = "0123456789abcdef" * 4


def test_an_aligned_node_has_an_empty_plan() -> None:
    plan = make_plan(facts_of(captured(ALIGNED)), desired(), allow_disruption=None)
    assert (plan.changes, plan.pending, plan.refusals, plan.skipped, plan.needs) == ((), (), (), (), frozenset())


def test_allowed_disruption_does_all() -> None:
    plan = make_plan(facts_of(captured(DIFFERING)), desired(), allow_disruption=True)
    assert [str(change) for change in plan.changes] == golden("documents", DIFFERING)["summary"]
    assert plan.needs == {Impact.RESTART_KUBELET, Impact.RESTART_RUNTIME, Impact.DRAIN}
    assert (plan.pending, plan.obstacles) == ((), ())


def test_changes_that_are_not_allowed_are_pending_and_the_others_are_planned() -> None:
    facts = facts_of(captured(DIFFERING))
    plan = make_plan(facts, desired(), allow_disruption=False)
    whole = make_plan(facts, desired(), allow_disruption=True)
    assert Impact.DRAIN not in plan.needs
    assert plan.changes
    assert {change.setting for change in plan.pending} >= {"cpuManagerPolicy", "runc.options.SystemdCgroup"}
    assert set(plan.changes) | set(plan.pending) == set(whole.changes)


def test_disruption_without_permission_is_planned_and_says_which_permission_it_needs() -> None:
    facts = facts_of(captured(DIFFERING))
    plan = make_plan(facts, desired(), allow_disruption=None)
    assert plan.changes == make_plan(facts, desired(), allow_disruption=True).changes
    assert plan.refusals == ()
    assert plan.permission is not None
    assert plan.permission.code == "needs-disruption"
    assert "3 pod(s) run on this node" in plan.permission.message
    assert "cpuManagerPolicy: none -> static" in plan.permission.message
    assert "colocation_allow_disruption" in plan.permission.remedy


@pytest.mark.parametrize("allow", [None, False, True])
def test_without_pods_no_change_disturbs(allow: bool | None) -> None:
    plan = make_plan(facts_of(without_pods(captured(DIFFERING))), desired(), allow_disruption=allow)
    assert plan.needs == {Impact.RESTART_KUBELET, Impact.RESTART_RUNTIME}
    assert (plan.pending, plan.obstacles) == ((), ())


@pytest.mark.parametrize("allow", [None, False, True])
def test_what_disturbs_no_pod_needs_no_permission(allow: bool | None) -> None:
    plan = make_plan(facts_of(captured(ALIGNED)), profile_of(read_only_port=10255), allow_disruption=allow)
    assert [change.setting for change in plan.changes] == ["readOnlyPort"]


def test_a_refused_node_has_no_change() -> None:
    plan = make_plan(facts_of(put(captured(DIFFERING), "tini", "system", "pid1")), desired(), allow_disruption=True)
    assert plan.changes == ()
    assert [refusal.code for refusal in plan.refusals] == ["pid1-not-systemd"]


LEDGER = {"file": "/var/lib/volcano-colocation/ledger.json", "message": "it is damaged", "remedy": "Put it right"}


@pytest.mark.parametrize(("allow", "first"), [(None, ["needs-disruption"]), (False, []), (True, [])])
def test_a_change_is_refused_if_the_ledger_cannot_record_it(allow: bool | None, first: list[str]) -> None:
    options = {"read_only_port": 10255, "cgroup_driver": "systemd"}
    facts = facts_of(put(captured(DIFFERING), LEDGER, "ledger_problem"))
    plan = make_plan(facts, profile_of(**options), allow_disruption=allow)
    assert plan.changes == ()
    assert [refusal.code for refusal in plan.refusals] == [*first, "ledger-unreadable"]
    assert str(plan.refusals[-1]) == f"{LEDGER['file']}: it is damaged. Put it right"


def test_a_node_that_is_as_it_should_be_needs_no_ledger() -> None:
    facts = facts_of(put(captured(ALIGNED), LEDGER, "ledger_problem"))
    plan = make_plan(facts, profile_of(cgroup_driver="systemd"), allow_disruption=True)
    assert (plan.changes, plan.refusals) == ((), ())


@pytest.mark.parametrize("record", ["journal", "directory"])
@pytest.mark.parametrize("name", [ALIGNED, DIFFERING])
def test_a_node_that_may_be_half_changed_is_refused_with_any_profile(name: str, record: str) -> None:
    """Also with another unfinished transaction that can be read: to roll back only that one may be the wrong order."""
    cut_off = put(captured(name), ["20261121T013455-1a2b3c4d"], "unfinished_transactions")
    facts = facts_of(put(cut_off, [{"record": record, **LEDGER}], "record_problems"))
    plan = make_plan(facts, profile_of(cgroup_driver="systemd"), allow_disruption=True)
    assert plan.changes == ()
    assert [refusal.code for refusal in plan.refusals] == ["journal-unreadable"]
    assert str(plan.refusals[0]) == f"{LEDGER['file']}: it is damaged. Put it right"


@pytest.mark.parametrize("record", ["settings", "images", "original", "answer", "bogus"])
def test_a_record_that_no_transaction_needs_stops_none(record: str) -> None:
    facts = facts_of(put(captured(DIFFERING), [{"record": record, **LEDGER}], "record_problems"))
    plan = make_plan(facts, desired(), allow_disruption=True)
    assert (bool(plan.changes), plan.refusals) == (True, ())


@pytest.mark.parametrize("allow", [None, False, True])
def test_an_interrupted_transaction_is_recovered_before_a_plan(allow: bool | None) -> None:
    cut_off = put(captured(DIFFERING), ["20261121T013455-1a2b3c4d"], "unfinished_transactions")
    plan = make_plan(facts_of(put(cut_off, "tini", "system", "pid1")), desired(), allow_disruption=allow)
    (change,) = plan.changes
    assert "20261121T013455-1a2b3c4d was interrupted" in str(change)
    assert (plan.needs, plan.pending, plan.refusals) == (frozenset(), (), ())


def test_nri_is_skipped_only_if_the_profile_says_so() -> None:
    facts = facts_of(old_containerd(captured(DIFFERING)))
    skipping = make_plan(facts, desired(nri={"enabled": True, "unsupported": "skip"}), allow_disruption=True)
    assert [skip.setting for skip in skipping.skipped] == ["nri"]
    assert skipping.changes
    refusing = make_plan(facts, desired(), allow_disruption=True)
    assert (refusing.skipped, [refusal.code for refusal in refusing.refusals]) == ((), ["nri-unsupported"])


@pytest.mark.parametrize(
    ("path", "driver", "count"),
    [
        (f"0::/kubepods/pod1/{ID}", "systemd", 1),
        (f"0::/kubepods/pod1/{ID}", "cgroupfs", 0),
        (f"0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-{ID}.scope", "cgroupfs", 1),
        (f"0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-{ID}.scope", "systemd", 0),
        (f"0::/system.slice/kubepods-pod1.slice:cri-containerd:{ID}", "systemd", 1),
        (f"0::/system.slice/kubepods-pod1.slice:cri-containerd:{ID}", None, 0),
    ],
)
def test_pods_of_another_driver_are_made_again(path: str, driver: str | None, count: int) -> None:
    facts = facts_of(put(captured(ALIGNED), {path: 1}, "containers"))
    changes = pod_changes(facts, profile_of(cgroup_driver=driver))
    assert [change.needs for change in changes] == [frozenset({Impact.RESTART_KUBELET, Impact.DRAIN})] * count


def test_the_plan_of_a_mismatch_edits_both_files() -> None:
    snapshot = captured(DIFFERING)
    facts = interpret(snapshot)
    plan = make_plan(facts, desired(), allow_disruption=True)
    kubelet, runtime = file_edits(snapshot, plan.changes)
    before = snapshot["kubelet"]["files"][KUBELET_FILE]["text"]
    plain = before.replace(
        "cgroupDriver: systemd  # has to be the driver of the container runtime\n",
        "# has to be the driver of the container runtime\ncgroupDriver: systemd\n",
    )
    assert kubelet.after == plain.replace("cpuManagerPolicy: none", "cpuManagerPolicy: static") + (
        "systemReserved:\n  cpu: 500m\n"
    )
    assert kubelet.before_sha256 == snapshot["kubelet"]["files"][KUBELET_FILE]["sha256"]
    assert runtime.before_sha256 == snapshot["runtime"]["files"][RUNTIME_FILE]["sha256"]
    assert [line for line in runtime.after.splitlines() if line in (runtime.before or "").splitlines()] == (
        runtime.before or ""
    ).splitlines()


def test_edited_texts_read_as_aligned_and_need_no_more_edits() -> None:
    snapshot = captured(DIFFERING)
    facts = interpret(snapshot)
    for edit in file_edits(snapshot, make_plan(facts, desired(), allow_disruption=True).changes):
        section = "kubelet" if edit.path == KUBELET_FILE else "runtime"
        snapshot = put(snapshot, edit.after, section, "files", edit.path, "text")
    remaining = make_plan(interpret(snapshot), desired(), allow_disruption=True).changes
    assert [change for change in remaining if change.path] == []


def test_a_missing_file_of_containerd_is_made() -> None:
    snapshot = missing(captured(DIFFERING), "runtime", RUNTIME_FILE)
    facts = interpret(snapshot)
    (edit,) = file_edits(snapshot, make_plan(facts, profile_of(nri={"enabled": True}), allow_disruption=True).changes)
    assert (edit.path, edit.before, edit.before_sha256) == (RUNTIME_FILE, None, None)
    assert edit.after.splitlines()[1] == "version = 2"


def test_the_hash_is_that_of_the_bytes_on_the_node() -> None:
    raw = b"# caf\xe9\n"
    edit = FileEdit("/x", raw.decode("utf-8", "surrogateescape"), "")
    assert edit.before_sha256 == hashlib.sha256(raw).hexdigest()


def test_a_text_that_cannot_be_edited_is_named_with_its_line_and_the_remedy() -> None:
    snapshot = kubelet_adds(captured(DIFFERING), "systemReserved: &a {cpu: 500m}\n")
    facts = interpret(snapshot)
    plan = make_plan(facts, profile_of(system_reserved={"cpu": "1"}), allow_disruption=True)
    with pytest.raises(UneditableFile, match=rf"{KUBELET_FILE}:32: .*systemReserved.*\. \w+"):
        file_edits(snapshot, plan.changes)


def test_a_change_in_words() -> None:
    change = Change("kubelet", "cpuManagerPolicy", None, "static", "", frozenset(), "/x", ("cpuManagerPolicy",))
    assert str(change) == "kubelet cpuManagerPolicy: unset -> static"


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ({}, "it is so. Do that"),
        ({"file": "/x"}, "/x: it is so. Do that"),
        ({"file": "/x", "line": 3}, "/x:3: it is so. Do that"),
        ({"variable": "y"}, "colocation_y: it is so. Do that"),
        ({"file": "/x", "line": 3, "variable": "y"}, "/x:3 (colocation_y): it is so. Do that"),
    ],
)
def test_a_refusal_names_its_place_and_the_remedy(place: dict[str, str | int], text: str) -> None:
    assert str(Refusal("c", "it is so", "Do that", **place)) == text  # type: ignore[arg-type]
