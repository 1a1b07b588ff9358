# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What galaxy.yml and meta/ say agrees with the tree."""

from __future__ import annotations

from typing import Any

import yaml

from ansible_collections.volcano.colocation.tests.run.matrix import RELEASES
from ansible_collections.volcano.colocation.tests.unit.project.tree import CHECKOUT

PLUGINS = CHECKOUT / "plugins"
GROUP_FRAGMENT = "volcano.colocation.attributes.action_group"


def load(name: str) -> Any:
    return yaml.safe_load((CHECKOUT / name).read_text())


def stems(folder: str) -> set[str]:
    return {path.stem for path in (PLUGINS / folder).glob("*.py")}


def documents(module: str) -> bool:
    """Whether the documentation of a module says that it is in the action group."""
    return GROUP_FRAGMENT in (PLUGINS / "modules" / f"{module}.py").read_text()


def test_every_action_plugin_has_the_documentation_of_a_module() -> None:
    assert stems("action") <= stems("modules")


def test_the_action_group_holds_the_modules_that_say_so() -> None:
    assert load("meta/runtime.yml")["action_groups"]["node"] == sorted(filter(documents, stems("modules")))


def test_every_member_of_the_group_is_an_action_plugin() -> None:
    assert set(load("meta/runtime.yml")["action_groups"]["node"]) <= stems("action")


def test_the_execution_environment_gets_what_the_controller_needs() -> None:
    path = load("meta/execution-environment.yml")["dependencies"]["python"]
    assert (CHECKOUT / path).is_file()


def test_the_oldest_release_that_is_admitted_is_tested() -> None:
    assert load("meta/runtime.yml")["requires_ansible"] == f">={next(iter(RELEASES))}.0"


def test_nothing_else_is_installed_with_the_collection() -> None:
    """Another collection would make an offline installation fail."""
    assert load("galaxy.yml")["dependencies"] == {}


def test_ansible_lint_skips_one_rule_in_its_production_profile() -> None:
    settings = load(".ansible-lint")
    assert settings["profile"] == "production"
    assert settings["skip_list"] == ["var-naming[no-role-prefix]"]
    assert not settings.keys() & {"enable_list", "warn_list"}


def test_every_sanity_ignore_has_a_reason() -> None:
    files = (CHECKOUT / "tests" / "sanity").glob("ignore-*.txt")
    assert [line for path in files for line in path.read_text().splitlines() if " # " not in line] == []
