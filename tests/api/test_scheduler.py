# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role scheduler on a real API server: refusals, installation, check mode, runs, restore, removal, in this order.

Volcano's programs do not run: its CRDs and its Deployment are stand-ins with upstream's names and fields.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.api_errors import ApiError, ErrorContext
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.dynamic_client import Client
from ansible_collections.volcano.colocation.tests.api.apiserver import ApiServer
from ansible_collections.volcano.colocation.tests.lab.cluster import components, control_plane
from ansible_collections.volcano.colocation.tests.lab.cluster.second_api_server import second_api_server
from ansible_collections.volcano.colocation.tests.system.node import Run, Runner, ansible, ansible_process
from ansible_collections.volcano.colocation.tests.system.volcano import GROUP, KEY, MAP, SPACE, STORED, TEXT, volcano

WRITTEN = """\
actions: "allocate, backfill, preempt"   # as the chart has it
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
    enableJobStarving: false
  - name: conformance
  - name: usage
    arguments:
      thresholds:
        cpu: 60
        mem: 60
- plugins:
"""
OPTIONS: dict[str, Any] = {
    "colocation_scheduler_dropped_actions": ["enqueue"],
    "colocation_scheduler_usage": {"cpu": 60, "memory": 60},
    "colocation_queues": [{"name": "offline", "weight": 1, "reclaimable": True, "capability": {"cpu": "4"}}],
    "colocation_admission": {"levels": [{"level": "BE", "priority_class": "colocation-be"}]},
}
CLASSES = ("colocation-be", "colocation-hls", "colocation-ls")
POLICIES = {
    "MutatingAdmissionPolicy": "volcano-colocation-be",
    "ValidatingAdmissionPolicy": "volcano-colocation-levels",
}
ENDS = ("", "Binding")
KINDS = (
    "priorityclasses",
    f"queues.{GROUP}",
    "mutatingadmissionpolicies",
    "mutatingadmissionpolicybindings",
    "validatingadmissionpolicies",
    "validatingadmissionpolicybindings",
)
"""Kinds without a namespace of which the role creates or changes objects."""

NEEDED = "namespaces,crds,clusterroles,clusterrolebindings,configmaps,deployments.apps,serviceaccounts"
"""Kinds that a manifest may hold."""


def access() -> list[dict[str, Any]]:
    """A binding before its role, and a ServiceAccount, as in every manifest."""
    account = {"kind": "ServiceAccount", "name": "volcano-scheduler", "namespace": SPACE}
    rbac, name = "rbac.authorization.k8s.io", {"name": "volcano-scheduler-stand-in"}
    role = {"apiGroup": rbac, "kind": "ClusterRole", **name}
    rules = [{"apiGroups": [GROUP], "resources": ["queues"], "verbs": ["get", "list"]}]
    head = {"apiVersion": f"{rbac}/v1", "metadata": name}
    return [
        {**head, "kind": "ClusterRoleBinding", "roleRef": role, "subjects": [account]},
        {**head, "kind": "ClusterRole", "rules": rules},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": account["name"], "namespace": SPACE}},
    ]


@pytest.fixture(scope="module", name="server")
def _server(api_server: Callable[[str], ApiServer]) -> ApiServer:
    server = api_server("scheduler")
    # An earlier module has deleted it, and the controllers may not have finished yet.
    server.kubectl("wait", "--for=delete", f"namespace/{SPACE}", "--timeout=60s")
    return server


def without_mutating_policies(argv: Sequence[str], *more: str) -> tuple[str, ...]:
    """The arguments of an API server without the features that the lab enables, and with others."""
    enabled = {f"--{name}={value}" for name, value in components.MUTATING_POLICIES.items()}
    return (*(word for word in argv if word not in enabled), *more)


def without_policies(argv: Sequence[str]) -> tuple[str, ...]:
    """The same without ValidatingAdmissionPolicies, as before Kubernetes 1.30."""
    served = [f"admissionregistration.k8s.io/v1/validatingadmissionpol{end}=false" for end in ("icies", "icybindings")]
    # The plugin would wait for policies, and refuse all requests until it knows them.
    plugin = "--disable-admission-plugins=ValidatingAdmissionPolicy"
    return without_mutating_policies(argv, f"--runtime-config={','.join(served)}", plugin)


@pytest.fixture(name="server_by_default")
def _server_by_default(tmp_path: Path) -> Iterator[str]:
    """The kubeconfig of a second API server of the same cluster, without the features that the lab enables."""
    with second_api_server(control_plane.store().load(), tmp_path, without_mutating_policies) as kubeconfig:
        yield str(kubeconfig)


@pytest.fixture(name="server_without_policies")
def _server_without_policies(tmp_path: Path) -> Iterator[str]:
    """The kubeconfig of one that serves no admission policies."""
    with second_api_server(control_plane.store().load(), tmp_path, without_policies) as kubeconfig:
        yield str(kubeconfig)


def manifest(server: ApiServer) -> dict[str, Any]:
    """Variables of an installation whose queue comes before its CRD, and whose namespace does not exist."""
    queue = {"apiVersion": f"{GROUP}/{STORED}", "kind": "Queue", "metadata": {"name": "brought"}, "spec": {"weight": 1}}
    text = "\n---\n".join(map(json.dumps, [queue, *access(), *volcano()]))
    path = server.directory / "volcano.yaml"
    path.write_text(text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {"colocation_volcano_manifest": str(path), "colocation_volcano_manifest_sha256": digest}


def everything(server: ApiServer) -> set[str]:
    """The names of all objects that the manifest may create."""
    names = server.kubectl("get", NEEDED, "-A", "-o", "name").split()
    return {name for name in names if "volcano" in name or "brought" in name}


def play(server: ApiServer, *arguments: str, entry: str = "main", runner: Runner = ansible, **variables: Any) -> Run:
    role = {"name": "volcano.colocation.scheduler", "tasks_from": entry}
    tasks = [{"name": "Set up", "ansible.builtin.import_role": role}]
    options = {"colocation_kubeconfig": server.kubeconfig, **variables}
    return server.run({"name": "Set up", "tasks": tasks}, {"localhost": {}}, *arguments, runner=runner, **options)


def text(server: ApiServer) -> str:
    config_map = server.get("configmap", MAP, "-n", SPACE)
    assert config_map
    text: str = config_map["data"][KEY]
    return text


def state(server: ApiServer) -> dict[str, Any]:
    """All objects that the role may change, without the fields that the cluster's controllers set."""
    objects = server.items("configmaps", MAP, "volcano-colocation-scheduler", "-n", SPACE)
    objects += server.items(",".join(KINDS))
    return {
        f"{item['kind']} {item['metadata']['name']}": {
            key: item[key] for key in item if key not in ("metadata", "status")
        }
        for item in objects
    }


def changes(run: Run) -> set[str]:
    """The headers of the diff, which name its objects."""
    return {line for line in run.output.splitlines() if line.startswith(("--- before", "+++ after"))}


def test_a_cluster_without_volcano_is_refused_and_all_missing_parts_are_named(server: ApiServer) -> None:
    run = play(server, colocation_cluster_uid=server.uid, **OPTIONS)
    assert run.code != 0
    for missing in (
        "queues.scheduling.volcano.sh",
        f"Deployment {SPACE}/volcano-scheduler",
        f"ConfigMap {SPACE}/{MAP}",
    ):
        assert missing in run.output
    assert server.items("priorityclasses", *CLASSES) == []


def test_volcano_is_installed_from_a_manifest_and_a_second_run_changes_nothing(server: ApiServer) -> None:
    variables = {**manifest(server), "colocation_cluster_uid": server.uid}
    before = everything(server)
    other = play(server, entry="install", **{**variables, "colocation_volcano_manifest_sha256": "0" * 64})
    assert other.code != 0
    assert "has the sha256" in other.output
    checked = play(server, "--check", "--diff", entry="install", **variables)
    assert checked.code == 0, checked.output
    assert everything(server) == before

    done = play(server, "--diff", entry="install", **variables)
    assert done.code == 0, done.output
    assert changes(done) == changes(checked) != set()
    brought = server.get(f"queues.{GROUP}", "brought")
    assert brought
    assert brought["spec"] == {"weight": 1}
    assert text(server) == TEXT

    again = play(server, entry="install", **variables)
    assert (again.code, again.recap("localhost")["changed"]) == (0, 0), again.output


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({}, "set colocation_cluster_uid: "),
        ({"colocation_cluster_uid": "00000000-0000-4000-8000-000000000001"}, "The kubeconfig leads to the cluster"),
        ({"colocation_scheduler_usage": {"cpu": 101, "memory": 60}}, "101"),
        ({"colocation_queues": [{"name": "a", "parent": "missing"}]}, "a: its parent missing is not a queue"),
    ],
)
def test_an_impossible_target_is_refused_before_the_first_change(
    server: ApiServer, variables: dict[str, Any], message: str
) -> None:
    before = state(server)
    confirmed = {} if not variables else {"colocation_cluster_uid": server.uid}
    run = play(server, **{**OPTIONS, **confirmed, **variables})
    assert run.code != 0
    assert message in run.output
    assert state(server) == before


def test_a_kind_that_the_api_server_does_not_serve_is_skipped_and_named(
    server: ApiServer, server_by_default: str
) -> None:
    """Kubernetes 1.35 serves mutating policies only where they are enabled."""
    options: dict[str, Any] = {"colocation_cluster_uid": server.uid, "colocation_kubeconfig": server_by_default}
    run = play(server, "--check", "--diff", **OPTIONS, **options)
    assert run.code == 0, run.output
    assert "MutatingAdmissionPolicy: the API server does not serve" in run.output
    assert "ValidatingAdmissionPolicy: the API server does not serve" not in run.output
    assert [line for line in changes(run) if "ValidatingAdmissionPolicy" in line]
    assert not [line for line in changes(run) if "MutatingAdmissionPolicy" in line]


def test_where_rules_cannot_be_a_policy_existing_pods_are_checked(
    server: ApiServer, server_without_policies: str
) -> None:
    wrong, right = (pod("BE", **requests) for requests in ({"cpu": "1"}, {}))
    wrong["metadata"]["name"], right["metadata"]["name"] = "wrong", "right"
    server.create([wrong, right])
    options: dict[str, Any] = {"colocation_cluster_uid": server.uid, "colocation_kubeconfig": server_without_policies}
    try:
        run = play(server, "--check", "--diff", **OPTIONS, **options)
    finally:
        server.kubectl("delete", "pod", "wrong", "right", "--now")
    assert run.code == 0, run.output
    assert "ValidatingAdmissionPolicy: the API server does not serve" in run.output
    assert not [line for line in changes(run) if "AdmissionPolicy" in line]
    assert "2 pods with a level were checked, 1 of them break a rule." in run.output
    (line,) = [line for line in run.output.splitlines() if "Pods: default/wrong" in line]
    assert "BE: only oversubscribed resources may be asked for" in line
    assert "default/right" not in run.output


def test_check_mode_the_run_a_second_run_and_the_restore(server: ApiServer) -> None:
    """Each run is a process of ansible-playbook."""
    run = partial(play, server, runner=ansible_process, colocation_cluster_uid=server.uid)
    before = state(server)
    checked = run("--check", "--diff", **OPTIONS)
    assert checked.code == 0, checked.output
    assert state(server) == before

    done = run("--diff", **OPTIONS)
    assert done.code == 0, done.output
    assert changes(done) == changes(checked) != set()
    assert done.recap("localhost")["changed"] == checked.recap("localhost")["changed"] == 1
    assert text(server) == WRITTEN + TEXT.split("- plugins:\n")[2]
    after = state(server)
    be = after["PriorityClass colocation-be"]
    assert (be["value"], be["preemptionPolicy"]) == (-100000, "Never")
    assert {f"{kind}{end} {name}" for kind, name in POLICIES.items() for end in ENDS} <= {*after}
    assert after["Queue offline"]["spec"] == {"weight": 1, "reclaimable": True, "capability": {"cpu": "4"}}

    again = run(**OPTIONS)
    assert (again.code, again.recap("localhost")["changed"]) == (0, 0), again.output
    assert state(server) == after

    checked_restore = run("--check", entry="restore")
    assert (checked_restore.code, checked_restore.recap("localhost")["changed"]) == (0, 1), checked_restore.output
    assert state(server) == after
    back = run(entry="restore")
    assert back.code == 0, back.output
    assert state(server) == before
    assert text(server) == TEXT
    assert run(entry="restore").recap("localhost")["changed"] == 0


def pod(level: str, **requests: str) -> dict[str, Any]:
    container = {"name": "main", "image": "localhost/lab/busybox:1", "resources": {"requests": requests}}
    annotations = {"volcano.sh/qos-level": level}
    metadata = {"name": "trial", "namespace": "default", "annotations": annotations}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}


def admit(server: ApiServer, pod: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The spec of a pod as the API server would store it, {} if it refuses the pod; and its reason."""
    client = Client(ErrorContext(server.kubeconfig, "docs/scheduler.md"), dry_run=True)
    try:
        return client.create(pod)["spec"], ""
    except ApiError as error:
        return {}, error.reason


def test_the_api_server_gives_pods_the_defaults_of_their_level_and_refuses_others(server: ApiServer) -> None:
    run = play(server, **OPTIONS, colocation_cluster_uid=server.uid)
    assert run.code == 0, run.output
    deadline = time.monotonic() + 30
    while (refused := admit(server, pod("BE", cpu="1")))[0]:
        assert time.monotonic() < deadline, "the policy does not take effect"
        time.sleep(0.2)
    assert "BE: only oversubscribed resources may be asked for" in refused[1]
    while not (admitted := admit(server, pod("BE"))[0]).get("priorityClassName"):
        assert time.monotonic() < deadline, "the policy does not take effect"
        time.sleep(0.2)
    fields = ("schedulerName", "priorityClassName", "priority", "preemptionPolicy")
    assert [admitted[field] for field in fields] == ["volcano", "colocation-be", -100000, "Never"]
    assert admit(server, pod("LS", cpu="1"))[0]["schedulerName"] == "default-scheduler"
    assert "the QoS level is none of" in admit(server, pod("XL"))[1]


def test_the_edited_configuration_survives_the_next_installation(server: ApiServer) -> None:
    variables = {**OPTIONS, **manifest(server), "colocation_cluster_uid": server.uid}
    assert play(server, **variables).code == 0
    written = text(server)
    assert written != TEXT
    again = play(server, **variables)
    assert (again.code, again.recap("localhost")["changed"]) == (0, 0), again.output
    assert f"ConfigMap {SPACE}/{MAP}: data.{KEY}" in again.output
    assert text(server) == written
    assert play(server, entry="restore", colocation_cluster_uid=server.uid).code == 0


def test_the_removal_leaves_nothing(server: ApiServer) -> None:
    variables: dict[str, Any] = {"colocation_cluster_uid": server.uid, "colocation_volcano_remove_crds": True}
    existing = everything(server)
    checked = play(server, "--check", entry="uninstall", **variables)
    assert (checked.code, checked.recap("localhost")["changed"]) == (0, 1), checked.output
    assert everything(server) == existing
    done = play(server, entry="uninstall", **variables)
    assert done.code == 0, done.output
    assert everything(server) == set()
    assert play(server, entry="uninstall", **variables).recap("localhost")["changed"] == 0
