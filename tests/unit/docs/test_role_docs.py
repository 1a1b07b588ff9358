# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role's variables: declared once, with the defaults they have, and each of them used."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils import arguments
from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.read import read_yaml

COLLECTION = Path(__file__).parents[3]
ROLE = COLLECTION / "roles" / "node"
# Those that need no other phase before them; the others work on what observe registered.
FIRST = ("main", "observe", "assess", "replay")


def document(path: Path) -> Any:
    return read_yaml(path.read_text(encoding="utf-8"))


SPECS: dict[str, dict[str, Any]] = document(ROLE / "meta" / "argument_specs.yml")["argument_specs"]
OPTIONS: dict[str, dict[str, Any]] = SPECS["main"]["options"]
DEFAULTS: dict[str, Any] = document(ROLE / "defaults" / "main.yml")
PROFILE: dict[str, Any] = document(ROLE / "vars" / "main.yml")["node_profile"]


def test_declared_defaults_are_the_defaults() -> None:
    assert {name: option["default"] for name, option in OPTIONS.items() if "default" in option} == DEFAULTS


def test_a_default_is_one_of_the_choices() -> None:
    for name, option in OPTIONS.items():
        if "choices" in option and "default" in option:
            defaults = option["default"] if option["type"] == "list" else [option["default"]]
            assert set(defaults) <= set(option["choices"]), name


def test_every_phase_that_may_come_first_declares_the_same_variables() -> None:
    assert set(SPECS) == set(FIRST)
    for entry in FIRST:
        assert SPECS[entry]["options"] == OPTIONS, entry


def used() -> set[str]:
    texts = [path.read_text(encoding="utf-8") for folder in ("tasks", "vars") for path in (ROLE / folder).glob("*.yml")]
    return set(re.findall(r"\bcolocation_\w+", "\n".join(texts)))


def test_every_declared_variable_is_used() -> None:
    assert set(OPTIONS) - used() == set()


def test_every_variable_that_is_used_is_declared() -> None:
    assert used() - set(OPTIONS) == set()


def test_the_profile_of_the_role_is_that_of_the_modules() -> None:
    assert set(PROFILE) == set(arguments.PROFILE)
    assert set(PROFILE["nri"]) == set(arguments.RUNTIME["nri"]["options"])


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
    assert set(OPTIONS[f"colocation_{name}"]["choices"]) == {*arguments.PROFILE[name]["choices"], ""}
