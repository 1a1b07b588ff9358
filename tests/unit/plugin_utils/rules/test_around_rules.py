# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about agents, backups, the boot loader's files and images, each on its variant of a real node."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.assessment.node_plan import make_plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.catalogue import findings
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.rule_types import Finding, Severity
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.verdict import all_findings, judge
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    Snapshot,
    captured,
    desired,
    facts_of,
    kubelet_adds,
    put,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_around import (
    ENTRY,
    GATE,
    GRUB,
    MANIFESTS,
    RESERVATION,
    ROOT,
    boot,
    gated,
    image,
    kernel,
    manifests,
    rubik_service,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_kubelet import dropins, version
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_machine import (
    command_line,
    commands,
    cpu_files,
    systemd,
    unit,
    v1,
    v1_252,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_runtime import containerd, crio

V2_WORD = "systemd.unified_cgroup_hierarchy=1"
OLD = "5.4.0-216-generic"
RUBIK_LINE = "systemd.unified_cgroup_hierarchy=0 psi=1 psi_v1=1 cgroup1_writeback"


def findings_by_code(snapshot: Snapshot) -> dict[str, Finding]:
    return {finding.code: finding for finding in findings(facts_of(snapshot))}


SILENT: dict[str, tuple[str, Callable[[Snapshot], Snapshot]]] = {
    "a kernel that throttles soundly": ("memory-qos-stalls-pods", lambda node: kernel(gated(node), "5.9.0")),
    "a gate that is off": (
        "memory-qos-stalls-pods",
        lambda node: kernel(gated(node, lines="featureGates: {MemoryQoS: false}\n"), OLD),
    ),
    "a gate that is off by default": ("memory-qos-stalls-pods", lambda node: kernel(gated(node, lines=""), OLD)),
    "1.37 without a factor": ("memory-qos-stalls-pods", lambda node: kernel(gated(node, "1.37.0", ""), OLD)),
    "MemoryQoS on v1": ("memory-qos-stalls-pods", lambda node: kernel(gated(v1_252(node)), OLD)),
    "MemoryQoS of an unknown kubelet": (
        "memory-qos-stalls-pods",
        lambda node: put(kernel(gated(node), OLD), None, "kubelet", "version"),
    ),
    "an agent and a kubelet that writes nothing": (
        "memory-qos-agent-conflict",
        lambda node: commands(gated(node, "1.37.0", ""), koordlet=1),
    ),
    "an agent that leaves memory alone": (
        "memory-qos-agent-conflict",
        lambda node: commands(gated(node), crane_agent=1),
    ),
    "v1 without the gate": ("memory-qos-needs-v2", lambda node: gated(v1_252(node), lines="")),
    "v2 with the gate": ("memory-qos-needs-v2", gated),
    "a reservation with its gate": (
        "memory-reservation-refused",
        lambda node: gated(node, "1.36.0", GATE + RESERVATION),
    ),
    "a reservation, 1.37": ("memory-reservation-refused", lambda node: gated(node, "1.37.0", RESERVATION)),
    "a reservation of a kubelet that ignores it": (
        "memory-reservation-refused",
        lambda node: gated(node, "1.35.0", RESERVATION),
    ),
    "no reservation": (
        "memory-reservation-refused",
        lambda node: gated(node, "1.36.0", "memoryReservationPolicy: None\n"),
    ),
    "the default root, written out": ("cgroup-root-not-default", lambda node: kubelet_adds(node, "cgroupRoot: /\n")),
    "a port that is closed": ("read-only-port-open", lambda node: kubelet_adds(node, "readOnlyPort: 0\n")),
    "kubelet's default port": ("read-only-port-open", lambda node: node),
    "kubelet's default directory": ("kubelet-root-dir-not-default", lambda node: node),
    "static pods": ("static-pod-backup-is-run", lambda node: manifests(node, "etcd.yaml", ".etcd.yaml.bak")),
    "a backup in a directory that kubelet does not read": (
        "static-pod-backup-is-run",
        lambda node: put(node, {"/etc/other": ["etcd.yaml~"]}, "kubelet", "static_pods"),
    ),
    "drop-ins of CRI-O": ("dropin-backup-is-read", lambda node: crio(node, **{"10-crio.conf": ""})),
    "a unit as systemd has it": (
        "unit-not-reloaded",
        lambda node: unit(node, "kubelet.service", NeedDaemonReload="no"),
    ),
    "a unit of another service": ("unit-not-reloaded", lambda node: unit(node, "k3s.service", NeedDaemonReload="yes")),
    "the current command line": ("next-boot-command-line-differs", lambda node: boot(node, grub=[V2_WORD])),
    "no files of a boot loader": ("next-boot-command-line-differs", lambda node: put(node, {}, "boot")),
    "grub's defaults where entries are booted": (
        "next-boot-command-line-differs",
        lambda node: boot(node, grub=[], entry=[V2_WORD]),
    ),
    "a container, which does not boot": (
        "next-boot-command-line-differs",
        lambda node: put(boot(node, grub=[]), {ROOT: {"files": ["cgroup.type"], "folders": []}}, "cgroups", "tops"),
    ),
    "an image, whose command line is not the current one": (
        "next-boot-command-line-differs",
        lambda node: image(boot(node, grub=[])),
    ),
    "rubik with kubelet's driver": ("rubik-driver-differs", lambda node: rubik_service(node, "systemd")),
    "rubik in a pod, which has its own file": (
        "rubik-driver-differs",
        lambda node: unit(rubik_service(node, "cgroupfs"), "rubik.service", ActiveState="inactive"),
    ),
    "an image without mounts": ("cgroup-mode-unknown", lambda node: put(image(node), [], "cgroups", "mountinfo")),
    "a new containerd on v2": ("below-v2-minimum", lambda node: containerd(node, "1.4.0")),
    "an old containerd on v1": ("below-v2-minimum", lambda node: containerd(v1(node), "1.3.9")),
}


@pytest.mark.parametrize("case", SILENT)
def test_a_rule_is_silent(case: str) -> None:
    code, variant = SILENT[case]
    assert code not in findings_by_code(variant(captured(ALIGNED)))


FACTOR = "memoryThrottlingFactor: 0.8\n"


@pytest.mark.parametrize(
    ("number", "lines", "files"),
    [
        ("1.26.1", GATE, "memory.high and memory.min"),
        ("1.36.0", GATE, "memory.high"),
        ("1.36.0", GATE + RESERVATION, "memory.high and memory.min"),
        ("1.37.0", FACTOR, "memory.high"),
        ("1.37.0", RESERVATION, "memory.min"),
        ("1.37.0", 'featureGates: {MemoryQoS: "true"}\n' + FACTOR + RESERVATION, "memory.high and memory.min"),
    ],
)
def test_what_kubelet_writes_depends_on_its_version(number: str, lines: str, files: str) -> None:
    finding = findings_by_code(commands(gated(captured(ALIGNED), number, lines), vc_agent=1))[
        "memory-qos-agent-conflict"
    ]
    assert finding.summary.startswith(f"kubelet sets {files} of pods")
    assert finding.evidence[0] == "volcano-agent: 1 process(es) vc-agent"


def test_a_tree_below_another_cgroup_tells_the_root() -> None:
    node = put(captured(ALIGNED), [f"{ROOT}/pods.slice/pods-kubepods.slice"], "cgroups", "trees")
    assert findings_by_code(node)["cgroup-root-not-default"].evidence == (f"{ROOT}/pods.slice/pods-kubepods.slice",)


def test_a_backup_of_a_dropin_that_kubelet_reads() -> None:
    name = "10-own.bak"
    lines = {"10-own": "", name: ""}
    finding = findings_by_code(dropins(version(captured(ALIGNED), "1.30.1"), **lines))["dropin-backup-is-read"]
    assert finding.evidence == (f"/etc/kubernetes/kubelet.conf.d/{name}.conf",)


@pytest.mark.parametrize("name", ["a.yaml~", "a.yaml.orig", "a.yaml.dpkg-old", "a.yaml.rpmsave"])
def test_names_of_backups(name: str) -> None:
    finding = findings_by_code(manifests(captured(ALIGNED), name))["static-pod-backup-is-run"]
    assert finding.evidence == (f"{MANIFESTS}/{name}",)


def test_an_edit_that_was_not_applied_and_a_parameter_that_will_go() -> None:
    node = boot(captured(ALIGNED), grub=["cgroup_disable=memory"], entry=[])
    assert findings_by_code(node)["next-boot-command-line-differs"].evidence == (
        f"{GRUB}: cgroup_disable=memory; now: nothing",
        f"{ENTRY}: nothing; now: {V2_WORD}",
    )


@pytest.mark.parametrize(("name", "version", "least"), [("containerd", "1.3.9", "1.4"), ("CRI-O", "1.19.4", "1.20")])
def test_an_old_runtime_is_below_the_minimum_of_v2(name: str, version: str, least: str) -> None:
    node = put(
        captured(ALIGNED) if name == "containerd" else crio(captured(ALIGNED)), version, "runtime", "cri", "version"
    )
    assert findings_by_code(node)["below-v2-minimum"].evidence == (f"{name} {version}, required is {least}",)


def test_features_of_rubik_that_may_be_on() -> None:
    finding = findings_by_code(commands(v1_252(captured(ALIGNED)), rubik=1))["rubik-kernel-features-missing"]
    assert finding.severity is Severity.INFO
    assert [line.partition(":")[0] for line in finding.evidence] == ["psi", "ioCost"]


def test_features_of_rubik_that_are_on() -> None:
    finding = findings_by_code(rubik_service(captured(ALIGNED), "systemd", "psi"))["rubik-kernel-features-missing"]
    assert finding.severity is Severity.WARNING
    assert finding.evidence == ("psi: the kernel command line lacks psi=1 psi_v1=1",)


@pytest.mark.parametrize("features", [(), ("preemption",), ("quotaTurbo",)])
def test_features_of_rubik_that_are_off_lack_nothing(features: tuple[str, ...]) -> None:
    assert "rubik-kernel-features-missing" not in findings_by_code(
        rubik_service(captured(ALIGNED), "systemd", *features)
    )


def test_a_kernel_with_all_that_rubik_needs() -> None:
    node = cpu_files(commands(command_line(v1_252(captured(ALIGNED)), RUBIK_LINE), rubik=1), "cpu.qos_level")
    assert "rubik-kernel-features-missing" not in findings_by_code(node)


LEGACY = "systemd.unified_cgroup_hierarchy=0"


@pytest.mark.parametrize(
    ("installed", "files", "expected"),
    [
        ("258", {}, "cgroup v2"),
        ("252", {}, "a cgroup version that the files do not determine"),
        ("252", {"grub": [LEGACY]}, "cgroup hybrid"),
        ("252", {"grub": [LEGACY], "entry": [V2_WORD]}, "cgroup v2"),
        ("257", {"installed": [LEGACY]}, "cgroup v2"),
    ],
)
def test_the_cgroup_version_of_an_images_first_boot(installed: str, files: dict[str, list[str]], expected: str) -> None:
    node = image(boot(systemd(captured(ALIGNED), "252", installed), **files))
    assert findings_by_code(node)["offline-image"].summary.endswith(f"Its first boot will use {expected}.")


def test_entries_that_do_not_agree_tell_no_line() -> None:
    entries = {ENTRY: [LEGACY], ENTRY.replace("6.12", "6.1"): []}
    evidence = findings_by_code(image(put(captured(ALIGNED), entries, "boot")))["offline-image"].evidence
    assert evidence[1] == "kernel command line: unknown, no file in the image sets it"


def test_an_image_whose_files_agree_with_the_profile_is_aligned() -> None:
    facts = facts_of(image(captured(ALIGNED)))
    plan = make_plan(facts, desired(), allow_disruption=True)
    assert plan.refusals == ()
    assert judge(all_findings(facts, plan)).value == "aligned"


def test_an_image_that_differs_from_the_profile_says_so() -> None:
    facts = facts_of(image(captured(ALIGNED)))
    results = all_findings(facts, make_plan(facts, desired(cgroup_driver="cgroupfs"), allow_disruption=True))
    assert results[-1].code == "differs-from-profile"
