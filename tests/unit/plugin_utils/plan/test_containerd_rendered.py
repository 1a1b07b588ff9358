# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""containerd of k3s and RKE2: settings go to a drop-in or the template, and take effect when it is rendered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.assessment.node_plan import make_plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.containerd_text import BASE
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.readers import read_toml
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.interpreter import interpret
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.node_state import NodeFacts
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.change_set import Plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.draft import PlanDraft, runtime_changes
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.file_edits import FileEdit, file_edits
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.transaction_document import (
    services,
    transaction_document,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.report.redact import redact_snapshot
from ansible_collections.volcano.colocation.plugins.plugin_utils.restore.node_preview import preview_facts
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.catalogue import refusals
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.supported_runtimes import RUNTIME_REFUSALS
from ansible_collections.volcano.colocation.tests.support.hosts.host_layouts import Node, profile

K3S = "/var/lib/rancher/k3s/agent/etc/containerd"
RKE2 = "/var/lib/rancher/rke2/agent/etc/containerd"
DROP_IN = f"{K3S}/config-v3.toml.d/zz-volcano-colocation.toml"
OFF: dict[str, Any] = {"nri": {"enabled": False}}
ON: dict[str, Any] = {"nri": {"enabled": True}}
BOTH: dict[str, Any] = {"cgroup_driver": "systemd", **OFF}
NO_PODS: dict[str, Any] = {"containers": {}, "runtime": {"cri": {"sandboxes": [], "containers": []}}}
TEMPLATE_2 = f"{RKE2}/config.toml.tmpl"
TEMPLATE_3 = f"{K3S}/config-v3.toml.tmpl"
NRI_TABLE = '[plugins."io.containerd.nri.v1.nri"]\n'


def without_pods(directory: Path, host: str, **changed: Any) -> Node:
    node = Node(directory, host, live=NO_PODS)
    node.changed(**changed)
    return node


def planned(node: Node, options: dict[str, Any]) -> tuple[NodeFacts, tuple[FileEdit, ...], list[str]]:
    """The facts, the edits of the runtime's plan, and its refusals."""
    snapshot, desired_profile = node.snapshot, profile(options)
    facts = interpret(snapshot)
    refused = [str(refusal) for refusal in refusals(PlanDraft(facts, desired_profile), RUNTIME_REFUSALS)]
    return facts, () if refused else file_edits(snapshot, runtime_changes(facts, desired_profile)), refused


def render(node: Node, path: str, template: str, base: str) -> None:
    """The rendering of a template by k3s at its next start: text/template, for the only action of these templates."""
    node.changed(files={path: template.replace(BASE.rstrip("\n"), base)})


def base_of(node: Node, path: str, template: str | None) -> str:
    """The text that the action of the template renders to on this host."""
    text = node.file(path)
    behind = (template or BASE)[len(BASE) - 1 :] if template else ""
    assert text.endswith(behind)
    return text[: len(text) - len(behind)]


def test_a_drop_in_where_the_rendered_file_imports_its_directory(tmp_path: Path) -> None:
    node = without_pods(tmp_path, "k3s-1.35-imports")
    _facts, (edit,), refused = planned(node, BOTH)
    assert refused == []
    assert (edit.path, edit.before, edit.section) == (DROP_IN, None, "runtime")
    assert read_toml(edit.after) == {
        "version": 3,
        "plugins": {
            "io.containerd.cri.v1.runtime": {
                "containerd": {"runtimes": {"crun": {"options": {"SystemdCgroup": True}}}}
            },
            "io.containerd.nri.v1.nri": {"disable": True},
        },
    }
    node.changed(files={DROP_IN: edit.after, "/proc/net/unix": ""})
    facts, edits, refused = planned(node, BOTH)
    assert (edits, refused) == ((), [])
    assert facts.runtime.nri.configured is False
    assert facts.driver.runtime is not None


def test_the_program_of_k3s_reads_the_planned_files(tmp_path: Path) -> None:
    node = without_pods(tmp_path, "k3s-1.35-imports")
    snapshot, desired_profile = node.snapshot, profile(OFF)
    facts = interpret(snapshot)
    plan = Plan(changes=runtime_changes(facts, desired_profile))
    document = transaction_document(facts, plan, desired_profile, file_edits(snapshot, plan.changes), 300)
    unit = {"unit": "k3s.service", "action": "restart"}
    assert document["services"] == {"kubelet": unit, "runtime": unit}
    (asked,) = document["validate"]
    assert asked["argv"] == ["/var/lib/rancher/k3s/data/current/bin/containerd", "--config", "{file}", "config", "dump"]
    assert asked["file"] == f"{K3S}/config.toml"
    main, *other = asked["candidates"]
    assert [file["path"] for file in other] == [DROP_IN]
    assert read_toml(main["text"])["imports"][-1].endswith("-zz-volcano-colocation.toml")
    assert asked["expect"] == [
        {"table": ["plugins", "io.containerd.nri.v1.nri"], "key": "disable", "value": "true"},
    ]


def test_a_change_of_kubelet_alone_only_locates_the_runtime(tmp_path: Path) -> None:
    node = without_pods(tmp_path, "k3s-1.35-imports")
    facts, desired_profile = node.facts, profile({"pod_pids_limit": 4096})
    plan = make_plan(facts, desired_profile, allow_disruption=None)
    assert [change.setting for change in plan.changes] == ["podPidsLimit"]
    assert services(facts, plan) == {
        "kubelet": {"unit": "k3s.service", "action": "restart"},
        "runtime": {"unit": "k3s.service", "action": "leave"},
    }


def test_a_template_that_extends_the_base_where_there_is_none(tmp_path: Path) -> None:
    node = without_pods(tmp_path, "k3s-1.32-drop-ins")
    _facts, (edit,), refused = planned(node, OFF)
    assert refused == []
    assert (edit.path, edit.before, edit.section) == (TEMPLATE_3, None, "runtime")
    assert edit.after == f"{BASE}\n{NRI_TABLE}disable = true\n"


def test_containerd_validates_the_rendering_of_the_template(tmp_path: Path) -> None:
    node = without_pods(tmp_path, "k3s-1.32-drop-ins")
    snapshot, desired_profile = node.snapshot, profile(OFF)
    facts = interpret(snapshot)
    plan = make_plan(facts, desired_profile, allow_disruption=None)
    assert plan.refusals == ()
    edits = file_edits(snapshot, plan.changes)
    (asked,) = transaction_document(facts, plan, desired_profile, edits, 300)["validate"]
    (main,) = asked["candidates"]
    path = f"{K3S}/config.toml"
    render(node, path, edits[0].after, base_of(node, path, None))
    rendered = read_toml(main["text"])
    assert {key: value for key, value in rendered.items() if key != "imports"} == read_toml(node.file(path))


def test_a_rendered_template_leaves_nothing_to_do(tmp_path: Path) -> None:
    node = without_pods(tmp_path, "k3s-1.32-drop-ins")
    _facts, (edit,), _refused = planned(node, OFF)
    path = f"{K3S}/config.toml"
    render(node, path, edit.after, base_of(node, path, None))
    node.changed(files={TEMPLATE_3: edit.after, "/proc/net/unix": ""})
    facts, edits, refused = planned(node, OFF)
    assert (edits, refused) == ((), [])
    assert runtime_changes(facts, profile(OFF)) == ()
    # And back again, in the existing table.
    _facts, (edit,), refused = planned(node, ON)
    assert refused == []
    assert edit.after == f"{BASE}\n{NRI_TABLE}disable = false\n"


def test_a_template_that_waits_for_its_rendering_only_needs_the_restart(tmp_path: Path) -> None:
    node = without_pods(tmp_path, "k3s-1.32-drop-ins", processes={"k3s-server": {"before_files": True}})
    _facts, (edit,), _refused = planned(node, OFF)
    node.changed(files={TEMPLATE_3: edit.after, "/proc/uptime": "5000.00 0.00\n"})
    facts, edits, refused = planned(node, OFF)
    assert (edits, refused) == ((), [])
    (change,) = runtime_changes(facts, profile(OFF))
    assert change.path is None
    assert "config-v3.toml.tmpl says" in str(change)
    assert {impact.value for impact in change.needs} == {"restart runtime"}
    more = {"nri": {"enabled": False, "socket_path": "/run/other.sock"}}
    _facts, _edits, (message,) = planned(node, more)
    assert "changed after k3s last rendered it" in message


def test_tables_behind_a_foreign_template_are_edited(tmp_path: Path) -> None:
    node = without_pods(tmp_path, "rke2-1.30-template")
    before = node.file(TEMPLATE_2)
    base = base_of(node, f"{RKE2}/config.toml", before)
    _facts, (edit,), refused = planned(node, {"cgroup_driver": "systemd", **ON})
    assert refused == []
    added = "  SystemdCgroup = true\n" + NRI_TABLE + "  disable = false\n"
    assert edit.after == before + added
    node.changed(files={TEMPLATE_2: edit.after})
    render(node, f"{RKE2}/config.toml", edit.after, base)
    assert planned(node, {"cgroup_driver": "systemd", **ON})[1:] == ((), [])


def test_restoring_the_template_is_predicted_in_the_rendering(tmp_path: Path) -> None:
    """Otherwise the gate would wait for the NRI socket of a deleted file."""
    node = without_pods(tmp_path, "rke2-1.30-template")
    before = node.file(TEMPLATE_2)
    base = base_of(node, f"{RKE2}/config.toml", before)
    _facts, (edit,), _refused = planned(node, ON)
    node.changed(files={TEMPLATE_2: edit.after})
    render(node, f"{RKE2}/config.toml", edit.after, base)
    snapshot = node.snapshot
    assert interpret(snapshot).runtime.nri.configured is True
    assert preview_facts(snapshot, {TEMPLATE_2: before}).runtime.nri.configured is False
    assert preview_facts(snapshot, {"/etc/other": None}).runtime.nri.configured is True


@pytest.mark.parametrize(
    ("host", "files", "options", "words"),
    [
        ("k3s-1.32-drop-ins", {TEMPLATE_3: '{{- template "base" . -}}\n'}, OFF, "removes the line end behind it"),
        ("k3s-1.32-drop-ins", {TEMPLATE_3: f"{BASE}[a]\nb = 1\n"}, OFF, "is not what"),
        ("k3s-1.32-drop-ins", {TEMPLATE_3: f"{BASE}x = [\n  [1],\n]\n"}, OFF, "config-v3.toml.tmpl: "),
        ("k3s-1.35-imports", {}, {"cgroup_driver": "cgroupfs"}, "k3s chooses the driver itself"),
        ("rke2-1.30-template", {}, {"cgroup_driver": "cgroupfs"}, "rke2 chooses the driver itself"),
    ],
)
def test_refused(host: str, files: dict[str, str], options: dict[str, Any], words: str, tmp_path: Path) -> None:
    node = without_pods(tmp_path, host, files=files)
    _facts, _edits, refused = planned(node, options)
    assert refused
    assert words in refused[0]


def test_a_handler_that_the_base_declares_is_refused_without_an_import(tmp_path: Path) -> None:
    path = f"{K3S}/config.toml"
    table = "[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.'nvidia'"
    more = f'\n{table}]\n  runtime_type = "io.containerd.runc.v2"\n{table}.options]\n  BinaryName = "/usr/bin/nv"\n'
    node = without_pods(tmp_path, "k3s-1.32-drop-ins")
    node.changed(files={path: node.file(path) + more})
    _facts, _edits, (message,) = planned(node, {"cgroup_driver": "systemd"})
    assert "the table of nvidia is before the tables that can be edited, and TOML allows a table only once" in message
    assert "Upgrade k3s to a release that imports a directory of drop-ins" in message


def test_nri_that_actions_of_a_template_write_is_left_to_them(tmp_path: Path) -> None:
    path = f"{K3S}/config.toml"
    node = without_pods(tmp_path, "k3s-1.32-drop-ins")
    table = f"{NRI_TABLE}  disable = {{{{ .Off }}}}\n"
    text = node.file(path)
    node.changed(files={TEMPLATE_3: f"{BASE}{table}", path: f"{text}\n{NRI_TABLE}  disable = false\n"})
    _facts, _edits, (message,) = planned(node, OFF)
    assert "the table of io.containerd.nri.v1.nri is before" in message


@pytest.mark.parametrize(
    ("version", "known"),
    [("v1.7.6-k3s1.27", True), ("v1.7.23-k3s2", True), ("v1.7.3-k3s1", False), ("v1.7.23", False)],
)
def test_the_base_template_is_known_by_the_containerd_that_came_with_it(
    version: str, known: bool, tmp_path: Path
) -> None:
    node = without_pods(tmp_path, "rke2-1.30-template", files={TEMPLATE_2: None})
    node.changed(live={"runtime": {"cri": {"version": version}}})
    _facts, edits, refused = planned(node, ON)
    assert ([edit.path for edit in edits], len(refused)) == (([TEMPLATE_2], 0) if known else ([], 1))


def test_registry_secrets_of_a_template_are_not_shown(tmp_path: Path) -> None:
    auth = '[plugins."io.containerd.grpc.v1.cri".registry.configs."r.example".auth]\n  password = "hunter2-Zm9v"\n'
    node = without_pods(tmp_path, "k3s-1.32-drop-ins", files={TEMPLATE_3: f"{BASE}{auth}"})
    snapshot = node.snapshot
    assert snapshot["distribution"]["template_files"][TEMPLATE_3]["text"].endswith(auth)
    assert "hunter2" not in str(redact_snapshot(snapshot))
    assert "hunter2" not in repr(interpret(snapshot).layout)


def test_a_link_instead_of_the_template_stays(tmp_path: Path) -> None:
    node = without_pods(tmp_path, "k3s-1.32-drop-ins", files={"/nix/store/template": BASE}, links={TEMPLATE_3: "/nix"})
    _facts, _edits, refused = planned(node, OFF)
    assert "is a symbolic link" in refused[0]


def test_with_pods_only_what_needs_none_of_them_stopped(tmp_path: Path) -> None:
    node = Node(tmp_path, "k3s-1.35-imports")
    snapshot = node.snapshot
    facts = interpret(snapshot)
    assert facts.pods.sandboxes
    assert make_plan(facts, profile(OFF), allow_disruption=None).refusals == ()
    codes = [refusal.code for refusal in make_plan(facts, profile(BOTH), allow_disruption=True).refusals]
    assert codes == ["embedded-needs-empty-node"]
