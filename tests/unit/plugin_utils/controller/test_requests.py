# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects are looked at and written by real requests; what a real server says is for tests on the lab's cluster."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.controller.requests import LOOK, WRITE, Objects
from ansible_collections.volcano.colocation.plugins.plugin_utils.controller.rest import Rest
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rollout.cluster import kubeconfig

KINDS = {
    "/api/v1": [("ConfigMap", "configmaps", True), ("Node", "nodes", False), ("Node", "nodes/status", False)],
    "/apis/apps/v1": [("DaemonSet", "daemonsets", True)],
    "/apis/authorization.k8s.io/v1": [("SelfSubjectAccessReview", "selfsubjectaccessreviews", False)],
}
MAPS = "/api/v1/namespaces/default/configmaps"
FOUND = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "default"}}


class Server:
    """``objects`` by path; ``log`` of what was asked, ``sent`` the last body with its type."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Any]] = {}
        self.log: list[str] = []
        self.sent: tuple[str, Any] = ("", None)
        self.says: dict[str, int] = {}
        self.kinds = dict(KINDS)

    def answer(self, method: str, place: str, kind: str, body: Any) -> tuple[int, dict[str, Any]]:
        path = place.partition("?")[0]
        self.log.append(f"{method} {place}")
        self.sent = (kind, body) if body else self.sent
        if method in self.says:
            return self.says[method], {"message": f"no {method}"}
        if path in self.kinds:
            listed = [{"kind": kind, "name": name, "namespaced": spaced} for kind, name, spaced in self.kinds[path]]
            return 200, {"resources": listed}
        if method == "POST":
            return 201, body
        found = self.objects.get(path.removesuffix("/status"))
        if method == "GET" and found is None and path.rpartition("/")[2] in ("configmaps", "nodes"):
            return 200, {"items": [each for at, each in self.objects.items() if at.startswith(path)]}
        if found is None:
            return 404, {"message": f"{path} not found"}
        if method == "DELETE" and "dryRun" not in body:
            del self.objects[path]
        return 200, body if method in ("PUT", "PATCH") else found


@pytest.fixture(name="server")
def _server() -> Server:
    return Server()


@pytest.fixture(name="rest")
def _rest(server: Server, tmp_path: Path) -> Iterator[Rest]:
    class Handler(BaseHTTPRequestHandler):
        def _do(self) -> None:
            text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            kind = self.headers.get("Content-Type") or ""
            status, found = server.answer(self.command, self.path, kind, json.loads(text or b"null"))
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(found).encode())

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _do

        def log_message(self, *_arguments: Any) -> None:
            """Nothing."""

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=httpd.serve_forever, args=(0.02,), daemon=True).start()
    yield Rest(str(kubeconfig(tmp_path, f"http://127.0.0.1:{httpd.server_port}")))
    httpd.shutdown()
    httpd.server_close()


def objects(rest: Rest, *, dry_run: bool = False) -> Objects:
    return Objects(rest, dry_run=dry_run, sleep=lambda _seconds: None)


def test_an_object_is_found_where_the_server_has_its_kind(server: Server, rest: Rest) -> None:
    server.objects[f"{MAPS}/c"] = FOUND
    ask = objects(rest)
    for _time in range(2):
        assert ask(LOOK, {"api_version": "v1", "kind": "ConfigMap", "name": "c"})["resources"] == [FOUND]
    assert server.log == ["GET /api/v1", f"GET {MAPS}/c", f"GET {MAPS}/c"]


def test_a_list_is_of_all_namespaces_or_of_one(server: Server, rest: Rest) -> None:
    ask = objects(rest)
    asked: dict[str, Any] = {"api_version": "v1", "kind": "ConfigMap"}
    assert ask(LOOK, asked) == {"api_found": True, "resources": []}
    ask(LOOK, {**asked, "namespace": "a", "label_selectors": ["x=y", "z"]})
    assert server.log[1:] == [
        "GET /api/v1/configmaps",
        "GET /api/v1/namespaces/a/configmaps?labelSelector=x%3Dy%2Cz",
    ]


def test_members_of_a_list_are_told_with_their_kind(server: Server, rest: Rest) -> None:
    server.objects["/api/v1/nodes/n1"] = {"metadata": {"name": "n1"}}
    found = objects(rest)(LOOK, {"api_version": "v1", "kind": "Node"})["resources"]
    assert found == [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}]


def test_what_is_not_there_is_no_failure(rest: Rest) -> None:
    ask = objects(rest)
    assert ask(LOOK, {"api_version": "v1", "kind": "Node", "name": "n"}) == {"api_found": True, "resources": []}
    for version, kind in (("batch/v9", "Job"), ("v1", "Secret")):
        found = ask(LOOK, {"api_version": version, "kind": kind})
        assert (found["api_found"], found["resources"]) == (False, [])


def test_a_kind_that_is_made_meanwhile_is_found(server: Server, rest: Rest) -> None:
    ask = objects(rest)
    asked = {"api_version": "batch/v1", "kind": "Job", "name": "j"}
    assert not ask(LOOK, asked)["api_found"]
    server.kinds["/apis/batch/v1"] = [("CronJob", "cronjobs", True)]
    assert not ask(LOOK, asked)["api_found"]
    server.kinds["/apis/batch/v1"] = [("CronJob", "cronjobs", True), ("Job", "jobs", True)]
    assert ask(LOOK, asked)["api_found"]


def test_what_is_not_there_is_made(server: Server, rest: Rest) -> None:
    made = objects(rest)(WRITE, {"definition": FOUND, "state": "present"})
    assert made["result"] == FOUND
    assert server.log[-1] == f"POST {MAPS}"
    assert server.sent == ("application/json", FOUND)


def test_what_is_there_is_merged_or_put_in_its_place(server: Server, rest: Rest) -> None:
    live = {**FOUND, "metadata": {**FOUND["metadata"], "resourceVersion": "9"}}  # type: ignore[dict-item]
    server.objects[f"{MAPS}/c"] = live
    objects(rest)(WRITE, {"definition": FOUND, "state": "present"})
    assert (server.log[-1], server.sent[0]) == (f"PATCH {MAPS}/c", "application/merge-patch+json")
    objects(rest)(WRITE, {"definition": FOUND, "state": "present", "force": True})
    assert server.log[-1] == f"PUT {MAPS}/c"
    assert server.sent[1]["metadata"]["resourceVersion"] == "9"


def test_a_patch_may_be_of_a_subresource(server: Server, rest: Rest) -> None:
    server.objects["/api/v1/nodes/n1"] = {}
    patch = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {"capacity": {"x": None}}}
    assert "result" in objects(rest)(WRITE, {"definition": patch, "state": "patched", "subresource": "status"})
    assert server.log[-1] == "PATCH /api/v1/nodes/n1/status"


@pytest.mark.parametrize("state", ["present", "patched", "absent"])
def test_a_dry_run_says_so_in_every_request_that_writes(server: Server, rest: Rest, state: str) -> None:
    server.objects[f"{MAPS}/c"] = FOUND
    objects(rest, dry_run=True)(WRITE, {"definition": FOUND, "state": state})
    if state == "absent":
        assert server.sent[1]["dryRun"] == ["All"], "where a server looks for it if there is a body"
    else:
        assert server.log[-1].endswith("?dryRun=All")
    assert server.objects


def test_whether_something_is_allowed_is_asked_in_earnest(server: Server, rest: Rest) -> None:
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "metadata": {}}
    assert objects(rest, dry_run=True)(WRITE, {"definition": review})["result"] == review
    assert server.log[-1] == "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


def test_what_is_taken_away_may_be_gone_already(server: Server, rest: Rest) -> None:
    options = {"delete_options": {"propagationPolicy": "Foreground"}, "wait": True, "wait_timeout": 10}
    assert objects(rest)(WRITE, {"definition": FOUND, "state": "absent", **options}) == {"result": {}}
    server.objects[f"{MAPS}/c"] = FOUND
    assert objects(rest)(WRITE, {"definition": FOUND, "state": "absent", **options}) == {"result": {}}
    assert server.sent[1]["propagationPolicy"] == "Foreground"
    assert server.log[-1] == f"GET {MAPS}/c"


def test_what_does_not_go_in_time_is_told(server: Server, rest: Rest) -> None:
    class Staying(dict[str, Any]):
        def __delitem__(self, _key: str) -> None:
            """A finalizer keeps it."""

    server.objects = Staying({f"{MAPS}/c": FOUND})
    found = objects(rest)(WRITE, {"definition": FOUND, "state": "absent", "wait": True, "wait_timeout": 6})
    assert found == {"failed": True, "status": 0, "msg": "it is still there 6 s after it was deleted"}


@pytest.mark.parametrize("status", [401, 403, 409, 422, 500])
@pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "PUT", "DELETE"])
def test_what_the_server_refuses_is_told_with_its_status(server: Server, rest: Rest, method: str, status: int) -> None:
    if method != "POST":
        server.objects[f"{MAPS}/c"] = {**FOUND, "metadata": {"resourceVersion": "1"}}
    ask = objects(rest)
    ask(LOOK, {"api_version": "v1", "kind": "ConfigMap"})
    server.says[method] = status
    state = {"DELETE": "absent", "PATCH": "patched"}.get(method, "present")
    found = ask(WRITE, {"definition": FOUND, "state": state, "force": method == "PUT"})
    assert (found["failed"], found["status"]) == (True, status)
    assert found["msg"].endswith(f": no {method}")


def test_a_kind_that_the_server_does_not_know_is_not_written(rest: Rest) -> None:
    found = objects(rest)(WRITE, {"definition": {**FOUND, "kind": "Thing"}})
    assert found["msg"] == "Failed to find its API: the API server knows no Thing in v1"


def test_nobody_answers(tmp_path: Path) -> None:
    ask = objects(Rest(str(kubeconfig(tmp_path, "http://127.0.0.1:9"))))
    found = ask(LOOK, {"api_version": "v1", "kind": "Node"})
    assert (found["failed"], found["status"]) == (True, 0)
    assert "api_found" not in found
