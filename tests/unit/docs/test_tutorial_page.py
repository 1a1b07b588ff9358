# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/tutorial.md and docs/examples, as far as they can be tested without a node; `make demo` runs the commands."""

from __future__ import annotations

import re
import shlex
from typing import Any

import pytest
from ansible.inventory.manager import InventoryManager
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.parsing.dataloader import DataLoader
from ansible.vars.manager import VariableManager

from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.draft import PlanDraft
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.node_profile import parse_profile
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.catalogue import refusals
from ansible_collections.volcano.colocation.tests.demo import tutorial
from ansible_collections.volcano.colocation.tests.demo.tutorial import CommandStep, FileStep
from ansible_collections.volcano.colocation.tests.support.checkout import CHECKOUT
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import DIFFERING, captured, facts_of
from ansible_collections.volcano.colocation.tests.unit.docs.test_role_docs import OPTIONS

EXAMPLES = CHECKOUT / "docs" / "examples"
PAGE = tutorial.TUTORIAL.read_text(encoding="utf-8")
STEPS = tutorial.steps(PAGE)
COMMANDS = [step.command for step in STEPS if isinstance(step, CommandStep)]
PLAYBOOK = re.compile(r"volcano\.colocation\.(\w+)$")


def test_its_files_are_the_examples() -> None:
    example_files = {
        str(path.relative_to(EXAMPLES)): re.sub(
            r"\A---\n(# SPDX[^\n]*\n)+\n(# Two kinds[^\n]*\n)?", "", path.read_text(encoding="utf-8")
        )
        for path in EXAMPLES.rglob("*.yml")
        if path.parent.name not in ("rollout", "volcano")  # examples of other pages, which tests run
    }
    assert {step.path: step.content for step in STEPS if isinstance(step, FileStep)} == example_files


@pytest.mark.parametrize("command", COMMANDS)
def test_its_commands_call_playbooks_and_variables_that_exist(command: str) -> None:
    program, *arguments = shlex.split(command)
    assert program in ("ansible", "ansible-playbook")
    if program == "ansible-playbook":
        match = PLAYBOOK.fullmatch(arguments[-1])
        assert match
        assert (CHECKOUT / "playbooks" / f"{match[1]}.yml").is_file()
    assert set(re.findall(r"\bcolocation_\w+", command)) <= set(OPTIONS)


@pytest.mark.parametrize("path", tutorial.PAGES, ids=lambda path: path.name)
def test_every_screen_is_recorded_from_a_command(path: Any) -> None:
    page = path.read_text(encoding="utf-8")
    assert tutorial.screens(page)
    assert set(tutorial.screens(page)) <= set(range(1, len(COMMANDS) + 1))
    assert "```text\n```" not in page
    assert "```diff\n```" not in page


def test_every_command_of_the_tutorial_has_a_screen() -> None:
    assert set(tutorial.screens(PAGE)) == set(range(1, len(COMMANDS) + 1))


def variables_by_host() -> dict[str, dict[str, Any]]:
    """The collection's variables of each host of the sample inventory."""
    loader = DataLoader()
    inventory = InventoryManager(loader=loader, sources=[str(EXAMPLES / "inventory.yml")])
    manager = VariableManager(loader=loader, inventory=inventory)
    return {
        host.name: {
            name: value for name, value in manager.get_vars(host=host).items() if name.startswith("colocation_")
        }
        for host in inventory.get_hosts()
    }


VARIABLES = variables_by_host()


def test_the_sample_inventory_has_two_kinds_of_node() -> None:
    policies = {name: host_variables["colocation_cpu_manager_policy"] for name, host_variables in VARIABLES.items()}
    assert policies == {"node1": "static", "node2": "none"}


@pytest.mark.parametrize("host", VARIABLES)
def test_the_variables_of_a_kind_are_a_profile_that_a_node_accepts(host: str) -> None:
    specification = {name: {**option, "required": False} for name, option in OPTIONS.items()}
    checked = ArgumentSpecValidator(specification).validate(VARIABLES[host])
    assert checked.error_messages == []
    assert set(VARIABLES[host]) <= set(OPTIONS)
    options: dict[str, Any] = {name.removeprefix("colocation_"): value for name, value in VARIABLES[host].items()}
    options["nri"] = {"enabled": options.pop("nri_enabled")}
    draft = PlanDraft(facts_of(captured(DIFFERING)), parse_profile(options))
    assert refusals(draft) == ()
    assert draft.desired
