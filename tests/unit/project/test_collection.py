# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""galaxy.yml and meta/ agree with the tree."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from ansible_collections.volcano.colocation.tests.run.matrix import RELEASES
from ansible_collections.volcano.colocation.tests.support.checkout import CHECKOUT

PLUGINS = CHECKOUT / "plugins"
GROUP_FRAGMENT = "volcano.colocation.attributes.action_group"


def load(name: str) -> Any:
    return yaml.safe_load((CHECKOUT / name).read_text())


def stems(directory: str) -> set[str]:
    return {path.stem for path in (PLUGINS / directory).glob("*.py")}


def documents(module: str) -> bool:
    """Whether a module's documentation declares the action group."""
    return GROUP_FRAGMENT in (PLUGINS / "modules" / f"{module}.py").read_text()


def test_every_action_plugin_has_the_documentation_of_a_module() -> None:
    assert stems("action") <= stems("modules")


def test_the_action_group_holds_the_modules_that_say_so() -> None:
    assert load("meta/runtime.yml")["action_groups"]["node"] == sorted(filter(documents, stems("modules")))


def test_every_member_of_the_group_is_an_action_plugin() -> None:
    assert set(load("meta/runtime.yml")["action_groups"]["node"]) <= stems("action")


def test_the_execution_environment_gets_what_the_controller_needs() -> None:
    path = load("meta/execution-environment.yml")["dependencies"]["python"]
    listed = re.findall(r"^([A-Za-z0-9._-]+)>=", (CHECKOUT / path).read_text(encoding="utf-8"), re.MULTILINE)
    imported = {name for file in (CHECKOUT / "plugins").rglob("*.py") for name in third_party(file)}
    assert {DISTRIBUTIONS.get(name, name) for name in imported} - OF_ANSIBLE == set(listed)


DISTRIBUTIONS = {"yaml": "PyYAML", "ruamel": "ruamel.yaml", "urllib3": "kubernetes"}
"""Distributions of modules with another name. The library kubernetes uses urllib3 and passes on its errors."""

OF_ANSIBLE = {"PyYAML", "packaging"}
"""ansible-core needs them itself."""


def third_party(file: Path) -> Iterator[str]:
    """Top-level names that a file imports, by a statement or by a function call with the name."""
    known = {*sys.stdlib_module_names, "ansible", "ansible_collections"}
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("library", "preload", "importlib.import_module"):
            names = [str(argument.value) for argument in node.args if isinstance(argument, ast.Constant)]
        yield from {name.partition(".")[0] for name in names} - known


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


def test_no_sanity_test_is_ignored() -> None:
    """Files with ignores are needed for each release of ansible-core; `make test-matrix` runs sanity on all."""
    assert list((CHECKOUT / "tests").glob("sanity/ignore-*.txt")) == []
