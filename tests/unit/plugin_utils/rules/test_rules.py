# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each rule fires on a variant of a real node and is silent on the aligned one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.catalogue import FINDING_RULES, findings
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.rule_types import Effect, Finding, Verdict
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.verdict import judge
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    DIFFERING,
    KUBELET_FILE,
    Snapshot,
    captured,
    checkpoint,
    facts_of,
    kubelet_adds,
    kubelet_edit,
    missing,
    put,
    running_handlers,
    runtime_edit,
    runtime_text,
    stopped_kubelet,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules import (
    variants_around,
    variants_kubelet,
    variants_machine,
    variants_runtime,
)

ID = "0123456789abcdef" * 4
HANDLERS = "".join(
    f'[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.{name}.options]\nSystemdCgroup = {value}\n'
    for name, value in (("runc", "true"), ("nvidia", "false"))
)

STATE = "/var/lib/volcano-colocation"
RECORDS = [
    {"record": "journal", "file": f"{STATE}/transactions/t-1/journal.json", "message": "it is damaged", "remedy": "a"},
    {"record": "settings", "file": f"{STATE}/qos.json", "message": "it has schema 2", "remedy": ""},
]
VARIANTS: dict[str, tuple[Verdict, Callable[[Snapshot], Snapshot]]] = {
    "cgroup-mode-unknown": (Verdict.UNKNOWN, lambda node: put(node, [], "cgroups", "mountinfo")),
    "pid1-not-systemd": (Verdict.UNSUPPORTED, lambda node: put(node, "tini", "system", "pid1")),
    "not-installed": (Verdict.UNSUPPORTED, lambda node: put(node, None, "runtime", "program")),
    "config-unreadable": (Verdict.UNKNOWN, lambda node: runtime_text(node, "version = \n")),
    "kubelet-driver-unknown": (
        Verdict.UNKNOWN,
        lambda node: kubelet_edit(node, "cgroupDriver: systemd", "cgroupDriver: Systemd"),
    ),
    "unfinished-transaction": (
        Verdict.MISALIGNED,
        lambda node: put(node, ["20261121T013455-1a2b3c4d"], "unfinished_transactions"),
    ),
    "record-unreadable": (Verdict.UNKNOWN, lambda node: put(node, RECORDS, "record_problems")),
    "runtime-not-answering": (
        Verdict.UNKNOWN,
        lambda node: put(node, {"endpoint": "unix:///x.sock", "error": "refused"}, "runtime", "cri"),
    ),
    "kubelet-unhealthy": (Verdict.MISALIGNED, stopped_kubelet),
    "runtime-handlers-disagree": (Verdict.MISALIGNED, lambda node: runtime_text(node, f"version = 2\n{HANDLERS}")),
    "driver-mismatch": (
        Verdict.MISALIGNED,
        lambda node: running_handlers(runtime_edit(node, "SystemdCgroup = true", "SystemdCgroup = false"), runc=False),
    ),
    "containers-misplaced": (
        Verdict.MISALIGNED,
        lambda node: put(node, {f"0::/system.slice/kubepods-pod1.slice:cri-containerd:{ID}": 1}, "containers"),
    ),
    "containers-of-other-driver": (
        Verdict.MISALIGNED,
        lambda node: put(node, {f"0::/kubepods/burstable/pod1/{ID}": 1}, "containers"),
    ),
    "runtime-restart-changes-driver": (
        Verdict.LATENT,
        lambda node: runtime_edit(node, "SystemdCgroup = true", "SystemdCgroup = false"),
    ),
    "kubelet-config-changed-after-start": (
        Verdict.LATENT,
        lambda node: put(node, 4e9, "kubelet", "files", KUBELET_FILE, "ctime"),
    ),
    "checkpoint-unreadable": (Verdict.LATENT, lambda node: checkpoint(node, "{")),
    "checkpoint-policy-differs": (Verdict.LATENT, lambda node: checkpoint(node, '{"policyName":"none"}')),
    "checkpoint-cpus-differ": (Verdict.LATENT, lambda node: put(node, "0-3", "cpus", "online")),
}


def codes(snapshot: Snapshot) -> list[str]:
    return [finding.code for finding in findings(facts_of(snapshot))]


def one(snapshot: Snapshot, code: str) -> Finding:
    return next(finding for finding in findings(facts_of(snapshot)) if finding.code == code)


def test_the_aligned_node_has_nothing_but_its_commented_driver_and_kubelets_own_second_tree() -> None:
    found = findings(facts_of(captured(ALIGNED)))
    assert [(finding.code, finding.effect) for finding in found] == [
        ("driver-hidden-from-agents", Effect.NONE),
        ("second-kubepods-tree", Effect.NONE),
    ]
    assert judge(found) is Verdict.ALIGNED


def test_a_single_tree_is_no_finding() -> None:
    found = codes(put(captured(ALIGNED), ["/sys/fs/cgroup/kubepods.slice"], "cgroups", "trees"))
    assert found == ["driver-hidden-from-agents"]


def test_the_mismatch_of_the_captured_node_is_named() -> None:
    found = codes(captured(DIFFERING))
    assert {"driver-mismatch", "containers-misplaced"} <= set(found)
    assert judge(findings(facts_of(captured(DIFFERING)))) is Verdict.MISALIGNED


@pytest.mark.parametrize("code", VARIANTS)
def test_a_rule_fires_on_its_variant(code: str) -> None:
    verdict, variant = VARIANTS[code]
    found = findings(facts_of(variant(captured(ALIGNED))))
    assert code in {finding.code for finding in found}
    assert judge(found) is verdict


def test_every_rule_has_a_variant() -> None:
    tables = (
        VARIANTS,
        variants_around.VARIANTS,
        variants_kubelet.VARIANTS,
        variants_machine.VARIANTS,
        variants_runtime.VARIANTS,
    )
    nodes = [facts_of(variant(captured(ALIGNED))) for table in tables for _verdict, variant in table.values()]
    fired = {rule for rule in FINDING_RULES if any(any(rule(node)) for node in nodes)}
    silent = {rule.__name__ for rule in FINDING_RULES if rule not in fired}
    assert silent == set()


@pytest.mark.parametrize("code", VARIANTS)
def test_a_finding_says_what_to_do(code: str) -> None:
    finding = one(VARIANTS[code][1](captured(ALIGNED)), code)
    assert finding.summary.endswith(".")
    assert finding.remedy.endswith((".", "kubelet."))


def test_an_unreadable_file_is_named_with_its_line() -> None:
    finding = one(kubelet_adds(captured(ALIGNED), "a: {{ driver }}\n"), "config-unreadable")
    assert finding.evidence == (f"{KUBELET_FILE}:34: a key that is not a plain name",)


def test_a_file_that_is_none_is_named_without_a_line() -> None:
    snapshot = put(captured(ALIGNED), {"kind": "directory"}, "kubelet", "files", KUBELET_FILE)
    assert one(snapshot, "config-unreadable").evidence == (f"{KUBELET_FILE}: is a directory, not a regular file",)


def test_the_mismatch_shows_every_claim() -> None:
    evidence = one(captured(DIFFERING), "driver-mismatch").evidence
    assert f"cgroupDriver = systemd ({KUBELET_FILE})" in evidence
    assert "SystemdCgroup of handler runc = cgroupfs (the CRI's Status, in force now)" in evidence


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


def test_a_missing_checkpoint_is_no_finding() -> None:
    node = missing(captured(ALIGNED), "kubelet", "/var/lib/kubelet/cpu_manager_state")
    assert [code for code in codes(node) if code.startswith("checkpoint")] == []


LEDGER = {"file": f"{STATE}/ledger.json", "message": "it is damaged", "remedy": "Put it right"}


def test_each_record_that_cannot_be_read_is_named_once() -> None:
    node = put(put(captured(ALIGNED), RECORDS, "record_problems"), LEDGER, "ledger_problem")
    found = [each for each in findings(facts_of(node)) if each.code == "record-unreadable"]
    assert [each.evidence[0] for each in found] == [
        f"{STATE}/transactions/t-1/journal.json: it is damaged",
        f"{STATE}/qos.json: it has schema 2",
        f"{STATE}/ledger.json: it is damaged",
    ]
    assert [each.severity.value for each in found] == ["error", "warning", "warning"]
    assert [each.remedy for each in found][1:] == [
        "Put the file right from a backup, or move it away.",
        "Put it right.",
    ]


def test_a_state_directory_that_hides_all_is_named_once() -> None:
    directory = {"record": "directory", "file": STATE, "message": "it is a symbolic link to /srv", "remedy": "a"}
    node = put(put(captured(ALIGNED), [directory], "record_problems"), {**LEDGER, "file": STATE}, "ledger_problem")
    assert len([each for each in findings(facts_of(node)) if each.code == "record-unreadable"]) == 1


def test_a_record_of_a_later_version_is_reported_as_the_node_says_it() -> None:
    later = {"record": "bogus", "file": f"{STATE}/bogus.json", "message": "it is damaged", "remedy": "Mend it"}
    finding = one(put(captured(ALIGNED), [later], "record_problems"), "record-unreadable")
    assert (finding.effect.value, finding.remedy) == ("none", "Mend it.")
