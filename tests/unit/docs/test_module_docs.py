# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The documentation of a module matches the options that its code accepts."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.modules import (
    agent_host_info,
    agent_image,
    agent_pod_cgroups,
    agent_process_info,
    cgroup_qos,
    node_ledger,
    node_transaction,
    systemd_slice,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent import module_options as agent_arguments
from ansible_collections.volcano.colocation.plugins.plugin_utils.bundle import bundle_plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.drain import rollout_action as rollout_arguments
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.readers import read_yaml
from ansible_collections.volcano.colocation.plugins.plugin_utils.manifest.yaml_documents import MANIFEST_APPLY
from ansible_collections.volcano.colocation.plugins.plugin_utils.node.findings_page import EXPLAIN_FINDING
from ansible_collections.volcano.colocation.plugins.plugin_utils.node.variable_check import VALIDATE_VARIABLES
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile import argspec

COLLECTION = Path(__file__).parents[3]
PACKAGE = "ansible_collections.volcano.colocation.plugins"
MODULES = tuple(sorted(path.stem for path in (COLLECTION / "plugins" / "modules").glob("*.py")))
ACTIONS = tuple(sorted(path.stem for path in (COLLECTION / "plugins" / "action").glob("*.py")))

SPECS: dict[str, Mapping[str, Any]] = {
    "agent_archive_info": agent_arguments.AGENT_ARCHIVE_INFO,
    "agent_deploy": agent_arguments.AGENT_DEPLOY,
    "agent_image": agent_arguments.AGENT_IMAGE,
    "agent_pod_cgroups": agent_pod_cgroups.ARGUMENTS,
    "agent_process_info": agent_process_info.ARGUMENTS,
    "agent_host_info": agent_host_info.ARGUMENTS,
    "agent_smoke_test": agent_arguments.AGENT_SMOKE_TEST,
    "agent_verify": agent_arguments.AGENT_VERIFY,
    "bundle_build": bundle_plan.BUNDLE_BUILD,
    "bundle_info": bundle_plan.BUNDLE_INFO,
    "cgroup_qos": cgroup_qos.ARGUMENTS,
    "containerd_config": argspec.CONTAINERD_CONFIG,
    "crio_config": argspec.CRIO_CONFIG,
    "agent_sysctls": argspec.AGENT_SYSCTLS,
    "validate_variables": VALIDATE_VARIABLES,
    "explain_finding": EXPLAIN_FINDING,
    "kubeadm_config": argspec.KUBEADM_CONFIG,
    "kubelet_config": argspec.KUBELET_CONFIG,
    "manifest_apply": MANIFEST_APPLY,
    "node_align": argspec.NODE_ALIGN,
    "node_drain": rollout_arguments.NODE_DRAIN,
    "node_facts": argspec.NODE_FACTS,
    "node_ledger": node_ledger.ARGUMENTS,
    "node_replay": argspec.NODE_REPLAY,
    "node_report": argspec.NODE_REPORT,
    "node_restore": argspec.NODE_RESTORE,
    "node_snapshot": argspec.NODE_SNAPSHOT,
    "node_table": argspec.NODE_TABLE,
    "node_transaction": node_transaction.ARGUMENTS,
    "qos_audit_info": argspec.QOS_AUDIT_INFO,
    "qos_plan": argspec.QOS_PLAN,
    "rollout_preview": rollout_arguments.ROLLOUT_PREVIEW,
    "rollout_table": rollout_arguments.ROLLOUT_TABLE,
    "rubik_config": agent_arguments.RUBIK_CONFIG,
    "scheduler_config": argspec.SCHEDULER_CONFIG,
    "scheduler_usage_info": argspec.SCHEDULER_USAGE_INFO,
    "systemd_slice": systemd_slice.ARGUMENTS,
}


def texts(module: str) -> Any:
    return importlib.import_module(f"{PACKAGE}.modules.{module}")


def fragment(name: str) -> dict[str, Any]:
    """The part of a documentation fragment that volcano.colocation.FILE.PART names."""
    file, _dot, part = name.removeprefix("volcano.colocation.").partition(".")
    holder = importlib.import_module(f"{PACKAGE}.doc_fragments.{file}").ModuleDocFragment
    content: dict[str, Any] = read_yaml(getattr(holder, part.upper() or "DOCUMENTATION"))
    return content


def documentation(module: str) -> dict[str, Any]:
    """DOCUMENTATION with its fragments below it, as ansible-doc merges them."""
    own: dict[str, Any] = read_yaml(texts(module).DOCUMENTATION)
    for section in ("options", "attributes"):
        merged: dict[str, Any] = {}
        for name in own.get("extends_documentation_fragment", []):
            merged.update(fragment(name).get(section) or {})
        for name, value in (own.get(section) or {}).items():
            merged[name] = {**merged.get(name, {}), **value}
        own[section] = merged
    return own


def promised(options: Mapping[str, Any]) -> dict[str, Any]:
    """Documented options in the form of an argument specification."""
    return {
        name: {
            "type": option.get("type", "str"),
            "required": option.get("required", False),
            "default": option.get("default"),
            "choices": option.get("choices"),
            "aliases": option.get("aliases", []),
            "options": promised(option.get("suboptions") or {}),
        }
        for name, option in options.items()
    }


def accepted(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: {
            "type": option.get("type", "str"),
            "required": option.get("required", False),
            "default": option.get("default"),
            "choices": option.get("choices"),
            "aliases": option.get("aliases", []),
            "options": accepted(option.get("options") or {}),
        }
        for name, option in spec.items()
    }


def test_every_module_has_its_specification_here() -> None:
    assert set(SPECS) == set(MODULES)


def test_every_action_plugin_has_a_documented_module() -> None:
    assert set(ACTIONS) <= set(MODULES)


@pytest.mark.parametrize("module", MODULES)
def test_documented_options_are_the_options_taken(module: str) -> None:
    assert promised(documentation(module)["options"]) == accepted(SPECS[module])


@pytest.mark.parametrize("module", ACTIONS)
def test_an_action_plugin_checks_its_documented_options(module: str) -> None:
    assert SPECS[module] == importlib.import_module(f"{PACKAGE}.action.{module}").ActionModule.ARGUMENTS


def test_a_module_that_runs_on_both_sides_takes_the_same_on_both() -> None:
    assert agent_image.ARGUMENTS == agent_arguments.AGENT_IMAGE


@pytest.mark.parametrize("module", MODULES)
def test_every_option_is_described(module: str) -> None:
    for name, option in documentation(module)["options"].items():
        assert option["description"], name


@pytest.mark.parametrize("module", MODULES)
def test_modes_and_action_plugins_are_declared(module: str) -> None:
    attributes = documentation(module)["attributes"]
    assert {"check_mode", "diff_mode"} <= set(attributes)
    assert ("action" in attributes) is (module in ACTIONS)
    assert (attributes.get("async", {}).get("support") == "none") is (module in ACTIONS)


def test_the_action_group_holds_the_modules_that_say_so() -> None:
    runtime = read_yaml((COLLECTION / "meta" / "runtime.yml").read_text(encoding="utf-8"))
    declared = {module for module in MODULES if "action_group" in documentation(module)["attributes"]}
    assert set(runtime["action_groups"]["node"]) == declared


@pytest.mark.parametrize("module", MODULES)
def test_examples_are_tasks(module: str) -> None:
    # The collection's own reader, because it refuses duplicate keys.
    for task in read_yaml("tasks:\n" + texts(module).EXAMPLES)["tasks"]:
        assert task["name"][0].isupper()
        (action,) = (key for key in task if key.count(".") == 2)
        collection, name = action.rsplit(".", 1)
        if collection == "volcano.colocation":
            assert set(task[action] or {}) <= set(SPECS[name])


@pytest.mark.parametrize("module", MODULES)
def test_an_example_uses_the_module_itself(module: str) -> None:
    assert f"volcano.colocation.{module}:" in texts(module).EXAMPLES


@pytest.mark.parametrize("module", MODULES)
def test_an_internal_module_says_so_in_its_first_line(module: str) -> None:
    text = documentation(module)
    described = any("Internal to" in paragraph for paragraph in text["description"])
    assert text["short_description"].endswith("(internal)") is described


@pytest.mark.parametrize("module", MODULES)
def test_return_values_are_described(module: str) -> None:
    for name, value in read_yaml(texts(module).RETURN).items():
        assert value["description"], name
        assert value["type"], name
