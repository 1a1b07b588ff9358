# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of fields that the collection does not set: each case is refused, and its neighbour is not.

The stage ``judges`` compares these rules with kubelet's own code; here is one case of each.
"""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.kubelet_accepted_values import milliseconds
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.catalogue import findings
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    KUBELET_FILE,
    Snapshot,
    captured,
    facts_of,
    kubelet_adds,
    kubelet_flags,
    put,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_kubelet import dropins, version

GATE = (
    "shutdownGracePeriod: 30s\n"
    "featureGates: {GracefulNodeShutdown: %s, GracefulNodeShutdownBasedOnPodPriority: false%s}\n"
)

REFUSED = {
    "too small": ("maxPods: -1\n", "maxPods: 0\n", "maxPods = -1", "kubelet accepts at least 0"),
    "too great": (
        "oomScoreAdj: 1001\n",
        "oomScoreAdj: 1000\n",
        "oomScoreAdj = 1001",
        "at least -1000 and at most 1000",
    ),
    "a duration": (
        "containerLogMonitorInterval: 2999ms\n",
        "containerLogMonitorInterval: 3s\n",
        "containerLogMonitorInterval = 2999ms",
        "kubelet accepts at least 3000 ms",
    ),
    "below another field": (
        "crashLoopBackOff: {maxContainerRestartPeriod: 301s}\n",
        "crashLoopBackOff: {maxContainerRestartPeriod: 5m}\n",
        "crashLoopBackOff.maxContainerRestartPeriod = 301s",
        "at most 300000 ms",
    ),
    "a word": (
        "hairpinMode: veth\n",
        "hairpinMode: none\n",
        "hairpinMode = veth",
        "hairpin-veth or none or promiscuous",
    ),
    "a gate": (
        "cpuCFSQuotaPeriod: 10ms\n",
        "cpuCFSQuotaPeriod: 100ms\n",
        "cpuCFSQuotaPeriod = 10ms",
        "it needs the feature gate CustomCPUCFSQuotaPeriod",
    ),
    "a gate that is switched off": (
        GATE % ("false", ", WindowsGracefulNodeShutdown: false"),
        GATE % ("true", ""),
        "shutdownGracePeriod = 30s",
        "it needs the feature gate GracefulNodeShutdown",
    ),
    "thresholds": (
        "imageGCLowThresholdPercent: 85\n",
        "imageGCLowThresholdPercent: 84\n",
        "imageGCLowThresholdPercent = 85",
        "it is not below imageGCHighThresholdPercent, 85",
    ),
    "pulls": (
        "maxParallelImagePulls: 2\nserializeImagePulls: true\n",
        "maxParallelImagePulls: 2\n",
        "maxParallelImagePulls = 2",
        "serializeImagePulls: false",
    ),
    "ages": (
        "imageMaximumGCAge: 2m\nimageMinimumGCAge: 0s\n",
        "imageMaximumGCAge: 2m\nimageMinimumGCAge: 1m\n",
        "imageMaximumGCAge = 2m",
        "it is not above imageMinimumGCAge",
    ),
    "a cgroup": (
        "systemCgroups: /system.slice\n",
        "systemCgroups: /system.slice\ncgroupRoot: /\n",
        "systemCgroups = /system.slice",
        "it needs cgroupRoot",
    ),
    "a mode": ("runOnce: true\n", "runOnce: false\n", "runOnce = true", "no longer has this mode"),
    "logs": (
        "enableSystemLogQuery: true\nenableSystemLogHandler: false\nfeatureGates: {NodeLogQuery: true}\n",
        "enableSystemLogQuery: true\nfeatureGates: {NodeLogQuery: true}\n",
        "enableSystemLogQuery = true",
        "it needs enableSystemLogHandler: true",
    ),
    "a grace period": (
        "shutdownGracePeriod: 30s\nshutdownGracePeriodCriticalPods: 31s\n",
        "shutdownGracePeriod: 30s\nshutdownGracePeriodCriticalPods: 30s\n",
        "shutdownGracePeriodCriticalPods = 31s",
        "it is above shutdownGracePeriod",
    ),
    "a short grace period": ("shutdownGracePeriod: 1ms\n", "shutdownGracePeriod: 1s\n", "= 1ms", "below 1s and not 0s"),
    "two kinds of grace periods": (
        "shutdownGracePeriod: 1s\nshutdownGracePeriodByPodPriority: [{priority: 1, shutdownGracePeriodSeconds: 2}]\n",
        "shutdownGracePeriod: 1s\nshutdownGracePeriodByPodPriority: []\n",
        "shutdownGracePeriodByPodPriority = ",
        "it excludes shutdownGracePeriod",
    ),
    "a path": ("podLogsDir: /var/../log\n", "podLogsDir: logs\n", "podLogsDir = /var/../log", "an absolute path"),
    "ids": (
        "userNamespaces: {idsPerPod: 65537}\n",
        "userNamespaces: {idsPerPod: 131072}\n",
        "userNamespaces.idsPerPod = 65537",
        "a multiple of 65536",
    ),
}
"""A refused value, an accepted one, and parts of the evidence; for kubelet 1.35."""


def node(text: str, number: str = "1.35.4") -> Snapshot:
    return version(kubelet_adds(captured(ALIGNED), text), number)


def evidence_of(snapshot: Snapshot) -> list[str]:
    results = [finding for finding in findings(facts_of(snapshot)) if finding.code == "kubelet-value-refused"]
    return [line for finding in results for line in finding.evidence]


@pytest.mark.parametrize("case", REFUSED)
def test_a_value_that_kubelet_does_not_take_is_named(case: str) -> None:
    refused, _accepted, value, reason = REFUSED[case]
    (line,) = evidence_of(node(refused))
    assert value in line
    assert f"({KUBELET_FILE})" in line
    assert reason in line


@pytest.mark.parametrize("case", REFUSED)
def test_the_neighbouring_value_is_accepted(case: str) -> None:
    assert evidence_of(node(REFUSED[case][1])) == []


def test_a_flag_overrides_the_file() -> None:
    flags = (f"--config={KUBELET_FILE}", "--max-pods=-0x1")
    assert evidence_of(kubelet_flags(node("maxPods: 5\n"), *flags)) == [
        "maxPods = -0x1 (kubelet's command line, --max-pods): kubelet accepts at least 0"
    ]
    assert evidence_of(kubelet_flags(node("maxPods: -5\n"), flags[0], "--max-pods=5")) == []


def test_a_flag_cannot_ask_for_the_default_port() -> None:
    assert evidence_of(node("port: 0\n")) == []
    (line,) = evidence_of(kubelet_flags(node(""), f"--config={KUBELET_FILE}", "--port=0"))
    assert "a flag cannot select the default" in line


def test_a_drop_in_overrides_the_file() -> None:
    text = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 5\n"
    assert evidence_of(dropins(node("maxPods: -5\n"), **{"a.conf": text})) == []


def test_a_relative_directory_in_a_drop_in_is_refused() -> None:
    text = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\npodLogsDir: logs\n"
    assert len(evidence_of(dropins(node(""), **{"a.conf": text}))) == 1


def test_a_field_that_this_kubelet_does_not_have() -> None:
    text = "defaultPodSysctls: {net.ipv4.ip_forward: '1'}\n"
    assert evidence_of(node(text)) == []
    assert evidence_of(node(text, "1.37.2")) == [
        f"defaultPodSysctls = net.ipv4.ip_forward=1 ({KUBELET_FILE}): it needs the feature gate DefaultPodSysctls"
    ]


def test_gates_with_an_unknown_state() -> None:
    assert evidence_of(node("cpuCFSQuotaPeriod: 10ms\nfeatureGates: {AllAlpha: true}\n")) == []


@pytest.mark.parametrize("text", ["maxPods: many\n", "maxPods: true\n", "maxPods: [1]\n", "cpuCFSQuotaPeriod: soon\n"])
def test_values_of_another_type_are_left_to_another_rule(text: str) -> None:
    assert evidence_of(node(text)) == []


def test_an_unknown_version_has_no_finding() -> None:
    assert evidence_of(put(node("maxPods: -1\n"), None, "kubelet", "version")) == []


@pytest.mark.parametrize(("text", "amount"), [("1h2m3.5s", 3723500), ("-1.5h", -5400000), ("1us", 0.001), ("0", 0)])
def test_durations_of_go(text: str, amount: float) -> None:
    assert milliseconds(text) == amount


def test_a_gate_without_one_that_it_needs() -> None:
    text = "featureGates: {GracefulNodeShutdown: false}\n"
    results = {finding.code: finding for finding in findings(facts_of(node(text)))}
    assert results["feature-gates-refused"].evidence[0] == (
        "GracefulNodeShutdownBasedOnPodPriority is on but needs GracefulNodeShutdown"
    )
    assert "feature-gates-refused" not in {finding.code for finding in findings(facts_of(node(text, "1.34.0")))}
