# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about kubelet: each fires on its variant, and not on a node without the problem."""

from __future__ import annotations

import json

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.readers import read_yaml
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.kubelet_fields import OBSERVED
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.node_profile import Targets
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.catalogue import findings
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.rule_types import Finding
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.upgrade import upgrade_findings
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    CHECKPOINT,
    KUBELET_FILE,
    Snapshot,
    captured,
    checkpoint,
    facts_of,
    kubelet_adds,
    kubelet_edit,
    kubelet_flags,
    kubelet_text,
    put,
    stopped_kubelet,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_kubelet import (
    DROPIN,
    ENVIRONMENT,
    TYPE,
    UNIT,
    VARIANTS,
    configz,
    cri_driver,
    dropins,
    memory_manager,
    memory_state,
    on_v1,
    unit,
    version,
    without_comment,
)


@pytest.fixture
def node() -> Snapshot:
    return without_comment(captured(ALIGNED))


def codes(snapshot: Snapshot) -> list[str]:
    return [finding.code for finding in findings(facts_of(snapshot)) if finding.code != "second-kubepods-tree"]


def one(snapshot: Snapshot, code: str) -> Finding:
    return next(finding for finding in findings(facts_of(snapshot)) if finding.code == code)


def without_old_flag(snapshot: Snapshot, number: str) -> Snapshot:
    """A copy with a newer kubelet, started in the way of its version."""
    argv = [word for word in snapshot["kubelet"]["processes"][0]["argv"] if not word.startswith("--container-runtime=")]
    return version(put(snapshot, argv, "kubelet", "processes", 0, "argv"), number)


def test_a_plain_node_has_no_finding(node: Snapshot) -> None:
    assert codes(node) == []


def test_a_refused_dropin_is_named_with_file_and_line(node: Snapshot) -> None:
    broken = dropins(without_old_flag(node, "1.30.1"), a=TYPE + "cgroupDriver: x\ncgroupDriver: y\n")
    path = DROPIN.replace("10-colocation", "a")
    assert one(broken, "dropin-refused").evidence == (f"{path}:4: key 'cgroupDriver' is set twice, first in line 3",)


@pytest.mark.parametrize(
    ("number", "variable", "reason"),
    [
        ("1.27.4", None, "this version does not have the flag"),
        ("1.28.4", False, "KUBELET_CONFIG_DROPIN_DIR_ALPHA is not set"),
        ("1.29.1", False, "KUBELET_CONFIG_DROPIN_DIR_ALPHA is not set"),
        ("1.29.1", True, None),
        ("1.30.0", False, None),
    ],
)
def test_the_drop_in_directory_by_version(
    node: Snapshot, number: str, variable: bool | None, reason: str | None
) -> None:
    snapshot = put(dropins(without_old_flag(node, number), a=TYPE), variable, "kubelet", "dropin_variable")
    summaries = [finding.summary for finding in findings(facts_of(snapshot)) if finding.code == "config-dir-refused"]
    assert [reason in summary for summary in summaries if reason] == ([True] if reason else [])
    assert bool(summaries) is bool(reason)


def test_a_missing_drop_in_directory_stops_kubelet(node: Snapshot) -> None:
    snapshot = put(dropins(without_old_flag(node, "1.31.0")), False, "kubelet", "config_dir", "exists")
    assert "the directory does not exist" in one(snapshot, "config-dir-refused").summary


def test_what_the_unit_changes_names_the_variable_and_its_file(node: Snapshot) -> None:
    finding = one(unit(node, "KUBELET_KUBEADM_ARGS=--cgroup-driver=cgroupfs\n"), "kubelet-flags-change")
    assert finding.evidence == (
        f"--cgroup-driver: not set now, cgroupfs next (KUBELET_KUBEADM_ARGS in {ENVIRONMENT}, --cgroup-driver)",
    )


def test_a_unit_that_starts_kubelet_as_it_runs_has_no_finding(node: Snapshot) -> None:
    assert codes(unit(node, "KUBELET_KUBEADM_ARGS=\n")) == []
    assert "kubelet-flags-change" not in codes(stopped_kubelet(unit(node, "KUBELET_KUBEADM_ARGS=--cgroup-driver=x\n")))


def test_another_config_file_at_the_next_start(node: Snapshot) -> None:
    finding = one(unit(node, "KUBELET_KUBEADM_ARGS=--config=/etc/k.yaml\n"), "kubelet-flags-change")
    assert finding.evidence == (f"--config: {KUBELET_FILE} now, /etc/k.yaml next",)


def test_a_specifier_that_systemd_replaces_has_no_finding(node: Snapshot) -> None:
    assert codes(unit(node, "KUBELET_KUBEADM_ARGS=--root-dir=%S/kubelet\n")) == []


def test_a_flag_that_is_removed(node: Snapshot) -> None:
    snapshot = kubelet_flags(unit(node, ""), "--cpu-manager-policy=static")
    assert one(snapshot, "kubelet-flags-change").evidence == (
        "--cpu-manager-policy: static now, not set next (no longer set)",
    )


def test_a_removed_flag_waits_in_an_environment_file(node: Snapshot) -> None:
    snapshot = unit(without_old_flag(node, "1.35.0"), 'KUBELET_KUBEADM_ARGS="--pod-infra-container-image=pause:3.9"\n')
    assert one(snapshot, "flag-removed").evidence == (
        f"--pod-infra-container-image (KUBELET_KUBEADM_ARGS in {ENVIRONMENT}), removed in 1.35, kubernetes#133779",
    )
    assert "flag-removed" not in codes(version(snapshot, "1.34.9"))


def test_configz_that_agrees_has_no_finding(node: Snapshot) -> None:
    configz_values = {
        "cgroupDriver": "systemd",
        "cpuManagerPolicy": "static",
        "systemReserved": {"cpu": "500m"},
        "failSwapOn": False,
        "readOnlyPort": 0,
        "evictionHard": {"memory.available": "64Mi", "nodefs.available": "2%", "imagefs.available": "2%", "x": "1"},
        "enforceNodeAllocatable": ["pods"],
        "featureGates": {},
        "kubeReserved": {},
        "reservedMemory": [],
        "failCgroupV1": True,
    }
    assert codes(configz(node, **configz_values)) == []


def test_configz_with_values_that_no_file_sets(node: Snapshot) -> None:
    finding = one(
        configz(node, kubeReserved={"cpu": "1"}, topologyManagerPolicy="restricted"), "kubelet-configz-differs"
    )
    assert finding.evidence == (
        "topologyManagerPolicy: restricted in /configz, none in its files and flags",
        "kubeReserved: cpu=1 in /configz, not set in its files and flags",
    )


def test_named_cpus_move_into_system_reserved(node: Snapshot) -> None:
    snapshot = kubelet_adds(node, 'reservedSystemCPUs: "0"\n')
    assert codes(configz(snapshot, systemReserved={"cpu": "1"}, reservedSystemCPUs="0")) == []


@pytest.mark.parametrize(("number", "differs"), [("1.34.2", False), ("1.35.2", True)])
def test_configz_has_the_driver_in_force_from_1_35(node: Snapshot, number: str, differs: bool) -> None:
    """Before 1.35 /configz has the configured driver, which is that of the file."""
    snapshot = configz(cri_driver(without_old_flag(node, number), "cgroupfs"), cgroupDriver="systemd")
    assert ("kubelet-configz-differs" in codes(snapshot)) is differs


def test_a_driver_that_the_cri_confirms_is_not_ignored(node: Snapshot) -> None:
    assert codes(cri_driver(without_old_flag(node, "1.34.1"), "systemd")) == []


def test_a_driver_in_json_is_hidden_from_agents(node: Snapshot) -> None:
    values = read_yaml(node["kubelet"]["files"][KUBELET_FILE]["text"])
    finding = one(kubelet_text(node, json.dumps(values)), "driver-hidden-from-agents")
    assert finding.evidence == (f"{KUBELET_FILE}: cgroupDriver in JSON",)


def test_a_driver_that_no_file_names_is_hidden_from_agents(node: Snapshot) -> None:
    snapshot = cri_driver(without_old_flag(kubelet_edit(node, "cgroupDriver: systemd\n", ""), "1.34.1"), "systemd")
    assert one(snapshot, "driver-hidden-from-agents").evidence == (
        f"{KUBELET_FILE}: no cgroupDriver; kubelet's driver comes from the CRI's RuntimeConfig",
    )


@pytest.mark.parametrize(
    ("number", "line", "refused"),
    [
        ("1.30.9", "", False),
        ("1.34.9", "", False),
        ("1.34.9", "failCgroupV1: true\n", True),
        ("1.35.0", "", True),
        ("1.36.1", "failCgroupV1: false\n", False),
    ],
)
def test_cgroup_v1_by_version(node: Snapshot, number: str, line: str, refused: bool) -> None:
    snapshot = on_v1(kubelet_adds(without_old_flag(node, number), line))
    assert ("cgroup-v1-refused" in codes(snapshot)) is refused


def test_a_misspelt_policy_names_the_right_spelling(node: Snapshot) -> None:
    finding = one(kubelet_edit(node, "cpuManagerPolicy: static", "cpuManagerPolicy: Static"), "policy-unknown")
    assert "none or static" in finding.remedy
    assert "cpuManagerPolicy = Static" in finding.evidence[0]


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ("kubeReserved: {cpu: much}\n", "reservation-unreadable"),
        ("kubeReserved: {memory: lots}\n", "reservation-unreadable"),
        ('reservedSystemCPUs: "0-"\n', "reservation-unreadable"),
        ("enforceNodeAllocatable: [none, pods]\n", "enforcement-refused"),
        (
            "enforceNodeAllocatable: [kube-reserved, kube-reserved-compressible]\nkubeReservedCgroup: /k\n",
            "enforcement-refused",
        ),
        ("enforceNodeAllocatable: [pods]\ncgroupsPerQOS: false\n", "enforcement-refused"),
        ("enforceNodeAllocatable: [pods, kube-reserved]\nkubeReservedCgroup: /k\n", None),
        ("enforceNodeAllocatable: [none]\ncgroupsPerQOS: false\n", None),
    ],
)
def test_reservations(node: Snapshot, lines: str, code: str | None) -> None:
    assert codes(kubelet_adds(node, lines)) == ([code] if code else [])


def test_a_reservation_of_another_type_has_its_line(node: Snapshot) -> None:
    snapshot = kubelet_adds(node, "kubeReserved: much\n")
    assert codes(snapshot) == ["kubelet-config-refused", "reservation-unreadable"]
    (evidence,) = one(snapshot, "kubelet-config-refused").evidence
    lines = snapshot["kubelet"]["files"][KUBELET_FILE]["text"].count("\n")
    assert evidence.startswith(f"{KUBELET_FILE}:{lines}: kubeReserved is not a mapping")


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("", ["1: apiVersion is not kubelet.config.k8s.io/v1beta1", "1: kind is not KubeletConfiguration"]),
        ("apiVersion: kubelet.config.k8s.io/v1beta1\n", ["1: kind is not KubeletConfiguration"]),
        (
            "kind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1\n",
            ["2: apiVersion is not kubelet.config.k8s.io/v1beta1"],
        ),
        ("apiVersion: kubelet.config.k8s.io/v1beta1\nkind: Pod\n", ["2: kind is not KubeletConfiguration"]),
    ],
)
def test_a_file_of_another_kind_has_its_line(node: Snapshot, text: str, problems: list[str]) -> None:
    evidence = one(kubelet_text(node, text), "kubelet-config-refused").evidence
    assert evidence == tuple(f"{KUBELET_FILE}:{problem}" for problem in problems)


def test_a_quoted_switch_has_its_line(node: Snapshot) -> None:
    snapshot = kubelet_adds(node, 'cgroupsPerQOS: "true"\n')
    lines = snapshot["kubelet"]["files"][KUBELET_FILE]["text"].count("\n")
    finding = one(snapshot, "kubelet-config-refused")
    assert finding.evidence == (f"{KUBELET_FILE}:{lines}: cgroupsPerQOS is not true or false",)


def test_more_reserved_than_online_under_static_stops_kubelet(node: Snapshot) -> None:
    finding = one(kubelet_edit(node, "cpu: 500m", 'cpu: "3"'), "reservation-too-large")
    assert finding.effect.value == "latent"


@pytest.mark.parametrize("amount", ["564Mi", "577536Ki"])
def test_the_memory_equation_holds(node: Snapshot, amount: str) -> None:
    assert "reserved-memory-unequal" not in codes(memory_manager(node, amount))


def test_an_eviction_by_percentage_has_no_memory_equation(node: Snapshot) -> None:
    snapshot = kubelet_edit(memory_manager(node, "500Mi"), "memory.available: 64Mi", "memory.available: 5%")
    assert "reserved-memory-unequal" not in codes(snapshot)
    old = version(memory_manager(node, "500Mi"), "1.20.4")
    assert "reserved-memory-unequal" not in codes(old)


def test_the_default_eviction_counts_into_the_memory_equation(node: Snapshot) -> None:
    start = node["kubelet"]["files"][KUBELET_FILE]["text"].index("evictionHard:")
    text = node["kubelet"]["files"][KUBELET_FILE]["text"]
    plain = put(node, text[:start] + text[text.index("failSwapOn") :], "kubelet", "files", KUBELET_FILE, "text")
    assert "reserved-memory-unequal" not in codes(memory_manager(plain, "600Mi"))


STRICT = 'cpuManagerPolicyOptions: {strict-cpu-reservation: "true"}\n'


def state(shared: str, **exclusive: str) -> str:
    entries = ",".join(f'"{pod}":{{"main":"{cpus}"}}' for pod, cpus in exclusive.items())
    return f'{{"policyName":"static","defaultCpuSet":"{shared}","entries":{{{entries}}},"checksum":0}}'


@pytest.mark.parametrize(
    ("lines", "content", "expected"),
    [
        ("", state("0-1"), []),
        ("", state(""), []),
        ("", state("0-2"), ["checkpoint-cpus-differ"]),
        (STRICT, state("1"), []),
        (STRICT, state("0-1"), []),
        (STRICT, state("", pod="0-1"), []),
        (STRICT + 'reservedSystemCPUs: "0"\n', state("1"), []),
        (STRICT + 'reservedSystemCPUs: "0"\n', state("0-1"), ["checkpoint-reserved-differ"]),
        (STRICT + 'reservedSystemCPUs: "1"\n', state("1"), ["checkpoint-cpus-differ", "checkpoint-reserved-differ"]),
        ('reservedSystemCPUs: "0"\n', state("0", pod="1"), []),
        ('reservedSystemCPUs: "0"\n', state("1", pod="0"), ["checkpoint-reserved-differ"]),
    ],
)
def test_checkpoints_against_the_cpus(node: Snapshot, lines: str, content: str, expected: list[str]) -> None:
    """validateState of policy_static.go; with strict-cpu-reservation the shared set lacks the reserved CPUs."""
    snapshot = checkpoint(kubelet_adds(without_old_flag(node, "1.35.1"), lines), content)
    assert codes(snapshot) == expected


def test_a_checkpoint_of_the_other_policy_is_not_compared_with_the_reserved_cpus(node: Snapshot) -> None:
    snapshot = kubelet_edit(node, "cpuManagerPolicy: static", "cpuManagerPolicy: none")
    assert codes(kubelet_adds(snapshot, 'reservedSystemCPUs: "1"\n')) == ["checkpoint-policy-differs"]


def test_unreadable_reservations_are_not_held_against_a_checkpoint(node: Snapshot) -> None:
    snapshot = checkpoint(kubelet_adds(node, STRICT + 'reservedSystemCPUs: "x"\n'), state("0-1"))
    assert codes(version(snapshot, "1.20.2")) == ["reservation-unreadable"]


def test_a_checkpoint_whose_checksum_is_unknown(node: Snapshot) -> None:
    changed = checkpoint(without_old_flag(node, "1.36.0"), state("0-1").replace(":0}", ":7}"))
    assert codes(changed) == []
    assert codes(version(changed, "1.35.9")) == ["checkpoint-corrupt"]


def test_the_memory_checkpoint_of_the_same_policy(node: Snapshot) -> None:
    node = version(node, "1.26.0")
    assert "flag-removed" not in codes(node)
    assert codes(memory_state(node, '{"policyName":"None","machineState":{},"checksum":1}')) == []
    missing = put(
        memory_state(node, ""), {"kind": "missing"}, "kubelet", "files", "/var/lib/kubelet/memory_manager_state"
    )
    assert codes(missing) == []


def test_the_checkpoint_path_is_in_the_evidence(node: Snapshot) -> None:
    assert one(VARIANTS["checkpoint-corrupt"][1](node), "checkpoint-corrupt").evidence == (CHECKPOINT,)


TEXT = ("kubelet", "files", KUBELET_FILE, "text")
ODD = [
    "5",
    "[1]",
    "[[]]",
    "{a: {b: c}}",
    "x",
    "null",
    "true",
    '""',
    "[{limits: 5}]",
    "{cpu: null, memory: [1]}",
    "1e999",
]
FIELDS = [field.key for field in OBSERVED]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("key", FIELDS)
def test_no_shape_of_a_field_makes_a_rule_stumble(node: Snapshot, key: str, odd: str) -> None:
    text = "cpuManagerPolicy: static\nmemoryManagerPolicy: Static\n"
    lines = [line for line in text.splitlines() if not line.startswith(key + ":")]
    snapshot = put(without_old_flag(node, "1.36.0"), "\n".join([*lines, f"{key}: {odd}\n"]), *TEXT)
    snapshot = configz(dropins(snapshot, a=f"{TYPE}{key}: {odd}\n"), **{key: odd})
    results = findings(facts_of(snapshot))
    upgrade_findings(facts_of(snapshot), Targets((1, 38), (2, 1), 260))
    assert all(isinstance(line, str) for finding in results for line in finding.evidence)


@pytest.mark.parametrize("amount", ["9" * 4200 + "e999", "9" * 5000, "-1e999", "1e20"])
def test_amounts_beyond_any_machine(node: Snapshot, amount: str) -> None:
    snapshot = kubelet_edit(node, "cpu: 500m", f'cpu: "{amount}"')
    assert "reservation-unreadable" in codes(snapshot)


def test_a_unit_that_would_grow_beyond_any_command_line_is_not_expanded(node: Snapshot) -> None:
    snapshot = unit(node, f'A="{"x " * 20000}"\n')
    text = snapshot["kubelet"]["files"][UNIT]["text"] + "ExecStart=\nExecStart=/usr/bin/kubelet " + "$A " * 10000 + "\n"
    assert facts_of(put(snapshot, text, "kubelet", "files", UNIT, "text")).kubelet.start.following is None


def test_deeply_nested_values_of_configz_are_left_out(node: Snapshot) -> None:
    deep: list[object] = []
    for _level in range(500):
        deep = [deep]
    kubelet = facts_of(configz(node, cpuManagerPolicy="static", systemReserved={"cpu": deep})).kubelet
    assert kubelet.configz == {"cpuManagerPolicy": "static"}


def test_nothing_is_hidden_without_a_kubelet() -> None:
    node = put(captured(ALIGNED), None, "kubelet", "program")
    assert "driver-hidden-from-agents" not in {finding.code for finding in findings(facts_of(node))}
    assert "driver-hidden-from-agents" in {finding.code for finding in findings(facts_of(captured(ALIGNED)))}
