# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that assess reports on and provision refuses, each with the reason."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.assessment.node_plan import make_plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.rule_types import Verdict
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.verdict import all_findings, judge
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    Snapshot,
    captured,
    desired,
    facts_of,
    put,
    runtime_text,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_runtime import crio, docker, k3s


def refused(snapshot: Snapshot) -> dict[str, str]:
    plan = make_plan(facts_of(snapshot), desired(), allow_disruption=True)
    assert not plan.changes
    return {refusal.code: refusal.message for refusal in plan.refusals}


def test_an_aligned_crio_node_is_not_refused() -> None:
    facts = facts_of(crio(captured(ALIGNED)))
    plan = make_plan(facts, desired(), allow_disruption=True)
    assert (plan.changes, plan.refusals) == ((), ())
    results = all_findings(facts, plan)
    assert judge(results) is Verdict.ALIGNED
    assert [finding.code for finding in results] == ["driver-hidden-from-agents", "second-kubepods-tree"]


def test_an_unknown_runtime() -> None:
    isulad = {"endpoint": "unix:///var/run/isulad.sock", "name": "iSulad", "version": "2.1"}
    refusals = refused(put(captured(ALIGNED), isulad, "runtime", "cri"))
    assert refusals == {"runtime-unsupported": "kubelet uses isulad at unix:///var/run/isulad.sock"}


def test_a_silent_crio_is_not_called_a_silent_containerd() -> None:
    silent = {"endpoint": "unix:///var/run/crio/crio.sock", "error": "refused"}
    assert set(refused(put(crio(captured(ALIGNED)), silent, "runtime", "cri"))) == {"crio-not-answering"}


EXEC = '{"exec-opts": ["native.umask=normal", "native.cgroupdriver=cgroupfs"]}'


@pytest.mark.parametrize(
    ("text", "flags", "texts"),
    [
        ("{}", (), ("this file has no exec-opts", 'set "exec-opts": ["native.cgroupdriver=systemd"] in it')),
        (EXEC, (), (f"this file has {EXEC[1:-1]}", '["native.umask=normal", "native.cgroupdriver=systemd"]')),
        # moby#41725: in both places dockerd does not start.
        (
            "{}",
            ("--exec-opt", "native.cgroupdriver=cgroupfs"),
            ("--exec-opt native.cgroupdriver=cgroupfs", "--exec-opt native.cgroupdriver=systemd in docker.service's"),
        ),
        ("{}", ("--exec-opt=native.umask=normal",), ("not in daemon.json",)),
    ],
)
def test_docker_by_hand(text: str, flags: tuple[str, ...], texts: tuple[str, ...]) -> None:
    (refusal,) = make_plan(facts_of(docker(captured(ALIGNED), text, *flags)), desired(), allow_disruption=True).refusals
    assert (refusal.code, refusal.file) == ("runtime-unsupported", "/etc/docker/daemon.json")
    for word in (*texts, "restart docker"):
        assert word in str(refusal)


def test_docker_whose_file_is_not_json() -> None:
    node = docker(captured(ALIGNED), '{\n"exec-opts": [,\n')
    (refusal,) = make_plan(facts_of(node), desired(), allow_disruption=True).refusals
    assert (refusal.code, refusal.file, refusal.line) == ("config-unreadable", "/etc/docker/daemon.json", 2)


def test_docker_with_the_right_driver_is_not_changed_either() -> None:
    node = docker(captured(ALIGNED), '{"exec-opts": ["native.cgroupdriver=systemd"]}')
    refusal = refused(node)["runtime-unsupported"]
    assert "native.cgroupdriver is systemd" in refusal


def test_k3s_is_not_called_a_missing_kubelet() -> None:
    refusals = refused(k3s(captured(ALIGNED)))
    assert "kubelet-missing" not in refusals
    assert refusals["kubelet-inside-other-process"].startswith("k3s runs kubelet inside its own process")


def test_files_of_newer_schemas_are_read_and_not_edited() -> None:
    text = (
        "version = 3\n[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]\nSystemdCgroup = true\n"
    )
    assert "schema version is 3" in refused(runtime_text(captured(ALIGNED), text))["containerd-schema"]
