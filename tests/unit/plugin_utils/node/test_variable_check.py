# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""All wrong variables of all hosts in one message, each problem once."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.node.variable_check import (
    ROLES,
    describe_problems,
    find_misplaced,
    find_variable_problems,
    role_options,
)

SPECS = {role: role_options(role) for role in ("node", "qos")}


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"colocation_cgroup_driver": "sytemd"}, "colocation_cgroup_driver: 'sytemd' is not one of systemd, cgroupfs"),
        ({"colocation_system_reserved": {"cpu": "1x"}}, "colocation_system_reserved.cpu: "),
        ({"colocation_reserved_memory": "much"}, "colocation_reserved_memory: "),
        ({"colocation_nri_socket_path": "nri.sock"}, "colocation_nri_socket_path: "),
        ({"colocation_target_kubernetes": "latest"}, "colocation_target_kubernetes: "),
        ({"colocation_health_timeout": 0}, "colocation_health_timeout: "),
        ({"colocation_finding_codes": ["driver-mismtch"]}, "colocation_finding_codes: no finding has the code driver-"),
        ({"colocation_qos": {"be": {"cpu_quota": "150%"}}}, "colocation_qos.be.cpu_quota: 150% is not greater than 0%"),
        ({"colocation_qos": {"be": {"cpu_quta": "50%"}}}, "colocation_qos.be has no option cpu_quta; did you mean"),
    ],
)
def test_a_wrong_value_begins_with_its_variable(variables: dict[str, Any], says: str) -> None:
    (problem,) = find_variable_problems(SPECS, variables)
    assert problem.startswith(says)


def test_all_problems_are_found_at_once() -> None:
    variables = {"colocation_cgroup_driver": "x", "colocation_system_reserved": {"cpu": "1x"}, "colocation_drain": "x"}
    problems = find_variable_problems(SPECS, variables)
    assert [problem.partition(":")[0] for problem in problems] == [
        "colocation_cgroup_driver",
        "colocation_system_reserved.cpu",
    ]


@pytest.mark.parametrize("role", sorted(path.name for path in ROLES.iterdir()))
def test_the_defaults_of_a_role_are_right(role: str) -> None:
    defaults = {name: option["default"] for name, option in role_options(role).items() if "default" in option}
    assert find_variable_problems({role: role_options(role)}, defaults) == []


def test_right_values_of_a_profile_have_no_problem() -> None:
    profile = {
        "colocation_nri_enabled": True,
        "colocation_nri_socket_path": "/run/nri.sock",
        "colocation_cgroup_root": "",
    }
    assert find_variable_problems(SPECS, profile) == []


def test_a_variable_without_a_value_yet_is_not_checked() -> None:
    assert find_variable_problems(SPECS, {"colocation_cgroup_driver": None}) == []


def test_each_problem_is_in_the_message_once_with_its_hosts() -> None:
    some, every = "colocation_cgroup_driver: 'x' is wrong", "Unknown variable colocation_drian."
    problems = {f"n{number}": [every, some] if number > 1 else [every] for number in range(1, 7)}
    assert describe_problems(problems, SPECS) == (
        f"{every} n2, n3, n4 and 2 more: {some}. Nothing was done."
        " 'ansible-doc -t role volcano.colocation.node' describes the variables."
    )


def test_the_message_of_a_thousand_hosts_is_as_short_as_that_of_one() -> None:
    problems = {f"n{number}": ["colocation_cgroup_driver: 'x' is wrong"] for number in range(1000)}
    assert describe_problems(problems, SPECS) == describe_problems({"n1": problems["n1"]}, SPECS)


def test_no_problem_is_no_message() -> None:
    assert describe_problems({"n1": [], "n2": []}, SPECS) == ""


def test_a_variable_of_the_playbook_assess_is_refused_elsewhere() -> None:
    names = ("colocation_explain", "colocation_snapshots")
    assert find_misplaced(names, {"colocation_explain": "", "colocation_snapshots": None}) == []
    (problem,) = find_misplaced(names, {"colocation_explain": "driver-mismatch"})
    assert problem.endswith("ansible-playbook volcano.colocation.assess -e colocation_explain=driver-mismatch")
