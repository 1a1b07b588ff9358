# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each rule fires on a variant of a real node, and not on the aligned one."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.catalogue import findings
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.rule_types import Effect, Finding, Verdict
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.verdict import judge
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    DIFFERING,
    KUBELET_FILE,
    Snapshot,
    captured,
    facts_of,
    kubelet_adds,
    kubelet_edit,
    missing,
    put,
    stopped_kubelet,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_basic import RECORDS, STATE, VARIANTS


def codes(snapshot: Snapshot) -> list[str]:
    return [finding.code for finding in findings(facts_of(snapshot))]


def one(snapshot: Snapshot, code: str) -> Finding:
    return next(finding for finding in findings(facts_of(snapshot)) if finding.code == code)


def test_the_aligned_node_has_nothing_but_its_commented_driver_and_kubelets_own_second_tree() -> None:
    results = findings(facts_of(captured(ALIGNED)))
    assert [(finding.code, finding.effect) for finding in results] == [
        ("driver-hidden-from-agents", Effect.NONE),
        ("second-kubepods-tree", Effect.NONE),
    ]
    assert judge(results) is Verdict.ALIGNED


def test_a_single_tree_has_no_finding() -> None:
    finding_codes = codes(put(captured(ALIGNED), ["/sys/fs/cgroup/kubepods.slice"], "cgroups", "trees"))
    assert finding_codes == ["driver-hidden-from-agents"]


def test_the_mismatch_of_the_captured_node_is_named() -> None:
    finding_codes = codes(captured(DIFFERING))
    assert {"driver-mismatch", "containers-misplaced"} <= set(finding_codes)
    assert judge(findings(facts_of(captured(DIFFERING)))) is Verdict.MISALIGNED


def test_an_unreadable_file_is_named_with_its_line() -> None:
    finding = one(kubelet_adds(captured(ALIGNED), "a: {{ driver }}\n"), "config-unreadable")
    assert finding.evidence == (f"{KUBELET_FILE}:34: a key that is not a plain name",)


def test_a_path_that_is_not_a_file_is_reported_without_a_line() -> None:
    snapshot = put(captured(ALIGNED), {"kind": "directory"}, "kubelet", "files", KUBELET_FILE)
    assert one(snapshot, "config-unreadable").evidence == (f"{KUBELET_FILE}: is a directory, not a regular file",)


def test_the_mismatch_shows_every_claim() -> None:
    evidence = one(captured(DIFFERING), "driver-mismatch").evidence
    assert f"cgroupDriver = systemd ({KUBELET_FILE})" in evidence
    assert "SystemdCgroup of handler runc = cgroupfs (the CRI's Status, in effect now)" in evidence


def test_containers_in_the_other_tree_are_seen_from_either_driver() -> None:
    node = kubelet_edit(captured(ALIGNED), "cgroupDriver: systemd", "cgroupDriver: cgroupfs")
    assert "containers-of-other-driver" in codes(node)


def test_the_other_tree_is_named_from_either_driver() -> None:
    node = kubelet_edit(captured(ALIGNED), "cgroupDriver: systemd", "cgroupDriver: cgroupfs")
    assert one(node, "second-kubepods-tree").evidence == ("/sys/fs/cgroup/kubepods.slice",)


def test_without_a_known_driver_no_tree_is_the_second() -> None:
    assert "second-kubepods-tree" not in codes(
        kubelet_edit(captured(ALIGNED), "cgroupDriver: systemd", "cgroupDriver: x")
    )


def test_both_sides_missing_are_one_finding() -> None:
    node = put(put(captured(ALIGNED), None, "runtime", "program"), None, "kubelet", "program")
    assert one(node, "not-installed").summary == "kubelet and containerd not found on this node."


def test_an_unknown_pid1_is_not_called_foreign() -> None:
    assert "pid1-not-systemd" not in codes(put(captured(ALIGNED), None, "system", "pid1"))


def test_a_stopped_kubelet_is_not_older_than_its_file() -> None:
    node = stopped_kubelet(put(captured(ALIGNED), 4e9, "kubelet", "files", KUBELET_FILE, "ctime"))
    assert "kubelet-config-changed-after-start" not in codes(node)


@pytest.mark.parametrize("code", ["runtime-not-answering", "kubelet-unhealthy"])
def test_nothing_need_answer_in_an_image(code: str) -> None:
    node = VARIANTS[code][1](captured(ALIGNED))
    assert code in codes(node)
    assert code not in codes(put(node, "/mnt/image", "root"))


def test_a_link_leads_to_the_code() -> None:
    assert one(captured(DIFFERING), "driver-mismatch").link == "docs/findings.md#driver-mismatch"


def test_a_missing_checkpoint_has_no_finding() -> None:
    node = missing(captured(ALIGNED), "kubelet", "/var/lib/kubelet/cpu_manager_state")
    assert [code for code in codes(node) if code.startswith("checkpoint")] == []


LEDGER = {"file": f"{STATE}/ledger.json", "message": "it is damaged", "remedy": "Put it right"}


def test_each_record_that_cannot_be_read_is_named_once() -> None:
    node = put(put(captured(ALIGNED), RECORDS, "record_problems"), LEDGER, "ledger_problem")
    results = [finding for finding in findings(facts_of(node)) if finding.code == "record-unreadable"]
    assert [finding.evidence[0] for finding in results] == [
        f"{STATE}/transactions/t-1/journal.json: it is damaged",
        f"{STATE}/qos.json: it has schema 2",
        f"{STATE}/ledger.json: it is damaged",
    ]
    assert [finding.severity.value for finding in results] == ["error", "warning", "warning"]
    assert [finding.remedy for finding in results][1:] == [
        "Restore the file from a backup, or move it elsewhere.",
        "Put it right.",
    ]


def test_a_state_directory_that_hides_all_is_named_once() -> None:
    directory = {"record": "directory", "file": STATE, "message": "it is a symbolic link to /srv", "remedy": "a"}
    node = put(put(captured(ALIGNED), [directory], "record_problems"), {**LEDGER, "file": STATE}, "ledger_problem")
    assert len([finding for finding in findings(facts_of(node)) if finding.code == "record-unreadable"]) == 1


def test_a_record_of_a_later_version_is_reported_as_the_node_says_it() -> None:
    later = {"record": "bogus", "file": f"{STATE}/bogus.json", "message": "it is damaged", "remedy": "Repair it"}
    finding = one(put(captured(ALIGNED), [later], "record_problems"), "record-unreadable")
    assert (finding.effect.value, finding.remedy) == ("none", "Repair it.")
