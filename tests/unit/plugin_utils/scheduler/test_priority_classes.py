# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""PriorityClasses: values that an API server refuses, and values that it never changes."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.api_errors import ClusterError
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.validators import ProfileError
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.priority_classes import (
    PriorityClass,
    check_classes,
    parse_classes,
)

BE = PriorityClass("be", -100, "Never", description="waits")


def class_options(name: str = "be", value: int = -100, **different: Any) -> dict[str, Any]:
    return {
        "preemption_policy": "Never",
        "global_default": False,
        "description": "waits",
        **different,
        "name": name,
        "value": value,
    }


def test_a_class_that_must_not_preempt_says_never() -> None:
    assert parse_classes("c", [class_options()]) == (BE,)
    assert BE.manifest() == {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "be"},
        "value": -100,
        "preemptionPolicy": "Never",
        "globalDefault": False,
        "description": "waits",
    }


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ([class_options("system-be")], "c[0].name: system-be: names with system- are reserved for the system"),
        (
            [class_options(), class_options("x", 1_000_000_001)],
            "c[1].value: 1000000001 is not from -2147483648 to 1000000000",
        ),
        ([class_options(), class_options(value=5)], "c[1].name: be is defined twice"),
        (
            [class_options(global_default=True), class_options("x", global_default=True)],
            "c: only one class can be the global default",
        ),
    ],
)
def test_what_no_server_accepts_is_refused(classes: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(ProfileError) as error:
        parse_classes("c", classes)
    assert str(error.value) == message


def live_class(name: str = "be", **different: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "value": -100, "preemptionPolicy": "Never", **different}


def test_an_equal_class_is_accepted() -> None:
    check_classes([BE], [])
    check_classes([BE], [live_class(), live_class("other", globalDefault=True)])
    check_classes([PriorityClass("be", -100)], [live_class(preemptionPolicy=None)])
    check_classes([PriorityClass("be", -100, "Never", default=True)], [live_class(globalDefault=True)])


def test_the_value_and_the_policy_are_immutable() -> None:
    with pytest.raises(ClusterError) as error:
        check_classes([BE], [live_class(value=7, preemptionPolicy="PreemptLowerPriority")])
    assert str(error.value) == (
        "PriorityClass be: value is 7 and cannot become -100;"
        " preemptionPolicy is PreemptLowerPriority and cannot"
        " become Never. Nothing was changed. Give the new class another name and use it in workloads, or delete this"
        " one first: running pods keep their priority."
    )


def test_there_is_one_global_default() -> None:
    with pytest.raises(ClusterError, match=r"be cannot be the global default, because other is"):
        check_classes([PriorityClass("be", -100, "Never", default=True)], [live_class("other", globalDefault=True)])
