# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/versions.md has the versions that the tests run, and every system that is refused by name."""

from __future__ import annotations

import re

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.immutable_systems import MANAGED
from ansible_collections.volcano.colocation.plugins.plugin_utils.releases import minimum_versions
from ansible_collections.volcano.colocation.plugins.plugin_utils.releases.minimum_versions import MINIMUMS, Minimum
from ansible_collections.volcano.colocation.tests.matrix.test_versions import VERSIONS
from ansible_collections.volcano.colocation.tests.run.matrix import NEWER_PYTHON, NODE_PYTHON, RELEASES
from ansible_collections.volcano.colocation.tests.support.checkout import CHECKOUT
from ansible_collections.volcano.colocation.tests.support.recorded_states import STATES

PAGE = (CHECKOUT / "docs" / "versions.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("| ")]
DEVELOPMENT = re.findall(r"^ansible-core==(\d+\.\d+)", (CHECKOUT / "requirements/dev.txt").read_text(), re.MULTILINE)


def releases(program: str, state: str) -> set[str]:
    """The releases of a program that the table gives this state."""
    cells = (row[1] for row in ROWS if row[0] == program and row[2] == state)
    return {release for cell in cells for release in cell.split(", ")}


def test_the_tested_releases_of_ansible_core_are_those_that_are_tested() -> None:
    assert releases("ansible-core", "tested") == {*RELEASES, *DEVELOPMENT}


def test_the_tested_pythons_are_those_that_are_tested() -> None:
    assert NODE_PYTHON in releases("Python, node", "tested")
    assert {f"{major}.{minor}" for major, minor in NEWER_PYTHON.values()} <= releases("Python, controller", "tested")


@pytest.mark.parametrize("release", sorted({combination.kubelet for combination in VERSIONS} - {"debian"}))
def test_a_kubelet_of_the_matrix_is_tested(release: str) -> None:
    assert release in releases("kubelet", "tested")


@pytest.mark.parametrize(
    "release", sorted({combination.containerd for combination in VERSIONS if combination.containerd})
)
def test_a_containerd_of_the_matrix_is_tested(release: str) -> None:
    assert release in releases("containerd", "tested")


def test_no_release_has_two_states() -> None:
    for program in {row[0] for row in ROWS if len(row) == 5}:
        states = [releases(program, state) for state in ("tested", "read only", "refused")]
        assert sum(map(len, states)) == len(set().union(*states)), program


@pytest.mark.parametrize("system", MANAGED)
def test_each_system_that_is_refused_by_name_is_listed(system: str) -> None:
    row = next(row for row in ROWS if re.search(rf"\b{re.escape(system)}\b", row[1]))
    assert row[0] == MANAGED[system].name
    assert row[2] == "refused"


def test_each_minimum_is_used_by_a_check() -> None:
    """Each row of the table is imported by the code that compares versions with it."""
    names = [name for name, value in vars(minimum_versions).items() if isinstance(value, Minimum)]
    assert len(names) == len(MINIMUMS)
    sources = "".join(
        path.read_text(encoding="utf-8")
        for path in (CHECKOUT / "plugins" / "plugin_utils").rglob("*.py")
        if path.name != "minimum_versions.py"
    )
    assert [name for name in names if not re.search(rf"\b{name}\b", sources)] == []


def test_each_recorded_state_is_named() -> None:
    assert [state for state in STATES if state not in PAGE] == []
