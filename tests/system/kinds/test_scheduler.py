# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role scheduler on a real API server: refused, installed, shown, done, put back, taken away. In this order.

Volcano itself is not there: its CRDs and its Deployment are stand-ins with upstream's names and fields.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.system.kinds.apiserver import ApiServer, up
from ansible_collections.volcano.colocation.tests.system.node import Run, ansible, lab
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
WANTED: dict[str, Any] = {
    "colocation_scheduler_dropped_actions": ["enqueue"],
    "colocation_scheduler_usage": {"cpu": 60, "memory": 60},
    "colocation_queues": [{"name": "offline", "weight": 1, "reclaimable": True, "capability": {"cpu": "4"}}],
    "colocation_admission": {"levels": [{"level": "BE", "priority_class": "colocation-be"}]},
}
CLASSES = ("colocation-be", "colocation-hls", "colocation-ls")


def access() -> list[dict[str, Any]]:
    """A binding before the role that it binds, and an account: what no stand-in needs, and every manifest has."""
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
def _server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    server = up(tmp_path_factory.mktemp("scheduler"))
    yield server
    lab("cluster", "down")


def manifest(server: ApiServer) -> dict[str, Any]:
    """The variables of an installation whose queue comes before its CRD, and whose namespace nobody has made."""
    queue = {"apiVersion": f"{GROUP}/{STORED}", "kind": "Queue", "metadata": {"name": "brought"}, "spec": {"weight": 1}}
    text = "\n---\n".join(map(json.dumps, [queue, *access(), *volcano()]))
    path = server.folder / "volcano.yaml"
    path.write_text(text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {"colocation_volcano_manifest": str(path), "colocation_volcano_manifest_sha256": digest}


def everything(server: ApiServer) -> set[str]:
    """The names of all that a manifest may make."""
    kinds = "namespaces,crds,clusterroles,clusterrolebindings,configmaps,deployments.apps,serviceaccounts"
    found = server.kubectl("get", kinds, "-A", "-o", "name").split()
    return {each for each in found if "volcano" in each or "brought" in each}


def play(server: ApiServer, *arguments: str, entry: str = "main", **variables: Any) -> Run:
    role = {"name": "volcano.colocation.scheduler", "tasks_from": entry}
    tasks = [{"name": "Set up", "ansible.builtin.import_role": role}]
    (server.folder / "scheduler.yml").write_text(
        json.dumps([{"name": "Set up", "hosts": "localhost", "gather_facts": False, "tasks": tasks}])
    )
    given = {"colocation_kubeconfig": server.kubeconfig, "ansible_python_interpreter": sys.executable, **variables}
    return ansible("scheduler.yml", server.folder, "-i", "localhost,", "-c", "local", *arguments, **given)


def uid(server: ApiServer) -> str:
    return server.kubectl("get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}")


def get(server: ApiServer, *words: str) -> Any:
    said = server.kubectl("get", *words, "-o", "json", "--ignore-not-found")
    return json.loads(said) if said else None


def text(server: ApiServer) -> str:
    found: str = get(server, "configmap", MAP, "-n", SPACE)["data"][KEY]
    return found


def state(server: ApiServer) -> dict[str, Any]:
    """All that the role may touch, without what the API server counts itself."""
    kept = [get(server, "configmap", name, "-n", SPACE) for name in (MAP, "volcano-colocation-scheduler")]
    lists = [get(server, kind) for kind in ("priorityclasses", f"queues.{GROUP}")]
    objects = [each for each in kept if each] + [each for found in lists if found for each in found["items"]]
    return {
        f"{each['kind']} {each['metadata']['name']}": {key: each[key] for key in each if key != "metadata"}
        for each in objects
    }


def changes(run: Run) -> set[str]:
    """The headers of the diff: which objects it shows."""
    return {line for line in run.output.splitlines() if line.startswith(("--- before", "+++ after"))}


def test_a_cluster_without_volcano_is_refused_and_all_that_is_missing_is_named(server: ApiServer) -> None:
    run = play(server, colocation_cluster_uid=uid(server), **WANTED)
    assert run.code != 0
    for each in ("queues.scheduling.volcano.sh", f"Deployment {SPACE}/volcano-scheduler", f"ConfigMap {SPACE}/{MAP}"):
        assert each in run.output
    assert get(server, "priorityclass", CLASSES[0]) is None


def test_volcano_is_installed_from_a_manifest_and_then_there_is_nothing_left_to_do(server: ApiServer) -> None:
    wanted = {**manifest(server), "colocation_cluster_uid": uid(server)}
    before = everything(server)
    other = play(server, entry="install", **{**wanted, "colocation_volcano_manifest_sha256": "0" * 64})
    assert other.code != 0
    assert "has the sha256" in other.output
    checked = play(server, "--check", "--diff", entry="install", **wanted)
    assert checked.code == 0, checked.output
    assert everything(server) == before

    done = play(server, "--diff", entry="install", **wanted)
    assert done.code == 0, done.output
    assert changes(done) == changes(checked) != set()
    assert get(server, f"queues.{GROUP}", "brought")["spec"] == {"weight": 1}
    assert text(server) == TEXT

    again = play(server, entry="install", **wanted)
    assert (again.code, again.recap("localhost")["changed"]) == (0, 0), again.output


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({}, "set colocation_cluster_uid: "),
        ({"colocation_cluster_uid": "00000000-0000-4000-8000-000000000001"}, "The kubeconfig leads to the cluster"),
        ({"colocation_scheduler_usage": {"cpu": 101, "memory": 60}}, "101"),
        ({"colocation_queues": [{"name": "a", "parent": "nobody"}]}, "a: its parent nobody is no queue"),
    ],
)
def test_what_cannot_be_is_refused_before_the_first_change(
    server: ApiServer, variables: dict[str, Any], told: str
) -> None:
    before = state(server)
    meant = {} if not variables else {"colocation_cluster_uid": uid(server)}
    run = play(server, **{**WANTED, **meant, **variables})
    assert run.code != 0
    assert told in run.output
    assert state(server) == before


def test_check_then_the_run_then_nothing_then_back(server: ApiServer) -> None:
    before = state(server)
    wanted = {**WANTED, "colocation_cluster_uid": uid(server)}
    checked = play(server, "--check", "--diff", **wanted)
    assert checked.code == 0, checked.output
    assert state(server) == before

    done = play(server, "--diff", **wanted)
    assert done.code == 0, done.output
    assert changes(done) == changes(checked) != set()
    assert done.recap("localhost")["changed"] == checked.recap("localhost")["changed"] == 1
    assert text(server) == WRITTEN + TEXT.split("- plugins:\n")[2]
    assert "ValidatingAdmissionPolicy" in done.output
    be = get(server, "priorityclass", "colocation-be")
    assert (be["value"], be["preemptionPolicy"]) == (-100000, "Never")
    offline = get(server, f"queues.{GROUP}", "offline")
    assert offline["spec"] == {"weight": 1, "reclaimable": True, "capability": {"cpu": "4"}}

    after = state(server)
    again = play(server, **wanted)
    assert (again.code, again.recap("localhost")["changed"]) == (0, 0), again.output
    assert state(server) == after

    shown = play(server, "--check", entry="restore", colocation_cluster_uid=uid(server))
    assert (shown.code, shown.recap("localhost")["changed"]) == (0, 1), shown.output
    assert state(server) == after
    back = play(server, entry="restore", colocation_cluster_uid=uid(server))
    assert back.code == 0, back.output
    assert state(server) == before
    assert text(server) == TEXT
    assert play(server, entry="restore", colocation_cluster_uid=uid(server)).recap("localhost")["changed"] == 0


def test_what_was_written_since_outlives_the_next_installation(server: ApiServer) -> None:
    wanted = {**WANTED, **manifest(server), "colocation_cluster_uid": uid(server)}
    assert play(server, **wanted).code == 0
    written = text(server)
    assert written != TEXT
    again = play(server, **wanted)
    assert (again.code, again.recap("localhost")["changed"]) == (0, 0), again.output
    assert f"ConfigMap {SPACE}/{MAP}: data.{KEY}" in again.output
    assert text(server) == written
    assert play(server, entry="restore", colocation_cluster_uid=uid(server)).code == 0


def test_nothing_is_left_when_all_is_taken_away(server: ApiServer) -> None:
    wanted = {"colocation_cluster_uid": uid(server), "colocation_volcano_remove_crds": True}
    held = everything(server)
    shown = play(server, "--check", entry="uninstall", **wanted)
    assert (shown.code, shown.recap("localhost")["changed"]) == (0, 1), shown.output
    assert everything(server) == held
    gone = play(server, entry="uninstall", **wanted)
    assert gone.code == 0, gone.output
    assert everything(server) == set()
    assert play(server, entry="uninstall", **wanted).recap("localhost")["changed"] == 0
