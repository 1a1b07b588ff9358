# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""scheduler_config from its arguments to the requests, on an API server in memory."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.play_context import PlayContext
from ansible.playbook.task import Task
from ansible.plugins.loader import connection_loader
from ansible.template import Templar

from ansible_collections.volcano.colocation.plugins.modules import scheduler_config
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.api_errors import ErrorContext
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.dynamic_client import Client
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.installed_volcano import REQUIRED_CRDS
from ansible_collections.volcano.colocation.tests.support.clusters.memory_api_server import Server
from ansible_collections.volcano.colocation.tests.support.clusters.scheduler_confs import TEXT, WRITTEN
from ansible_collections.volcano.colocation.tests.support.clusters.volcano_clusters import (
    FIELDS,
    KEY,
    MAP,
    UID,
    crd,
    deployment,
)

SPACE = "volcano-system"
QUEUES = "scheduling.volcano.sh/v1beta1"
POLICIES = "admissionregistration.k8s.io/v1"
DESIRED = {
    "cluster_uid": UID,
    "priority_classes": [{"name": "colocation-be", "value": -100, "preemption_policy": "Never"}],
    "queues": [{"name": "batch", "parent": "org", "deserved": {"cpu": "1"}}, {"name": "org", "deserved": {"cpu": "2"}}],
    "admission": {"levels": [{"level": "BE", "priority_class": "colocation-be"}]},
}


def server(**different: Any) -> Server:
    api_server = Server(**{"apis": (QUEUES, POLICIES), **different})
    conf = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": MAP, "namespace": SPACE}, "data": {KEY: TEXT}}
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system", "uid": UID}}
    api_server.add(conf, space, deployment(), *(crd(name, *FIELDS) for name in REQUIRED_CRDS))
    return api_server


@pytest.fixture(name="kubeconfig")
def _kubeconfig(tmp_path: Path) -> str:
    path = tmp_path / "admin.conf"
    path.write_text("apiVersion: v1\nkind: Config\n", encoding="utf-8")
    return str(path)


def run(api_server: Server, arguments: Mapping[str, Any], *, check: bool = False) -> dict[str, Any]:
    plugin = importlib.import_module(
        "ansible_collections.volcano.colocation.plugins.action.scheduler_config"
    ).ActionModule

    class OnServer(plugin):  # type: ignore[misc,valid-type]
        def connect(self, context: ErrorContext) -> Client:
            return api_server.client(context, dry_run=self._task.check_mode)

    task = Task()
    task.args, task.check_mode, task.diff = dict(arguments), check, True
    loader = DataLoader()
    connection = connection_loader.get("local", PlayContext(), os.devnull)
    one = OnServer(task, connection, PlayContext(), loader, Templar(loader=loader, variables={}), None)
    one._load_name = "scheduler_config"
    result: dict[str, Any] = one.run(task_vars={"inventory_hostname": "node"})
    return result


def text(api_server: Server) -> str:
    conf = api_server.get("ConfigMap", MAP, SPACE)
    assert conf
    return str(conf["data"][KEY])


def test_check_mode_then_the_run_then_nothing_then_back_then_nothing(kubeconfig: str) -> None:
    options = {**DESIRED, "kubeconfig": kubeconfig}
    api_server = server()
    before = api_server.state()
    checked = run(api_server, options, check=True)
    assert (api_server.state(), api_server.writes) == (before, [])
    first = run(api_server, options)
    assert first["changed"]
    assert {key: checked[key] for key in ("changed", "diff", "changes", "findings", "unsupported")} == {
        key: first[key] for key in ("changed", "diff", "changes", "findings", "unsupported")
    }
    assert text(api_server) == WRITTEN
    assert api_server.writes[0] == f"create ConfigMap {SPACE}/volcano-colocation-scheduler"
    assert [change["object"] for change in first["changes"]] == [
        "PriorityClass colocation-be",
        "Queue org",
        "Queue batch",
        "ValidatingAdmissionPolicy volcano-colocation-levels",
        "ValidatingAdmissionPolicyBinding volcano-colocation-levels",
        "MutatingAdmissionPolicy volcano-colocation-be",
        "MutatingAdmissionPolicyBinding volcano-colocation-be",
        f"ConfigMap {SPACE}/{MAP}",
    ]
    written = len(api_server.writes)
    again = run(api_server, options)
    assert (again["changed"], again["diff"], len(api_server.writes)) == (False, [], written)

    back = {"kubeconfig": kubeconfig, "cluster_uid": UID, "state": "restored"}
    state_before = api_server.state()
    back_checked = run(api_server, back, check=True)
    assert api_server.state() == state_before
    restored = run(api_server, back)
    assert api_server.state() == before
    assert {**back_checked} == {**restored}
    assert not run(api_server, back)["changed"]


def test_a_server_without_policies_gets_the_rest_and_the_reason(kubeconfig: str) -> None:
    api_server = server(apis=(QUEUES,))
    result = run(api_server, {**DESIRED, "kubeconfig": kubeconfig})
    # Ansible takes a result with one of these keys for something else than a change.
    assert not result.keys() & {"skipped", "failed", "unreachable", "exception"}
    assert [line.partition(":")[0] for line in result["unsupported"]] == [
        "ValidatingAdmissionPolicy",
        "MutatingAdmissionPolicy",
    ]
    assert [change["object"] for change in result["changes"]][-1] == f"ConfigMap {SPACE}/{MAP}"
    assert not run(api_server, {**DESIRED, "kubeconfig": kubeconfig})["changed"]


EXAMPLES: list[dict[str, Any]] = yaml.safe_load(scheduler_config.EXAMPLES)


def test_the_examples_do_what_they_say(kubeconfig: str) -> None:
    api_server = server()
    api_server.add(
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "prometheus", "namespace": "monitoring"}}
    )
    before = api_server.state()
    for example, expected_count in zip(EXAMPLES, (13, 13), strict=True):
        options = {**example["volcano.colocation.scheduler_config"], "kubeconfig": kubeconfig}
        result = run(api_server, options)
        assert (len(result["changes"]), result["unsupported"]) == (expected_count - 1, [])
        assert {finding["severity"] for finding in result["findings"]} <= {"info"}
        assert not run(api_server, options)["changed"]
    assert api_server.state() == before


def test_a_source_of_metrics_that_stands_in_the_configuration_has_to_be_there_too(kubeconfig: str) -> None:
    api_server = server()
    conf = api_server.get("ConfigMap", MAP, SPACE)
    assert conf
    api_server.add({**conf, "data": {KEY: TEXT + "metrics:\n  type: prometheus\n  address: http://p.m.svc:9090\n"}})
    options = {"kubeconfig": kubeconfig, "cluster_uid": UID}
    result = run(api_server, {**options, "usage": {"cpu": 60}})
    assert "the metrics' address is http://p.m.svc:9090, and the cluster has no Service m/p" in result["msg"]
    assert api_server.writes == []
    assert run(api_server, options)["changed"]
    api_server.add({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "p", "namespace": "m"}})
    assert run(api_server, {**options, "usage": {"cpu": 60}})["changed"]
    assert "name: usage" in text(api_server)


def test_a_password_in_the_configuration_is_not_shown(kubeconfig: str) -> None:
    api_server = server()
    conf = api_server.get("ConfigMap", MAP, SPACE)
    assert conf
    api_server.add({**conf, "data": {KEY: TEXT + "metrics:\n  password: hunter2\n"}})
    result = run(api_server, {"kubeconfig": kubeconfig, "cluster_uid": UID})
    assert "hunter2" in text(api_server)
    assert "hunter2" not in str(result)


def test_the_findings_have_their_remedies(kubeconfig: str) -> None:
    (finding,) = run(server(), {"kubeconfig": kubeconfig, "cluster_uid": UID})["findings"]
    assert (finding["code"], finding["severity"]) == ("scheduler-enqueue-blocks-preempt", "warning")
    assert finding["remedy"].startswith("Remove enqueue")


def test_reclaim_lets_the_queues_of_a_cluster_take_from_each_other(kubeconfig: str) -> None:
    api_server = server()
    for name in ("root", "default", "online"):
        spec = {"reclaimable": name == "default"}
        api_server.add({"apiVersion": QUEUES, "kind": "Queue", "metadata": {"name": name}, "spec": spec})
    options: dict[str, Any] = {"kubeconfig": kubeconfig, "cluster_uid": UID, "dropped_actions": ["enqueue"]}
    (finding,) = run(api_server, options)["findings"]
    assert (finding["code"], finding["evidence"][1]) == (
        "scheduler-online-jobs-can-starve",
        "queues = default, online",
    )
    options["queues"] = [{"name": "default"}]
    result = run(api_server, {**options, "reclaim": True})
    assert (result["findings"], "backfill, preempt, reclaim" in text(api_server)) == ([], True)
    assert not run(api_server, {**options, "reclaim": True})["changed"]
    assert not run(api_server, options)["changed"]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no cluster named": ({**DESIRED, "cluster_uid": ""}, f"set cluster_uid: {UID}"),
    "another cluster": (
        {**DESIRED, "cluster_uid": "x"},
        f"leads to the cluster {UID}, and cluster_uid is x",
    ),
    "threshold": ({**DESIRED, "usage": {"cpu": 101}}, "usage.cpu: 101 is not a percentage from 0 to 100"),
    "watermarks": ({**DESIRED, "watermarks": {"cpu_low": 90}}, "watermarks.cpu_low: 90 is not below cpu_high, 80"),
    "address": ({**DESIRED, "metrics": {}}, "metrics.address: it is empty; prometheus needs one"),
    "service": (
        {**DESIRED, "metrics": {"address": "http://p.m.svc:9090"}},
        "the metrics' address is http://p.m.svc:9090, and the cluster has no Service m/p",
    ),
    "class": (
        {**DESIRED, "priority_classes": [{"name": "system-x", "value": 1}]},
        "admission.levels[0].priority_class",
    ),
    "queue": ({**DESIRED, "queues": [{"name": "a", "parent": "b"}]}, "a: its parent b is not a queue"),
    "an old Volcano": (DESIRED, "The scheduler's release is 1.8"),
    "reclaim": (
        {**DESIRED, "reclaim": True, "dropped_actions": ["reclaim"]},
        "dropped_actions: it names reclaim, which reclaim: true adds",
    ),
    "weight": ({**DESIRED, "binpack": {"cpu": -1}}, "binpack.cpu: -1 is negative"),
    "namespace": ({**DESIRED, "namespace": "elsewhere"}, "missing: Deployment elsewhere/volcano-scheduler"),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("check", [True, False])
def test_bad_input_is_refused_before_the_first_change(kubeconfig: str, name: str, check: bool) -> None:
    options, message = REFUSED[name]
    if name == "class":
        options = {**options, "admission": None}
        message = "priority_classes[0].name: system-x: names with system- are reserved"
    api_server = server()
    if name == "an old Volcano":
        api_server.add(deployment("volcanosh/vc-scheduler:v1.8.2"))
    before = api_server.state()
    result = run(api_server, {**options, "kubeconfig": kubeconfig}, check=check)
    assert result["failed"]
    assert message in result["msg"]
    assert (api_server.state(), api_server.writes) == (before, [])


@pytest.mark.parametrize("check", [True, False])
def test_missing_verbs_are_named_before_the_first_change(kubeconfig: str, check: bool) -> None:
    api_server = server(denied=("create queues", "patch configmaps"))
    result = run(api_server, {**DESIRED, "kubeconfig": kubeconfig}, check=check)
    assert result["failed"]
    assert "may not create queues.scheduling.volcano.sh; patch configmaps volcano-scheduler-conf" in result["msg"]
    assert api_server.writes == []


@pytest.mark.parametrize("cut", range(9))
def test_a_run_that_is_cut_off_is_completed_by_the_next_and_can_be_put_back(kubeconfig: str, cut: int) -> None:
    options = {**DESIRED, "kubeconfig": kubeconfig}
    back = {"kubeconfig": kubeconfig, "cluster_uid": UID, "state": "restored"}
    api_server = server(cut=cut)
    before = api_server.state()
    assert run(api_server, options)["failed"]
    api_server.cut = None
    if cut % 2:
        assert "failed" not in run(api_server, options)
        assert text(api_server) == WRITTEN
    run(api_server, back)
    assert api_server.state() == before


def test_a_faster_writer_wins_and_is_not_overwritten(kubeconfig: str) -> None:
    api_server = server()
    serves = api_server.serves

    def late(api_version: str, kind: str) -> bool:
        if kind == "PriorityClass":
            conf = api_server.get("ConfigMap", MAP, SPACE)
            assert conf
            api_server.add({**conf, "data": {KEY: TEXT + "# faster\n"}})
        return serves(api_version, kind)

    api_server.serves = late  # type: ignore[method-assign]
    result = run(api_server, {**DESIRED, "kubeconfig": kubeconfig})
    assert "another client changed it after it was read" in result["msg"]
    assert text(api_server) == TEXT + "# faster\n"


def test_a_kubeconfig_that_is_not_there_is_named() -> None:
    result = run(server(), {"kubeconfig": "/nowhere.conf", "cluster_uid": UID})
    assert result["msg"] == (
        "/nowhere.conf is not a file. Nothing was changed. Give the kubeconfig's path on the controller."
    )
