# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""qos_plan as a task, and the playbooks on hosts without a QoS profile."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.volcano.colocation.tests.support.hosts.qos_cases import V2, document, setting
from ansible_collections.volcano.colocation.tests.support.tasks.play_tasks import Run, run, task
from ansible_collections.volcano.colocation.tests.support.tasks.playbook_run import (
    COLLECTIONS,
    Done,
    playbook,
    started_playbook,
)

FACTS = document(V2)
CGROUPFS = {"cgroup_driver": "cgroupfs"}


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Run:
    named = document(V2, setting("kubeReserved", {"cpu": "1"}))
    return run(
        tmp_path_factory.mktemp("qos"),
        [
            task("defaults", "qos_plan", facts=FACTS, profile={"levels": ["HLS", "LS", "BE"]}),
            task("numbers", "qos_plan", facts=FACTS, profile={"be": {"cpu_quota": 0.5, "pids_max": 100}}),
            task("named", "qos_plan", facts=named, profile={"levels": []}, kube_reserved_cgroup="/runtime.slice"),
            task("other_driver", "qos_plan", facts=FACTS, profile={}, kube_reserved_cgroup="kubelet", **CGROUPFS),
            task("wrong_level", "qos_plan", facts=FACTS, profile={"levels": ["XX"]}),
            task("wrong_share", "qos_plan", facts=FACTS, profile={"be": {"cpu_quota": "120%"}}),
            task("wrong_cgroup", "qos_plan", facts=FACTS, profile={}, kube_reserved_cgroup="/a/../b"),
            task("wrong_facts", "qos_plan", facts={"schema": 1}, profile={}),
        ],
    )


def besteffort(result: dict[str, Any]) -> Any:
    return next(cgroup["settings"] for cgroup in result["cgroups"] if cgroup["target"] == {"qos_class": "besteffort"})


def test_defaults_of_the_profile_come_from_the_specification(answers: Run) -> None:
    result = answers.results["defaults"]
    assert not result["changed"]
    assert besteffort(result) == {"cpu_quota": 0.9, "memory_high": "80%", "memory_max": None, "pids_max": 32768}
    assert result["slices"] == [{"name": "system.slice", "state": "present", "properties": {"CPUWeight": 20}}]
    assert {"level": "HLS", "setting": "no CPU quota"}.items() <= result["unsupported"][0].items()


def test_numbers_are_as_good_as_texts_and_the_rest_is_default(answers: Run) -> None:
    result = besteffort(answers.results["numbers"])
    assert result == {"cpu_quota": 0.5, "memory_high": "80%", "memory_max": None, "pids_max": 100}


def test_a_slice_that_is_only_wanted_is_made_and_weighed(answers: Run) -> None:
    result = answers.results["named"]
    assert [slice_options["name"] for slice_options in result["reserved_slices"]] == ["runtime.slice"]
    assert {slice_options["name"]: slice_options["properties"] for slice_options in result["slices"]} == {
        "system.slice": {"CPUWeight": 20},
        "runtime.slice": {"CPUWeight": 39},
    }


def test_the_driver_that_kubelet_will_have_says_what_is_a_slice(answers: Run) -> None:
    qos_plan = answers.results["other_driver"]
    assert qos_plan["reserved_slices"] == []
    assert "kubelet is not the path of a slice" in str(qos_plan["unsupported"])


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("wrong_level", "LC, HLS, LS, BE"),
        ("wrong_share", "be.cpu_quota: 120% is not greater than 0% and at most 100%"),
        ("wrong_cgroup", "kube_reserved_cgroup: '/a/../b' is not the path of a cgroup"),
        ("wrong_facts", "pass ansible_facts.colocation as node_facts returns it"),
    ],
)
def test_wrong_values_fail_by_name(answers: Run, name: str, says: str) -> None:
    assert answers.results[name]["failed"]
    assert says in answers.results[name]["msg"]


def play(directory: Path, playbook: Callable[..., Done] = playbook, **variables: Any) -> str:
    local = {
        "ansible_connection": "local",
        "ansible_become": False,
        "ansible_python_interpreter": "/nonexistent/python",
    }
    (directory / "inventory.json").write_text(json.dumps({"all": {"hosts": {"one": local}}}), encoding="utf-8")
    return playbook(directory, "volcano.colocation.qos", "-i", "inventory.json", "-e", json.dumps(variables)).output


def test_without_a_profile_nothing_runs_on_the_node(tmp_path: Path) -> None:
    """The node's interpreter does not exist, so a module that runs would fail."""
    output = play(tmp_path)
    assert "failed=0" in output, output
    assert "unreachable=0" in output
    assert "changed=0" in output
    assert "set.yml" not in output


def test_a_wrong_profile_stops_before_the_node_is_looked_at(tmp_path: Path) -> None:
    output = play(tmp_path, colocation_qos={"be": {"cpu_share": "60%"}})
    assert "cpu_share" in output
    assert "Observe the node" not in output


def test_with_a_profile_its_tasks_are_run(tmp_path: Path) -> None:
    """Proves that the test before the last one can fail."""
    assert "set.yml" in play(tmp_path, started_playbook, colocation_qos={"levels": ["BE"]})


def test_provision_makes_slices_after_every_preflight_and_before_it_aligns_and_sets_qos_last() -> None:
    text = (COLLECTIONS / "ansible_collections/volcano/colocation/playbooks/provision.yml").read_text(encoding="utf-8")
    _hosts, observe, rollout, qos, *_further = yaml.safe_load(text)
    names = [task["name"] for task in observe["tasks"]]
    assert names[1:5] == ["Observe", "Require nodes that were read", "Preflight", "Preflight of QoS"]
    assert names[-1] == "Queue the nodes that have a plan"
    changes = [task["name"] for task in rollout["tasks"][0]["block"]]
    assert changes == ["Drain", "Reserve", "Align", "Release", "Verify"]
    assert observe["vars"] == rollout["vars"]
    assert qos["tasks"][0]["name"] == "Set QoS"
