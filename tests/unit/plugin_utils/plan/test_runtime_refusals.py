# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that assess judges and provision refuses, each with the reason."""

from __future__ import annotations

from ansible_collections.volcano.colocation.plugins.plugin_utils.findings.model import Verdict
from ansible_collections.volcano.colocation.plugins.plugin_utils.findings.verdict import all_findings, judge
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.node import make_plan
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.findings.variants_runtime import (
    VARIANTS,
    crio,
    docker,
    k3s,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.nodes import (
    ALIGNED,
    Snapshot,
    captured,
    facts_of,
    put,
    runtime_text,
    wanted,
)


def refused(snapshot: Snapshot) -> dict[str, str]:
    plan = make_plan(facts_of(snapshot), wanted(), allow_disruption=True)
    assert not plan.changes
    return {each.code: each.message for each in plan.refusals}


def test_crio_is_not_called_a_missing_containerd() -> None:
    found = refused(crio(captured(ALIGNED)))
    assert found == {"runtime-unsupported": "kubelet uses cri-o at unix:///var/run/crio/crio.sock"}


def test_a_crio_node_is_judged_by_its_drivers_and_not_by_what_we_can_change() -> None:
    facts = facts_of(crio(captured(ALIGNED)))
    found = all_findings(facts, make_plan(facts, wanted(), allow_disruption=True))
    assert judge(found) is Verdict.ALIGNED
    assert [each.code for each in found] == ["driver-hidden-from-agents", "second-tree", "cannot-be-aligned"]


def test_a_silent_crio_is_not_called_a_silent_containerd() -> None:
    silent = {"endpoint": "unix:///var/run/crio/crio.sock", "error": "refused"}
    assert set(refused(put(crio(captured(ALIGNED)), silent, "runtime", "cri"))) == {"runtime-unsupported"}


def test_docker() -> None:
    assert "kubelet uses docker" in refused(docker(captured(ALIGNED), "{}"))["runtime-unsupported"]


def test_k3s_is_not_called_a_missing_kubelet() -> None:
    found = refused(k3s(captured(ALIGNED)))
    assert "kubelet-missing" not in found
    assert found["kubelet-inside"].startswith("k3s runs kubelet inside its own process")


def test_a_file_that_is_made_anew_is_not_edited() -> None:
    found = refused(VARIANTS["config-regenerated"][1](captured(ALIGNED)))
    assert found == {"config-regenerated": "rke2 makes this file anew at each start"}


def test_files_of_newer_schemas_are_read_and_not_edited() -> None:
    text = (
        "version = 3\n[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]\nSystemdCgroup = true\n"
    )
    assert "schema version is 3" in refused(runtime_text(captured(ALIGNED), text))["containerd-schema"]
