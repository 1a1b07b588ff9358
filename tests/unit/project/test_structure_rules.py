# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Structure of the plugins: imports, file names, function lengths. Each check is proven to fail."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.support.checkout import CHECKOUT
from ansible_collections.volcano.colocation.tests.tools.package_layers import forbidden_imports, unknown_packages
from ansible_collections.volcano.colocation.tests.tools.structure import (
    PluginFile,
    cycles,
    load,
    namesakes,
    package_graph,
)

LONGEST = 50
"""Lines of a function, with its decorators."""


@pytest.fixture(name="files", scope="module")
def _files() -> tuple[PluginFile, ...]:
    return load(CHECKOUT / "plugins")


def tree(directory: Path, texts: Mapping[str, str]) -> tuple[PluginFile, ...]:
    """Plugins of a few files, by path without extension."""
    for name, text in texts.items():
        path = directory / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return load(directory)


def long_functions(files: tuple[PluginFile, ...]) -> list[str]:
    return [
        f"{'/'.join(file.name)} {name}: {lines}"
        for file in files
        for name, lines in file.functions.items()
        if lines > LONGEST
    ]


def test_packages_import_lower_ones_only(files: tuple[PluginFile, ...]) -> None:
    assert list(forbidden_imports(files)) == []


def test_the_table_has_no_package_that_is_gone(files: tuple[PluginFile, ...]) -> None:
    assert unknown_packages(files) == []


def test_no_packages_import_each_other(files: tuple[PluginFile, ...]) -> None:
    assert cycles(package_graph(files)) == []


def test_no_two_files_have_one_name(files: tuple[PluginFile, ...]) -> None:
    """Ansible determines the names of modules, actions and doc_fragments, so they are not checked."""
    assert namesakes(files) == {}


def test_a_function_fits_on_a_screen(files: tuple[PluginFile, ...]) -> None:
    assert long_functions(files) == []


LOWER = ("modules", "module_utils/state", "plugin_utils/facts", "plugin_utils/kube", "plugin_utils/rules")
"""Packages that each have a file ``low``."""


def forbidden(directory: Path, package: str, text: str) -> list[str]:
    """The result of the table for an additional file of a package."""
    lower = {f"{package}/low": "x = 1\n" for package in LOWER}
    return list(forbidden_imports(tree(directory, {**lower, f"{package}/a": text})))


@pytest.mark.parametrize("text", ["from ..facts.low import x\n", "from ...module_utils.state.low import x\n"])
def test_an_import_of_a_lower_package_is_allowed(tmp_path: Path, text: str) -> None:
    assert forbidden(tmp_path, "plugin_utils/rules", text) == []


@pytest.mark.parametrize(
    ("package", "text", "target"),
    [
        ("plugin_utils/facts", "from ..rules.low import x\n", "plugin_utils/rules/low"),
        ("plugin_utils/facts", "def f():\n    from ..rules.low import x\n", "plugin_utils/rules/low"),
        ("plugin_utils/facts", "from ..kube import low\n", "plugin_utils/kube/low"),
        ("module_utils/state", "from ...plugin_utils.facts.low import x\n", "plugin_utils/facts/low"),
        ("module_utils", "from .state.low import x\n", "module_utils/state/low"),
        ("doc_fragments", "from ..module_utils.state.low import x\n", "module_utils/state/low"),
        ("action", "from ..modules.low import x\n", "modules/low"),
    ],
)
def test_an_import_against_the_table_is_found(tmp_path: Path, package: str, text: str, target: str) -> None:
    assert forbidden(tmp_path, package, text) == [f"{package}/a imports {target}"]


@pytest.mark.parametrize("package", ["plugin_utils/new", "plugin_utils"])
def test_a_package_that_is_not_in_the_table_is_found(tmp_path: Path, package: str) -> None:
    assert forbidden(tmp_path, package, "") == [f"{package} is not in the table"]


def test_a_row_of_the_table_without_files_is_found(tmp_path: Path) -> None:
    assert "plugin_utils/plan" in unknown_packages(tree(tmp_path, {"plugin_utils/rules/a": ""}))


def test_a_cycle_a_second_name_and_a_long_function_are_found(tmp_path: Path) -> None:
    texts = {
        "plugin_utils/plan/a": "from ..rules.b import x\n",
        "plugin_utils/rules/b": "from ..plan.c import x\n",
        "plugin_utils/plan/c": "def f():\n" + "    x = 1\n" * LONGEST,
        "module_utils/state/b": "",
        "modules/a": "",
    }
    files = tree(tmp_path, texts)
    assert cycles(package_graph(files)) == [["plugin_utils/plan", "plugin_utils/rules"]]
    assert namesakes(files) == {"b": ["module_utils/state/b", "plugin_utils/rules/b"]}
    assert long_functions(files) == [f"plugin_utils/plan/c f: {LONGEST + 1}"]
