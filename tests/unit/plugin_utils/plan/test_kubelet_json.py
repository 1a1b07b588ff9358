# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A kubelet whose file is JSON: the same facts and the same changes as in YAML, and the file stays JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.assessment.node_plan import make_plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.readers import read_yaml
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.interpreter import interpret
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.file_edits import file_edits
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    DESIRED,
    DIFFERING,
    KUBELET_FILE,
    NAMES,
    Snapshot,
    captured,
    kubelet_text,
    profile_of,
)
from ansible_collections.volcano.colocation.tests.support.tasks.in_process import run
from ansible_collections.volcano.colocation.tests.support.tasks.node_image import KUBELET, KUBELET_TEXT, grow

PROFILE: dict[str, Any] = {
    **DESIRED,
    "topology_manager_policy": "best-effort",
    "enforce_node_allocatable": ["pods"],
    "pod_pids_limit": 4096,
}
LAYOUTS: dict[str, Callable[[Any], str]] = {
    "one line": json.dumps,
    "one line without spaces": lambda values: json.dumps(values, separators=(",", ":")) + "\n",
    "several lines": lambda values: json.dumps(values, indent=2) + "\n",
    "several lines and CRLF": lambda values: json.dumps(values, indent="\t").replace("\n", "\r\n"),
    "a byte order mark": lambda values: "\ufeff" + json.dumps(values) + "\n",
}


def values_of(snapshot: Snapshot) -> dict[str, Any]:
    return read_yaml(snapshot["kubelet"]["files"][KUBELET_FILE]["text"])


def as_json(snapshot: Snapshot, layout: str) -> Snapshot:
    return kubelet_text(snapshot, LAYOUTS[layout](values_of(snapshot)))


def edited(snapshot: Snapshot, **options: Any) -> dict[str, str]:
    """The new texts of a node's files, by path."""
    plan = make_plan(interpret(snapshot), profile_of(**options), allow_disruption=True)
    assert plan.refusals == ()
    return {edit.path: edit.after for edit in file_edits(snapshot, plan.changes)}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", NAMES)
def test_facts_are_those_of_the_same_file_in_yaml(name: str, layout: str) -> None:
    yaml, text = captured(name), as_json(captured(name), layout)
    facts, expected = interpret(text), interpret(yaml)
    assert facts.claims == expected.claims
    assert facts.kubelet.settings == expected.kubelet.settings
    assert replace(facts.kubelet.config, text=None) == replace(expected.kubelet.config, text=None)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_plan_ends_with_json_that_has_the_values_of_the_yaml(layout: str) -> None:
    node = as_json(captured(DIFFERING), layout)
    after = edited(node, **PROFILE)[KUBELET_FILE]
    values = json.loads(after.removeprefix("\ufeff"))
    assert values == read_yaml(edited(captured(DIFFERING), **PROFILE)[KUBELET_FILE])
    assert values["cpuManagerPolicy"] == "static"
    assert values["systemReserved"]["cpu"] == "500m"
    assert (values["podPidsLimit"], values["enforceNodeAllocatable"]) == (4096, ["pods"])
    # Key order, spaces and line ends are those that the same program writes for the new values.
    mark = after[: len(after) - len(after.removeprefix("\ufeff"))]
    assert after == mark + LAYOUTS[layout](values).removeprefix("\ufeff")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_second_plan_writes_nothing(layout: str) -> None:
    node = as_json(captured(DIFFERING), layout)
    again = kubelet_text(node, edited(node, **PROFILE)[KUBELET_FILE])
    assert KUBELET_FILE not in edited(again, **PROFILE)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_check_mode_predicts_a_run_and_the_next_run_does_nothing(layout: str, tmp_path: Path) -> None:
    text = LAYOUTS[layout](read_yaml(KUBELET_TEXT))
    root = grow(tmp_path, {})
    (root / KUBELET).write_bytes(text.encode())
    options = {"root": str(root), "cgroup_driver": "systemd", "system_reserved": {"cpu": "500m"}}
    checked = run("kubelet_config", options, check=True)
    assert (root / KUBELET).read_bytes() == text.encode()
    done = run("kubelet_config", options)
    assert (checked["changed"], checked["diff"]) == (True, done["diff"])
    document = json.loads((root / KUBELET).read_bytes().decode("utf-8-sig"))
    assert document == {
        **read_yaml(KUBELET_TEXT),
        "cgroupDriver": "systemd",
        "systemReserved": {"cpu": "500m"},
    }
    assert "hunter2" not in json.dumps([checked, done])
    assert run("kubelet_config", options)["changed"] is False


def test_a_field_of_another_type_is_named_by_its_line() -> None:
    values = {**values_of(captured(DIFFERING)), "podPidsLimit": "many"}
    text = json.dumps(values, indent=1)
    plan = make_plan(interpret(kubelet_text(captured(DIFFERING), text)), profile_of(**DESIRED), allow_disruption=True)
    (refusal,) = [refusal for refusal in plan.refusals if refusal.code == "kubelet-field-type"]
    assert refusal.line == text[: text.index("podPidsLimit")].count("\n") + 1


def test_flow_style_is_refused_with_its_line_and_what_to_do() -> None:
    node = kubelet_text(captured(DIFFERING), "\n{apiVersion: kubelet.config.k8s.io/v1beta1, cgroupDriver: cgroupfs}\n")
    plan = make_plan(interpret(node), profile_of(**DESIRED), allow_disruption=True)
    (refusal,) = [refusal for refusal in plan.refusals if refusal.code == "config-unreadable"]
    assert (refusal.file, refusal.line, plan.changes) == (KUBELET_FILE, 2, ())
    assert "kubelet reads it as JSON" in refusal.message
    assert "Write keys in double quotes" in refusal.remedy
