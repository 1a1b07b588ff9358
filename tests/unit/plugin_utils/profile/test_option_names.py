# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A message names the variable if a role called the module, else the option. The roles' tasks have the pairs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.module_options import (
    AGENT_ARCHIVE_INFO,
    AGENT_DEPLOY,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.bundle.bundle_plan import BUNDLE_BUILD, BUNDLE_INFO
from ansible_collections.volcano.colocation.plugins.plugin_utils.manifest.yaml_documents import MANIFEST_APPLY
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile import argspec
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.option_names import option_names, variable_of
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.variable_names import VARIABLES

ROLES = Path(__file__).parents[4] / "roles"
SPECS: Mapping[str, argspec.Spec] = {
    "agent_archive_info": AGENT_ARCHIVE_INFO,
    "agent_deploy": AGENT_DEPLOY,
    "bundle_build": BUNDLE_BUILD,
    "bundle_info": BUNDLE_INFO,
    "kubeadm_config": argspec.KUBEADM_CONFIG,
    "manifest_apply": MANIFEST_APPLY,
    "node_align": argspec.NODE_ALIGN,
    "node_facts": argspec.NODE_FACTS,
    "node_replay": argspec.NODE_REPLAY,
    "node_report": argspec.NODE_REPORT,
    "node_restore": argspec.NODE_RESTORE,
    "qos_audit_info": argspec.QOS_AUDIT_INFO,
    "qos_plan": argspec.QOS_PLAN,
    "scheduler_config": argspec.SCHEDULER_CONFIG,
    "scheduler_usage_info": argspec.SCHEDULER_USAGE_INFO,
}
ONE_VARIABLE = re.compile(r"\{\{ (colocation_\w+)(?: \| default\((?:omit|'\w+')(?:, true)?\))* \}\}")
"""An argument that is one variable."""


def arguments(role: str) -> Iterator[tuple[str, str, str]]:
    """(module, option, variable) of each argument in a role's tasks that is one variable."""
    for path in sorted((ROLES / role / "tasks").glob("*.yml")):
        for task in yaml.safe_load(path.read_text(encoding="utf-8")) or ():
            for action, options in task.items():
                module = action.removeprefix("volcano.colocation.")
                if module in SPECS and isinstance(options, dict):
                    yield from ((module, *pair) for pair in variables_in(options))
    variables = (
        yaml.safe_load((ROLES / role / "vars" / "main.yml").read_text()) if (ROLES / role / "vars").is_dir() else {}
    )
    for name, module in (("node_profile", "node_align"), ("agent_options", "agent_deploy")):
        yield from ((module, *pair) for pair in variables_in((variables or {}).get(name, {})))


def variables_in(options: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    for option, value in options.items():
        if isinstance(value, dict):
            yield from variables_in(value, f"{above}{option}.")
        match = ONE_VARIABLE.fullmatch(str(value))
        if match:
            yield above + option, match[1]


PAIRS = sorted({pair for role in ("node", "agent", "bundle", "scheduler", "qos") for pair in arguments(role)})


def test_the_roles_pass_variables() -> None:
    assert len(PAIRS) > 80


@pytest.mark.parametrize(("module", "option", "variable"), PAIRS)
def test_an_option_has_the_variable_that_the_role_passes(module: str, option: str, variable: str) -> None:
    if variable.startswith("colocation_prometheus_"):
        # The second manifest: the options of the module have the names for Volcano's.
        variable = variable.replace("_prometheus_", "_volcano_")
    assert option_names(module, SPECS[module]).variable(option) == variable


@pytest.mark.parametrize(
    ("option", "variable"),
    [
        ("system_reserved.cpu", "colocation_system_reserved.cpu"),
        ("reserved_memory[0].limits.memory", "colocation_reserved_memory[0].limits.memory"),
        ("nri.socket_path", "colocation_nri_socket_path"),
        ("nri", "colocation_nri_enabled"),
        ("colocation_agent_pools", "colocation_agent_pools"),
    ],
)
def test_a_place_within_a_value_follows_the_variable(option: str, variable: str) -> None:
    assert variable_of(option) == variable
    assert variable.split(".")[0].split("[")[0] in VARIABLES


def test_an_option_that_no_role_sets_stays() -> None:
    names = option_names("kubelet_config", argspec.KUBELET_CONFIG)
    assert names.variable("root") == "root"
    assert names.variable("system_reserved_cgroup") == "colocation_system_reserved_cgroup"


def test_a_result_for_a_user_of_the_module_has_options() -> None:
    names = option_names("node_align", argspec.NODE_ALIGN)
    result = {
        "msg": "Set colocation_nri_unsupported to skip, or colocation_kubeconfig; zz-volcano-colocation.conf stays.",
        "plan": [{"remedy": "Remove colocation_feature_gates.A"}, None, 5],
    }
    assert names.with_options(result) == {
        "msg": "Set nri.unsupported to skip, or colocation_kubeconfig; zz-volcano-colocation.conf stays.",
        "plan": [{"remedy": "Remove feature_gates.A"}, None, 5],
    }
