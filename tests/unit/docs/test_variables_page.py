# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/variables.md has every variable once, and a unit for each number. test_pages.py compares the tables."""

from __future__ import annotations

import re

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.variable_names import VARIABLES
from ansible_collections.volcano.colocation.tests.run import variable_docs
from ansible_collections.volcano.colocation.tests.run.variable_docs import ROLES, Variable
from ansible_collections.volcano.colocation.tests.support.checkout import CHECKOUT

PAGE = (CHECKOUT / "docs" / "variables.md").read_text(encoding="utf-8")
NAMES = re.findall(r"^\| `(colocation_\w+)` \|", PAGE, re.MULTILINE)
ALL = [variable for role in ROLES for variable in variable_docs.variables(role)]


def test_every_variable_is_on_the_page_once() -> None:
    assert sorted(NAMES) == sorted(VARIABLES)


def test_every_role_has_a_table() -> None:
    assert set(ROLES) == {path.name for path in (CHECKOUT / "roles").iterdir()}


@pytest.mark.parametrize("variable", [item for item in ALL if item.is_number], ids=lambda variable: variable.name)
def test_a_number_has_a_unit(variable: Variable) -> None:
    assert variable_docs.unit(variable)


def test_entries_of_dictionaries_and_lists_are_rows() -> None:
    assert "| `colocation_qos.be.cpu_quota` | str | `60%` | % of the CPUs, or CPUs |" in PAGE
    assert "| `colocation_queues[].name` | str, required |" in PAGE


def test_a_default_of_some_playbooks_is_named() -> None:
    assert "`systemd` in `provision` and `verify`" in PAGE


def test_the_units_are_of_variables_that_exist() -> None:
    assert set(variable_docs._UNITS) <= {variable.name for variable in ALL}
