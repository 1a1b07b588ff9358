# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about runtimes, NRI and the layout, each on its variant of a real node."""

from __future__ import annotations

from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.catalogue import findings
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.rule_types import Finding
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.supported_runtimes import DEFECTS
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    RUNTIME_FILE,
    Snapshot,
    captured,
    facts_of,
    put,
    runtime_edit,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_runtime import VARIANTS, crio, k3s


def findings_by_code(snapshot: Snapshot) -> dict[str, Finding]:
    return {finding.code: finding for finding in findings(facts_of(snapshot))}


def test_every_defect_has_a_variant() -> None:
    assert set(DEFECTS) <= set(VARIANTS)


def test_a_disabled_cri_that_does_not_answer_is_misaligned_now() -> None:
    off = 'version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n'
    node = runtime_edit(captured(ALIGNED), "version = 2\n", off)
    node = put(node, {"endpoint": "unix:///run/containerd/containerd.sock", "error": "UNIMPLEMENTED"}, "runtime", "cri")
    assert findings_by_code(node)["cri-disabled"].effect.value == "misaligned"


def test_nri_that_only_a_changed_file_switches_on_takes_nothing_from_anybody() -> None:
    off = put(captured(ALIGNED), {}, "runtime", "nri_sockets")
    assert "runtime-restart-changes-nri" not in findings_by_code(off), "the file is older than containerd"
    changed = put(off, 4e9, "runtime", "files", RUNTIME_FILE, "ctime")
    assert findings_by_code(changed)["runtime-restart-changes-nri"].effect.value == "none"


def test_a_crio_node_is_judged_like_any_other() -> None:
    node = crio(captured(ALIGNED))
    assert set(findings_by_code(node)) == {"driver-hidden-from-agents", "second-kubepods-tree"}
    wrong = put(node, {"cgroup_driver": "cgroupfs"}, "runtime", "cri", "runtime_config")
    assert findings_by_code(wrong)["driver-mismatch"].summary == "kubelet uses systemd, cri-o uses cgroupfs."
    assert "runtime-restart-changes-driver" in findings_by_code(wrong)


def test_a_k3s_node_is_not_called_not_installed() -> None:
    assert "not-installed" not in findings_by_code(k3s(captured(ALIGNED)))
