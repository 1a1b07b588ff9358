# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The effective values of kubelet and their sources."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.kubelet_names import Driver
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.kubelet_settings import interpret_checkpoint
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.kubelet_state import Checkpoint, KubeletFacts
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    CHECKPOINT,
    KUBELET_FILE,
    Snapshot,
    captured,
    facts_of,
    kubelet_adds,
    kubelet_edit,
    kubelet_flags,
    kubelet_text,
    missing,
    put,
    stopped_kubelet,
)

DRIVER_LINE = "cgroupDriver: systemd  # has to be the driver of the container runtime\n"


def kubelet(snapshot: Snapshot) -> KubeletFacts:
    return facts_of(snapshot).kubelet


@pytest.fixture
def aligned() -> Snapshot:
    return captured(ALIGNED)


@pytest.mark.parametrize("flags", [("--cgroup-driver=cgroupfs",), ("--cgroup-driver", "cgroupfs")])
def test_a_flag_in_either_form_overrides_the_file(aligned: Snapshot, flags: tuple[str, ...]) -> None:
    driver = facts_of(kubelet_flags(aligned, *flags)).driver
    assert driver.kubelet is Driver.CGROUPFS
    assert driver.source == "kubelet's command line, --cgroup-driver"


def test_the_last_of_several_flags_takes_precedence(aligned: Snapshot) -> None:
    node_facts = facts_of(kubelet_flags(aligned, "--cgroup-driver=cgroupfs", "--cgroup-driver", "systemd"))
    assert node_facts.driver.kubelet is Driver.SYSTEMD


def test_the_file_overrides_the_default(aligned: Snapshot) -> None:
    kubelet_facts, driver = kubelet(aligned), facts_of(aligned).driver
    assert (driver.kubelet, driver.source) == (Driver.SYSTEMD, KUBELET_FILE)
    assert (kubelet_facts.cpu_manager_policy, kubelet_facts.cpu_manager_policy_source) == ("static", KUBELET_FILE)


def test_the_default_is_used_without_another_source(aligned: Snapshot) -> None:
    snapshot = kubelet_edit(kubelet_edit(aligned, DRIVER_LINE, ""), "cpuManagerPolicy: static\n", "")
    kubelet_facts, driver = kubelet(snapshot), facts_of(snapshot).driver
    assert (driver.kubelet, driver.source) == (Driver.CGROUPFS, "kubelet's default")
    assert (kubelet_facts.cpu_manager_policy, kubelet_facts.cpu_manager_policy_source) == ("none", "kubelet's default")


@pytest.mark.parametrize("word", ["Systemd", "\"'systemd'\"", "cgroupsfs", "true"])
def test_an_unknown_word_is_unknown_and_not_cgroupfs(aligned: Snapshot, word: str) -> None:
    assert facts_of(kubelet_edit(aligned, DRIVER_LINE, f"cgroupDriver: {word}\n")).driver.kubelet is None


@pytest.mark.parametrize("word", ["null", "~", '""', "''", ""])
def test_a_null_or_empty_word_is_kubelets_default(aligned: Snapshot, word: str) -> None:
    driver = facts_of(kubelet_edit(aligned, DRIVER_LINE, f"cgroupDriver: {word}\n")).driver
    assert (driver.kubelet, driver.source) == (Driver.CGROUPFS, "kubelet's default")
    claims = facts_of(kubelet_edit(aligned, DRIVER_LINE, f"cgroupDriver: {word}\n")).claims
    driver_claims = [(claim.value, claim.source) for claim in claims if claim.setting == "cgroupDriver"]
    assert driver_claims[:2] == [
        ("" if "'" in word or '"' in word else "null", KUBELET_FILE),
        ("cgroupfs", "kubelet's default"),
    ]


def test_an_empty_flag_is_not_the_default(aligned: Snapshot) -> None:
    """Flags are read after the defaults were set: cmd/kubelet/app/server.go, kubeletConfigFlagPrecedence."""
    assert facts_of(kubelet_flags(aligned, "--cgroup-driver=")).driver.kubelet is None


def test_quotes_that_reached_a_flag_are_part_of_its_value(aligned: Snapshot) -> None:
    snapshot = kubelet_flags(aligned, '--cgroup-driver="systemd"')
    assert facts_of(snapshot).driver.kubelet is None
    assert facts_of(snapshot).claims[0].value == '"systemd"'


def test_every_source_makes_its_claim(aligned: Snapshot) -> None:
    claims = facts_of(kubelet_flags(aligned, "--cgroup-driver=cgroupfs")).claims
    assert [(claim.value, claim.source) for claim in claims if claim.setting == "cgroupDriver"][:2] == [
        ("cgroupfs", "kubelet's command line, --cgroup-driver"),
        ("systemd", KUBELET_FILE),
    ]


def test_a_file_that_does_not_parse_leaves_the_values_unknown(aligned: Snapshot) -> None:
    snapshot = kubelet_adds(aligned, "a: {{ driver }}\n")
    kubelet_facts = kubelet(snapshot)
    assert facts_of(snapshot).driver.kubelet is None
    assert kubelet_facts.cpu_manager_policy is None
    assert kubelet_facts.config.problem is not None
    assert kubelet_facts.config.problem.line == 34
    assert kubelet_facts.config.problem.message == "a key that is not a plain name"


def test_an_empty_file_is_all_defaults(aligned: Snapshot) -> None:
    assert facts_of(kubelet_text(aligned, "")).driver.kubelet is Driver.CGROUPFS


def test_a_missing_file_is_not_a_problem(aligned: Snapshot) -> None:
    kubelet_facts = kubelet(missing(aligned, "kubelet", KUBELET_FILE))
    assert kubelet_facts.config.kind == "missing"
    assert kubelet_facts.config.problem is None


def test_a_directory_instead_of_a_file_is_a_problem(aligned: Snapshot) -> None:
    kubelet_facts = kubelet(put(aligned, {"kind": "directory"}, "kubelet", "files", KUBELET_FILE))
    assert kubelet_facts.config.problem is not None
    assert kubelet_facts.config.problem.message == "is a directory, not a regular file"


@pytest.mark.parametrize(("seconds", "changed"), [(0.01, True), (-0.01, False)])
def test_the_file_changed_after_kubelet_started(aligned: Snapshot, seconds: float, changed: bool) -> None:
    started = aligned["kubelet"]["processes"][0]["started_at"]
    kubelet_facts = kubelet(put(aligned, started + seconds, "kubelet", "files", KUBELET_FILE, "ctime"))
    assert kubelet_facts.config.changed_after_start is changed


def test_a_rename_keeps_the_mtime_and_is_noticed_by_the_ctime(aligned: Snapshot) -> None:
    started = aligned["kubelet"]["processes"][0]["started_at"]
    snapshot = put(aligned, 0.0, "kubelet", "files", KUBELET_FILE, "mtime")
    snapshot = put(snapshot, started + 60, "kubelet", "files", KUBELET_FILE, "ctime")
    assert kubelet(snapshot).config.changed_after_start


def test_nothing_is_newer_than_a_process_of_unknown_age(aligned: Snapshot) -> None:
    snapshot = put(aligned, None, "kubelet", "processes", 0, "started_at")
    assert not kubelet(snapshot).config.changed_after_start
    assert not kubelet(stopped_kubelet(aligned)).config.changed_after_start


def test_a_stopped_kubelet_has_no_health(aligned: Snapshot) -> None:
    kubelet_facts = kubelet(stopped_kubelet(aligned))
    assert (kubelet_facts.installed, kubelet_facts.running, kubelet_facts.healthy, kubelet_facts.unit_state) == (
        True,
        False,
        None,
        "inactive",
    )
    assert kubelet_facts.command_line == ()


@pytest.mark.parametrize(("healthz", "healthy"), [("ok", True), ("nope", False), (None, False)])
def test_health_is_the_response_of_healthz(aligned: Snapshot, healthz: str | None, healthy: bool) -> None:
    assert kubelet(put(aligned, healthz, "kubelet", "healthz")).healthy is healthy


@pytest.mark.parametrize(
    ("text", "version"),
    [("Kubernetes v1.20.2", "1.20.2"), ("Kubernetes v1.30.0-rc.1+k3s1", "1.30.0-rc.1+k3s1"), ("", None), (None, None)],
)
def test_the_version_is_read_from_kubelets_output(aligned: Snapshot, text: str | None, version: str | None) -> None:
    assert kubelet(put(aligned, text, "kubelet", "version")).version == version


def test_the_checkpoint_of_a_static_node_counts_shared_and_exclusive_cpus() -> None:
    text = '{"policyName":"static","defaultCpuSet":"0,2-3","entries":{"uid":{"main":"1","side":"4-5"}},"checksum":1}'
    checkpoint = interpret_checkpoint(CHECKPOINT, {"kind": "regular", "text": text})
    assert checkpoint == Checkpoint(CHECKPOINT, True, "static", frozenset(range(6)), frozenset((0, 2, 3)), "unverified")


def test_the_checkpoint_of_policy_none_has_no_cpu() -> None:
    checkpoint = interpret_checkpoint(CHECKPOINT, {"kind": "regular", "text": '{"policyName":"none","checksum":1}'})
    assert checkpoint == Checkpoint(CHECKPOINT, True, "none", frozenset(), frozenset(), "unverified")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "5",
        '{"defaultCpuSet":"0"}',
        '{"policyName":"static","defaultCpuSet":"x"}',
        '{"policyName":"static","defaultCpuSet":7}',
        '{"policyName":"static","entries":[]}',
        '{"policyName":"static","defaultCpuSet":"0-99999999999"}',
        "[" * 200_000,
    ],
)
def test_a_corrupt_checkpoint_exists_and_has_no_policy(text: str) -> None:
    checkpoint = interpret_checkpoint(CHECKPOINT, {"kind": "regular", "text": text})
    assert checkpoint == Checkpoint(CHECKPOINT, True)


def test_a_missing_checkpoint_and_one_that_is_not_a_file() -> None:
    assert interpret_checkpoint(CHECKPOINT, {"kind": "missing"}) == Checkpoint(CHECKPOINT, False)
    assert interpret_checkpoint(CHECKPOINT, {"kind": "directory"}) == Checkpoint(CHECKPOINT, True)
