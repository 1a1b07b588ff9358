# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked of an API server for the agent, and what is said when it does not answer as hoped.

The answers are those of kubernetes.core's modules; what a real server says is for tests on the lab's cluster.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.journal import Journal, written
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.objects import namespace
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.steps import (
    Step,
    Verb,
    create_or_replace,
    delete,
    merge,
    node_labels,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.controller.agent_cluster import AgentCluster
from ansible_collections.volcano.colocation.plugins.plugin_utils.kubeadm.model import ClusterError

SPACE = "volcano-system"
NODE = {
    "metadata": {"name": "n1", "labels": {"zone": "a"}, "resourceVersion": "7"},
    "spec": {"taints": [{"key": "x", "effect": "NoSchedule"}]},
    "status": {
        "nodeInfo": {"bootID": "b", "machineID": "m", "kubeletVersion": "v1.30.1"},
        "capacity": {"cpu": "2", "kubernetes.io/batch-cpu": "900"},
    },
}
SET = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "d", "namespace": SPACE}}
FORBIDDEN = {"failed": True, "msg": 'Failed: {"kind":"Status","reason":"Forbidden","code":403}'}


@dataclass
class Server:
    """Answers by kind and name; all that was asked and sent is kept."""

    found: Mapping[tuple[str, str | None], dict[str, Any]] = field(default_factory=dict)
    refuses: str = ""
    sent: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if name == "kubernetes.core.k8s_info":
            key = (arguments["kind"], arguments.get("name"))
            if key[0] == self.refuses:
                return FORBIDDEN
            return self.found.get(key, {"resources": [], "api_found": True})
        self.sent.append(arguments)
        return FORBIDDEN if arguments["definition"]["kind"] == self.refuses else {"changed": True}


def cluster(server: Server, **different: Any) -> AgentCluster:
    return replace(AgentCluster(server, "/k.conf"), **different)


def resources(*found: Mapping[str, Any]) -> dict[str, Any]:
    return {"resources": list(found), "api_found": True}


def test_all_that_a_plan_needs_is_read() -> None:
    journal = written(Journal(labels={"n1": {"a": None}}), SPACE)
    answers = {
        ("Node", None): resources(NODE),
        ("DaemonSet", None): resources({"kind": "DaemonSet", "metadata": SET["metadata"]}),
        ("ConfigMap", "volcano-colocation-agent"): resources(journal),
        ("Role", "volcano-colocation-agent"): resources(
            {"kind": "Role", "metadata": {"name": "r", "namespace": SPACE}}
        ),
        ("ColocationConfiguration", None): {"resources": [], "api_found": False},
    }
    seen = cluster(Server(answers)).agent_seen()
    (node,) = seen.nodes
    assert (node.name, node.identity.boot_id, node.labels, node.version) == ("n1", "b", {"zone": "a"}, "7")
    assert node.reported == {"kubernetes.io/batch-cpu": "900"}
    assert set(seen.objects) == {("DaemonSet", SPACE, "d"), ("Role", SPACE, "r")}
    assert seen.daemon_sets[0]["apiVersion"] == "apps/v1"
    assert seen.journal == Journal(labels={"n1": {"a": None}})
    assert (seen.namespace, seen.config_map, seen.configurations) == (False, None, None)


def test_a_crd_without_objects_is_there() -> None:
    assert cluster(Server()).agent_seen().configurations == ()


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        ("Node", "list nodes"),
        ("DaemonSet", "list daemonsets"),
        ("ClusterRole", "get clusterroles volcano-colocation-agent"),
        ("Role", "get roles volcano-colocation-agent in volcano-system"),
        ("ColocationConfiguration", "list colocationconfigurations"),
    ],
)
def test_a_missing_verb_is_named(kind: str, what: str) -> None:
    with pytest.raises(ClusterError) as refused:
        cluster(Server(refuses=kind)).agent_seen()
    assert str(refused.value) == f"The user of /k.conf may not {what}. Nothing was changed. Grant it."


STEPS = (
    create_or_replace(None, namespace(SPACE)),
    node_labels("n1", {}, {"a": "b"}),
    merge({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": SPACE}}, "", ""),
    Step(Verb.REPLACE, SET, None, None),
    delete(SET),
)


def test_each_step_is_sent_in_its_way() -> None:
    server = Server()
    cluster(server).carry_out(STEPS)
    ways = [
        {key: value for key, value in each.items() if key not in ("definition", "kubeconfig")} for each in server.sent
    ]
    assert ways == [
        {"state": "present"},
        {"state": "patched", "merge_type": ["merge"]},
        {"state": "patched", "merge_type": ["merge"]},
        {"state": "present", "force": True},
        {
            "state": "absent",
            "delete_options": {"propagationPolicy": "Foreground"},
            "wait": True,
            "wait_timeout": 180,
        },
    ]
    assert [each["definition"]["kind"] for each in server.sent] == [step.target[0] for step in STEPS]


def test_a_dry_run_leaves_out_what_needs_a_namespace_that_is_not_there() -> None:
    server = Server()
    cluster(server, dry_run=True).carry_out(STEPS)
    assert [each["definition"]["kind"] for each in server.sent] == ["Namespace", "Node"]


def test_a_step_that_fails_says_what_was_done_before() -> None:
    with pytest.raises(ClusterError) as refused:
        cluster(Server(refuses="ConfigMap")).carry_out(STEPS)
    assert str(refused.value) == (
        "The user of /k.conf may not patch ConfigMap volcano-system/c."
        " 2 of 5 steps were done before it, and a further run goes on. Grant it."
    )
    with pytest.raises(
        ClusterError, match=r"may not create Namespace volcano-system\. Nothing was changed\. Grant it\."
    ):
        cluster(Server(refuses="Namespace")).carry_out(STEPS)


class Api(BaseHTTPRequestHandler):
    """Keeps what it gets, and answers as an API server does."""

    asked: list[dict[str, Any]]
    code = 200

    def do_PATCH(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append({"path": self.path, "type": self.headers["Content-Type"], "body": body})
        self.send_response(self.code)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        answer = {"kind": "Node", "metadata": {"name": "n1"}} if self.code == 200 else {"code": self.code}
        self.wfile.write(json.dumps(answer, separators=(",", ":")).encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


@pytest.fixture
def api(tmp_path: Path) -> Iterator[tuple[type[Api], str]]:
    class Kept(Api):
        asked: list[dict[str, Any]] = []  # noqa: RUF012 - one list for one test

    server = HTTPServer(("127.0.0.1", 0), Kept)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    path = tmp_path / "kubeconfig"
    path.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "x",
                "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
                "clusters": [{"name": "x", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
                "users": [{"name": "x", "user": {}}],
            }
        ),
        encoding="utf-8",
    )
    yield Kept, str(path)
    server.shutdown()
    server.server_close()


GONE = Step(
    Verb.STATUS,
    {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1"},
        "status": {"capacity": {"kubernetes.io/batch-cpu": None}},
    },
    None,
    None,
)


@pytest.mark.parametrize(("dry_run", "path"), [(False, "/status"), (True, "/status?dryRun=All")])
def test_reported_resources_are_taken_out_of_the_subresource(
    api: tuple[type[Api], str], dry_run: bool, path: str
) -> None:
    handler, kubeconfig = api
    replace(cluster(Server()), kubeconfig=kubeconfig, dry_run=dry_run).send(GONE)
    (asked,) = handler.asked
    assert asked["path"] == f"/api/v1/nodes/n1{path}"
    assert asked["type"] in ("application/strategic-merge-patch+json", "application/merge-patch+json")
    assert asked["body"]["status"] == {"capacity": {"kubernetes.io/batch-cpu": None}}


def test_a_missing_verb_of_the_subresource_is_named(api: tuple[type[Api], str]) -> None:
    handler, kubeconfig = api
    handler.code = 403
    with pytest.raises(ClusterError, match=r"may not patch nodes/status n1\. Nothing was changed\."):
        replace(cluster(Server()), kubeconfig=kubeconfig).send(GONE)
