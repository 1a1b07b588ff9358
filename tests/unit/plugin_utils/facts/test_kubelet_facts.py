# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which value of kubelet is in force, and which source says so."""

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
def test_a_flag_in_either_form_beats_the_file(aligned: Snapshot, flags: tuple[str, ...]) -> None:
    found = facts_of(kubelet_flags(aligned, *flags)).driver
    assert found.kubelet is Driver.CGROUPFS
    assert found.source == "kubelet's command line, --cgroup-driver"


def test_the_last_of_several_flags_wins(aligned: Snapshot) -> None:
    found = facts_of(kubelet_flags(aligned, "--cgroup-driver=cgroupfs", "--cgroup-driver", "systemd"))
    assert found.driver.kubelet is Driver.SYSTEMD


def test_the_file_beats_the_default(aligned: Snapshot) -> None:
    found, driver = kubelet(aligned), facts_of(aligned).driver
    assert (driver.kubelet, driver.source) == (Driver.SYSTEMD, KUBELET_FILE)
    assert (found.cpu_manager_policy, found.cpu_manager_policy_source) == ("static", KUBELET_FILE)


def test_the_default_holds_where_nothing_else_speaks(aligned: Snapshot) -> None:
    snapshot = kubelet_edit(kubelet_edit(aligned, DRIVER_LINE, ""), "cpuManagerPolicy: static\n", "")
    found, driver = kubelet(snapshot), facts_of(snapshot).driver
    assert (driver.kubelet, driver.source) == (Driver.CGROUPFS, "kubelet's default")
    assert (found.cpu_manager_policy, found.cpu_manager_policy_source) == ("none", "kubelet's default")


@pytest.mark.parametrize("word", ["Systemd", "\"'systemd'\"", "cgroupsfs", "true"])
def test_an_unknown_word_is_unknown_and_not_cgroupfs(aligned: Snapshot, word: str) -> None:
    assert facts_of(kubelet_edit(aligned, DRIVER_LINE, f"cgroupDriver: {word}\n")).driver.kubelet is None


@pytest.mark.parametrize("word", ["null", "~", '""', "''", ""])
def test_a_null_or_empty_word_is_kubelets_default(aligned: Snapshot, word: str) -> None:
    driver = facts_of(kubelet_edit(aligned, DRIVER_LINE, f"cgroupDriver: {word}\n")).driver
    assert (driver.kubelet, driver.source) == (Driver.CGROUPFS, "kubelet's default")
    claims = facts_of(kubelet_edit(aligned, DRIVER_LINE, f"cgroupDriver: {word}\n")).claims
    said = [(each.value, each.source) for each in claims if each.setting == "cgroupDriver"]
    assert said[:2] == [("" if "'" in word or '"' in word else "null", KUBELET_FILE), ("cgroupfs", "kubelet's default")]


def test_an_empty_flag_is_not_the_default(aligned: Snapshot) -> None:
    """Flags are read after the defaults were put in: cmd/kubelet/app/server.go, kubeletConfigFlagPrecedence."""
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
    found = kubelet(snapshot)
    assert facts_of(snapshot).driver.kubelet is None
    assert found.cpu_manager_policy is None
    assert found.config.problem is not None
    assert found.config.problem.line == 34
    assert found.config.problem.message == "a key that is not a plain name"


def test_an_empty_file_is_all_defaults(aligned: Snapshot) -> None:
    assert facts_of(kubelet_text(aligned, "")).driver.kubelet is Driver.CGROUPFS


def test_a_missing_file_is_no_problem_by_itself(aligned: Snapshot) -> None:
    found = kubelet(missing(aligned, "kubelet", KUBELET_FILE))
    assert found.config.kind == "missing"
    assert found.config.problem is None


def test_what_is_no_file_is_a_problem(aligned: Snapshot) -> None:
    found = kubelet(put(aligned, {"kind": "directory"}, "kubelet", "files", KUBELET_FILE))
    assert found.config.problem is not None
    assert found.config.problem.message == "is a directory, not a regular file"


@pytest.mark.parametrize(("seconds", "changed"), [(0.01, True), (-0.01, False)])
def test_the_file_changed_after_kubelet_started(aligned: Snapshot, seconds: float, changed: bool) -> None:
    started = aligned["kubelet"]["processes"][0]["started_at"]
    found = kubelet(put(aligned, started + seconds, "kubelet", "files", KUBELET_FILE, "ctime"))
    assert found.config.changed_after_start is changed


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
    found = kubelet(stopped_kubelet(aligned))
    assert (found.installed, found.running, found.healthy, found.unit_state) == (True, False, None, "inactive")
    assert found.command_line == ()


@pytest.mark.parametrize(("healthz", "healthy"), [("ok", True), ("nope", False), (None, False)])
def test_health_is_what_healthz_answers(aligned: Snapshot, healthz: str | None, healthy: bool) -> None:
    assert kubelet(put(aligned, healthz, "kubelet", "healthz")).healthy is healthy


@pytest.mark.parametrize(
    ("text", "version"),
    [("Kubernetes v1.20.2", "1.20.2"), ("Kubernetes v1.30.0-rc.1+k3s1", "1.30.0-rc.1+k3s1"), ("", None), (None, None)],
)
def test_the_version_is_read_from_what_kubelet_prints(aligned: Snapshot, text: str | None, version: str | None) -> None:
    assert kubelet(put(aligned, text, "kubelet", "version")).version == version


def test_the_checkpoint_of_a_static_node_counts_shared_and_exclusive_cpus() -> None:
    text = '{"policyName":"static","defaultCpuSet":"0,2-3","entries":{"uid":{"main":"1","side":"4-5"}},"checksum":1}'
    found = interpret_checkpoint(CHECKPOINT, {"kind": "regular", "text": text})
    assert found == Checkpoint(CHECKPOINT, True, "static", frozenset(range(6)), frozenset((0, 2, 3)), "unverified")


def test_the_checkpoint_of_policy_none_knows_no_cpu() -> None:
    found = interpret_checkpoint(CHECKPOINT, {"kind": "regular", "text": '{"policyName":"none","checksum":1}'})
    assert found == Checkpoint(CHECKPOINT, True, "none", frozenset(), frozenset(), "unverified")


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
    found = interpret_checkpoint(CHECKPOINT, {"kind": "regular", "text": text})
    assert found == Checkpoint(CHECKPOINT, True)


def test_a_checkpoint_that_is_missing_and_one_that_is_no_file() -> None:
    assert interpret_checkpoint(CHECKPOINT, {"kind": "missing"}) == Checkpoint(CHECKPOINT, False)
    assert interpret_checkpoint(CHECKPOINT, {"kind": "directory"}) == Checkpoint(CHECKPOINT, True)
