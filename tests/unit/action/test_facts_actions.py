# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""node_facts, node_report and node_align as tasks: replays, wrong types, and redacted results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    DESIRED,
    DIFFERING,
    FIXTURES,
    NAMES,
    captured,
    golden,
    kubelet_adds,
    kubelet_flags,
)
from ansible_collections.volcano.colocation.tests.support.tasks.play_tasks import Run, checked, run, task

PLANTED = "hunter2-Zm9v"

WRONG: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "driver": ("node_align", {"cgroup_driver": "cgroup"}, ("cgroup_driver", "systemd, cgroupfs", "cgroup")),
    "policy": ("node_align", {"cpu_manager_policy": "dynamic"}, ("cpu_manager_policy", "none, static")),
    "topology": ("node_align", {"topology_manager_policy": "best"}, ("topology_manager_policy", "best-effort")),
    "port": ("node_align", {"read_only_port": "many"}, ("read_only_port", "int")),
    "port_range": ("node_align", {"read_only_port": 70000}, ("read_only_port", "70000 is not a port")),
    "reserved": ("node_align", {"system_reserved": "half"}, ("system_reserved", "dict")),
    "resource": ("node_align", {"system_reserved": {"cpus": "1"}}, ("system_reserved", "'cpus' cannot be reserved")),
    "number": ("node_align", {"kube_reserved": {7: "1"}}, ("kube_reserved", "'7' cannot be reserved")),
    "quantity": ("node_align", {"kube_reserved": {"cpu": "half"}}, ("kube_reserved.cpu", "not a Kubernetes quantity")),
    "nothing": ("node_align", {"kube_reserved": {"cpu": None}}, ("kube_reserved.cpu", "not a Kubernetes quantity")),
    "cpus": ("node_align", {"reserved_system_cpus": "3-1"}, ("reserved_system_cpus", "runs backwards")),
    "nri": ("node_align", {"nri": {"enabled": "perhaps"}}, ("nri", "bool")),
    "nri_option": ("node_align", {"nri": {"enable": True}}, ("nri", "enable", "plugin_path")),
    "nri_path": ("node_align", {"nri": {"plugin_path": "opt/nri"}}, ("nri.plugin_path", "not an absolute path")),
    "option": ("node_align", {"cgroupdriver": "systemd"}, ("cgroupdriver", "cgroup_driver")),
    "disruption": ("node_align", {"allow_disruption": "perhaps"}, ("allow_disruption", "bool")),
    "target": ("node_facts", {"target_kubernetes": "newest"}, ("target_kubernetes", "not a version")),
    "gone": ("node_facts", {"snapshot": "gone.json"}, ("gone.json", "No such file")),
    "no_json": ("node_facts", {"snapshot": "play.yml.txt"}, ("play.yml.txt", "not a JSON document")),
    "list": ("node_facts", {"snapshot": "list.json"}, ("list.json", "not a snapshot document")),
    "schema": ("node_facts", {"snapshot": "schema.json"}, ("schema 9", "this version reads schema 1")),
    "part": ("node_facts", {"snapshot": "part.json"}, ("incomplete snapshot", "kubelet")),
    "facts": ("node_report", {"name": "x"}, ("missing required arguments", "facts")),
}


def secret_snapshot() -> dict[str, Any]:
    snapshot = kubelet_flags(captured(DIFFERING), f"--api-token={PLANTED}")
    return kubelet_adds(snapshot, f"staticPodURLHeader:\n  X-Access: [{PLANTED}]\n")


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Run:
    directory = tmp_path_factory.mktemp("facts")
    documents = {
        "list.json": "[]",
        "schema.json": json.dumps({"schema": 9}),
        "part.json": json.dumps({"schema": 1, "system": {}}),
        "play.yml.txt": "- no JSON\n",
        "secret.json": json.dumps(secret_snapshot()),
    }
    for name, text in documents.items():
        (directory / name).write_text(text, encoding="utf-8")
    tasks = [
        task(f"replay_{index}", "node_facts", snapshot=str(FIXTURES / "snapshots" / f"{name}.json"))
        for index, name in enumerate(NAMES)
    ]
    tasks += [task(f"wrong_{name}", module, **options) for name, (module, options, _words) in WRONG.items()]
    mismatch = str(FIXTURES / "snapshots" / f"{DIFFERING}.json")
    tasks += [
        checked(task("replay_checked", "node_facts", snapshot=mismatch)),
        task("profile", "node_facts", snapshot=mismatch, **DESIRED),
        task("target", "node_facts", snapshot=mismatch, target_kubernetes="1.36"),
        task("secret", "node_facts", snapshot="secret.json", return_snapshot=True),
        task(
            "report",
            "node_report",
            facts="{{ profile.ansible_facts.colocation }}",
            name="a/b",
            folder=str(directory / "new"),
        ),
        task("no_file", "node_report", facts="{{ profile.ansible_facts.colocation }}", name="a"),
    ]
    return run(directory, tasks)


@pytest.mark.parametrize("name", NAMES)
def test_a_replay_gives_the_facts_of_that_node(answers: Run, name: str) -> None:
    result = answers.results[f"replay_{NAMES.index(name)}"]
    assert result["changed"] is False
    assert result["ansible_facts"]["colocation"] == golden("facts", name)
    assert "snapshot" not in result


def test_check_mode_gives_the_same_answer(answers: Run) -> None:
    checked_result = answers.results["replay_checked"]
    assert checked_result["ansible_facts"]["colocation"] == golden("facts", DIFFERING)


def test_with_a_profile_what_differs_is_a_finding(answers: Run) -> None:
    facts = answers.results["profile"]["ansible_facts"]["colocation"]
    assert "differs-from-profile" in {finding["code"] for finding in facts["findings"]}


def test_with_a_target_what_would_stop_working_is_a_finding(answers: Run) -> None:
    facts = answers.results["target"]["ansible_facts"]["colocation"]
    assert "upgrade-flags-removed" in {finding["code"] for finding in facts["findings"]}
    assert facts["verdict"] == golden("facts", DIFFERING)["verdict"]


def test_a_returned_snapshot_is_redacted_and_can_be_replayed(answers: Run) -> None:
    result = answers.results["secret"]
    assert result["snapshot"]["schema"] == 1
    assert "REDACTED" in json.dumps(result["snapshot"])
    assert PLANTED not in json.dumps(result)


def test_no_secret_is_printed(answers: Run) -> None:
    assert PLANTED not in answers.output


@pytest.mark.parametrize("name", WRONG)
def test_wrong_input_is_a_clear_error(answers: Run, name: str) -> None:
    result = answers.results[f"wrong_{name}"]
    assert result["failed"]
    for word in WRONG[name][2]:
        assert word in result["msg"]
    assert "Traceback" not in json.dumps(result)


def test_a_report_is_one_file_in_its_directory(answers: Run) -> None:
    path = Path(answers.results["report"]["path"])
    assert path.name == "a_b.json"
    facts = answers.results["profile"]["ansible_facts"]["colocation"]
    assert json.loads(path.read_text(encoding="utf-8")) == facts
    assert sorted(item.name for item in path.parent.iterdir()) == [".gitignore", "a_b.json"]
    assert answers.results["report"]["changed"] is False


def test_without_a_directory_nothing_is_written(answers: Run) -> None:
    assert "path" not in answers.results["no_file"]
    assert "kubelet uses systemd, containerd uses cgroupfs" in answers.results["no_file"]["report"]
    assert "MISALIGNED" in answers.output
