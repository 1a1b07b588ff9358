# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The roles' variables: declared once, with their defaults, and each of them is used."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.volcano.colocation.plugins.plugin_utils.agent import module_options as agent_arguments
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.readers import read_yaml
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile import argspec
from ansible_collections.volcano.colocation.tests.run import entry_points, role_docs

COLLECTION = Path(__file__).parents[3]
ROLES = COLLECTION / "roles"
# Entry points that need no other before them; the others work on what observe registered.
FIRST = {
    "agent": ("main", "verify"),
    "bundle": ("main", "build"),
    "node": ("main", "observe", "assess", "replay", "explain", "restore"),
    "qos": ("main", "reserve", "verify"),
    "rollout": ("main", "preflight"),
    "scheduler": ("main", "install", "preflight", "audit", "uninstall", "restore", "images", "remove_images"),
}
NAMES = tuple(FIRST)


def document(path: Path) -> Any:
    return read_yaml(path.read_text(encoding="utf-8"))


def specs(role: str) -> dict[str, dict[str, Any]]:
    entry_points: dict[str, dict[str, Any]] = document(ROLES / role / "meta" / "argument_specs.yml")["argument_specs"]
    return entry_points


def options(role: str) -> dict[str, dict[str, Any]]:
    declared_options: dict[str, dict[str, Any]] = specs(role)["main"]["options"]
    return declared_options


OPTIONS = options("node")


def test_every_role_is_checked_here() -> None:
    assert set(NAMES) == {path.name for path in ROLES.iterdir()}


@pytest.mark.parametrize("role", NAMES)
def test_declared_defaults_are_the_defaults(role: str) -> None:
    defaults = document(ROLES / role / "defaults" / "main.yml")
    assert {name: option["default"] for name, option in options(role).items() if "default" in option} == defaults


@pytest.mark.parametrize("role", NAMES)
def test_a_default_is_one_of_the_choices(role: str) -> None:
    for name, option in options(role).items():
        if "choices" in option and "default" in option:
            defaults = option["default"] if option["type"] == "list" else [option["default"]]
            assert set(defaults) <= set(option["choices"]), name


@pytest.mark.parametrize("role", NAMES)
def test_every_phase_that_may_come_first_is_an_entry_point(role: str) -> None:
    assert set(specs(role)) == set(FIRST[role]) == {"main", *entry_points.PHASES[role]}


@pytest.mark.parametrize("role", NAMES)
def test_the_variables_of_entry_points_are_current(role: str) -> None:
    """`make docs` writes them."""
    assert entry_points.update(role) == entry_points.specification(role).read_text(encoding="utf-8")


@pytest.mark.parametrize(("role", "entry"), [(role, entry) for role in NAMES for entry in entry_points.PHASES[role]])
def test_an_entry_point_checks_the_variables_that_it_uses(role: str, entry: str) -> None:
    """With the same types, choices and defaults as main, also of entries of dictionaries."""
    entry_options = specs(role)[entry]["options"]
    assert set(entry_options) == entry_points.used_variables(role, entry)
    assert declared(entry_options) == declared({name: options(role)[name] for name in entry_options})


@pytest.mark.parametrize("entry", ["observe", "assess", "replay"])
@pytest.mark.parametrize(
    ("name", "value"), [("colocation_cgroup_driver", "systemctl"), ("colocation_pod_pids_limit", "many")]
)
def test_an_entry_point_refuses_a_wrong_value(entry: str, name: str, value: str) -> None:
    specification = {
        option_name: {key: field for key, field in option.items() if key != "description"}
        for option_name, option in specs("node")[entry]["options"].items()
    }
    assert ArgumentSpecValidator(specification).validate({}).error_messages == []
    (message,) = ArgumentSpecValidator(specification).validate({name: value}).error_messages
    assert name in message
    assert value in message


@pytest.mark.parametrize("role", NAMES)
def test_the_variables_that_are_used_are_those_that_are_declared(role: str) -> None:
    files = [path for directory in ("tasks", "vars") for path in (ROLES / role / directory).glob("*.yml")]
    texts = [path.read_text(encoding="utf-8") for path in files]
    # A command in a message is not a use.
    assert set(re.findall(r"(?<!-e )\bcolocation_\w+", "\n".join(texts))) == set(options(role))


@pytest.mark.parametrize("role", [name for name in NAMES if name != "node"])
def test_a_variable_of_two_roles_has_one_default(role: str) -> None:
    role_options = options(role)
    for name in OPTIONS.keys() & role_options.keys():
        one, other = OPTIONS[name], role_options[name]
        assert (one["type"], one.get("default")) == (other["type"], other.get("default"))


def declared(spec: Mapping[str, Any]) -> dict[str, Any]:
    """An argument specification without descriptions."""
    return {
        name: {
            **{key: option.get(key) for key in ("type", "elements", "choices", "default", "required")},
            "options": declared(option.get("options") or {}),
        }
        for name, option in spec.items()
    }


def test_the_qos_profile_of_the_role_is_that_of_the_module() -> None:
    assert declared(options("qos")["colocation_qos"]["options"]) == declared(argspec.QOS_PROFILE)


@pytest.mark.parametrize(
    ("variable", "option"),
    [
        ("colocation_scheduler_usage", "usage"),
        ("colocation_scheduler_binpack", "binpack"),
        ("colocation_scheduler_metrics", "metrics"),
        ("colocation_scheduler_watermarks", "watermarks"),
        ("colocation_priority_classes", "priority_classes"),
        ("colocation_queues", "queues"),
        ("colocation_admission", "admission"),
    ],
)
def test_options_of_the_role_scheduler_are_those_of_its_module(variable: str, option: str) -> None:
    module_options = argspec.SCHEDULER_CONFIG[option]["options"]
    assert declared(options("scheduler")[variable]["options"]) == declared(module_options)


AGENT: dict[str, Any] = document(ROLES / "agent" / "vars" / "main.yml")["agent_options"]


def test_the_options_of_the_agents_role_are_those_of_its_module() -> None:
    assert set(AGENT) == set(agent_arguments.AGENT_DEPLOY) - {"step", "recheck_seconds"}


# image_ids come from the archive.
OTHER_OPTIONS = {"kubeconfig", "nodes", "label_nodes", "version", "image_ids", "cni_config"}


@pytest.mark.parametrize("name", sorted(set(AGENT) - OTHER_OPTIONS))
def test_an_option_of_the_agents_role_is_as_the_module_has_it(name: str) -> None:
    role, module = options("agent")[f"colocation_agent_{name}"], agent_arguments.AGENT_DEPLOY[name]
    for key in ("type", "elements", "choices"):
        assert role.get(key) == module.get(key), key
    assert role["default"] == module.get("default", {})
    assert set(role.get("options") or {}) == set(module.get("options") or {})


PROFILE: dict[str, Any] = document(ROLES / "node" / "vars" / "main.yml")["node_profile"]


def test_the_profile_of_the_role_is_that_of_the_modules() -> None:
    assert set(PROFILE) == set(argspec.PROFILE)
    assert set(PROFILE["nri"]) == set(argspec.RUNTIME["nri"]["options"])


@pytest.mark.parametrize(
    "name",
    [
        "cgroup_driver",
        "cpu_manager_policy",
        "topology_manager_policy",
        "topology_manager_scope",
        "memory_manager_policy",
    ],
)
def test_the_role_offers_what_the_modules_take_and_to_leave_it(name: str) -> None:
    assert set(OPTIONS[f"colocation_{name}"]["choices"]) == {*argspec.PROFILE[name]["choices"], ""}


@pytest.mark.parametrize("name", role_docs.role_names())
def test_the_readme_of_a_role_is_current(name: str) -> None:
    """`make docs` writes it; Ansible Galaxy refuses a role without one."""
    assert role_docs.readme_path(name).read_text(encoding="utf-8") == role_docs.render_readme(name)


def test_every_pool_of_an_agent_is_validated_alone() -> None:
    """ansible-core writes into a default of a nested option, which the next pool would get."""
    spec = specs("agent")["main"]["options"]["colocation_agent_pools"]
    validator = ArgumentSpecValidator({"colocation_agent_pools": spec})
    pools = [{"name": name, "nodes": [name]} for name in ("a", "b")]
    assert validator.validate({"colocation_agent_pools": pools}).error_messages == []
