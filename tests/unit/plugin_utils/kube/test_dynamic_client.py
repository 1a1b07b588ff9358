# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests of the library to a small server; tests/api has tests with a real API server."""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube import dynamic_client as module
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.api_errors import (
    NO_ANSWER,
    NOT_FOUND,
    TOO_MANY,
    ApiError,
    ClusterError,
    ErrorContext,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.dynamic_client import Client
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.objects import Ref
from ansible_collections.volcano.colocation.tests.support.clusters.api_discovery import REVIEWS, Kinds, discover
from ansible_collections.volcano.colocation.tests.support.clusters.drain_api_server import kubeconfig

KINDS: Kinds = {
    "v1": {"configmaps": ("ConfigMap", True), "nodes": ("Node", False), "pods": ("Pod", True)},
    "apps/v1": {"daemonsets": ("DaemonSet", True)},
    "batch/v1": {"cronjobs": ("CronJob", True)},
    **REVIEWS,
}
MAPS = "/api/v1/namespaces/default/configmaps"
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "default"}}
MAP = Ref.of(CONFIG_MAP)


class Server:
    """``objects`` by path; ``log`` of the requests, ``sent`` the last body with its type.

    ``says``: statuses of the next responses by the beginning of their request, 0 for no response.
    """

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Any]] = {}
        self.log: list[str] = []
        self.sent: tuple[str, Any] = ("", None)
        self.token = ""
        self.says: dict[str, list[int]] = {}
        self.retry_after: str | None = "0"
        self.kinds = dict(KINDS)

    def respond(self, method: str, place: str, kind: str, body: Any) -> tuple[int, Any]:
        path = place.partition("?")[0]
        self.log.append(f"{method} {place}")
        self.sent = (kind, body) if body else self.sent
        for begin, statuses in self.says.items():
            if f"{method} {path}".startswith(begin) and statuses:
                return statuses.pop(0), {"message": f"no {method}"}
        discovered = discover(path, self.kinds)
        if discovered is not None:
            return 200, discovered
        if method == "POST":
            return 201, body
        live = self.objects.get(path.removesuffix("/status"))
        if method == "GET" and live is None and path.rpartition("/")[2] in ("configmaps", "nodes", "daemonsets"):
            return 200, {"items": [manifest for address, manifest in self.objects.items() if address.startswith(path)]}
        if live is None:
            return 404, {"message": f"{path} not found"}
        if method == "DELETE" and "dryRun" not in body:
            del self.objects[path]
        return 200, body if method == "PATCH" else live

    @property
    def asked(self) -> list[str]:
        """The requests without those of discovery."""
        paths = ("/version", "/apis", "/api/v1", *(f"/apis/{version}" for version in self.kinds))
        return [request for request in self.log if request.partition(" ")[2] not in paths]


@pytest.fixture(name="server")
def _server() -> Server:
    return Server()


@pytest.fixture(name="address")
def _address(server: Server) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def _do(self) -> None:
            text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            server.token = self.headers.get("Authorization") or ""
            kind = self.headers.get("Content-Type") or ""
            status, response = server.respond(self.command, self.path, kind, json.loads(text or b"null"))
            if not status:
                self.close_connection = True
                return
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            if status == TOO_MANY and server.retry_after is not None:
                self.send_header("Retry-After", server.retry_after)
            self.end_headers()
            self.wfile.write(response.encode() if isinstance(response, str) else json.dumps(response).encode())

        do_GET = do_POST = do_PATCH = do_DELETE = _do

        def log_message(self, *_arguments: Any) -> None:
            """Nothing."""

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=httpd.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{httpd.server_port}"
    httpd.shutdown()
    httpd.server_close()


Connect = Callable[..., Client]


@pytest.fixture(name="connect")
def _connect(address: str, tmp_path: Path) -> Connect:
    path = str(kubeconfig(tmp_path, address))
    return lambda **options: Client(ErrorContext(path, "docs/page.md"), **options)


@pytest.fixture(name="client")
def _client(connect: Connect) -> Client:
    return connect()


# Discovery


def test_an_object_is_found_where_the_server_has_its_kind(server: Server, client: Client) -> None:
    server.objects[f"{MAPS}/c"] = CONFIG_MAP
    for _time in range(2):
        assert client.find(MAP) == CONFIG_MAP
    assert server.log == ["GET /api/v1", f"GET {MAPS}/c", f"GET {MAPS}/c"]
    assert server.token == "Bearer t"


def test_no_other_group_is_asked_for_a_kind(server: Server, client: Client) -> None:
    client.list_objects("apps/v1", "DaemonSet", namespace="a")
    assert server.log == ["GET /apis/apps/v1", "GET /apis/apps/v1/namespaces/a/daemonsets"]


def test_discovery_is_not_stored_in_a_file(client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another user could write that file, and the library trusts it."""
    directory = tmp_path / "tmp"
    directory.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    assert client.find(MAP) is None
    assert not list(directory.iterdir())


def test_missing_objects_and_kinds_are_not_errors(client: Client) -> None:
    assert client.find(Ref("v1", "Node", "n")) is None
    for version, kind in (("batch/v9", "Job"), ("v1", "Secret"), ("no.group/v1", "Job")):
        assert client.list_objects(version, kind) is None
        assert client.find(Ref(version, kind, "x")) is None
        assert not client.serves(version, kind)
    assert client.serves("v1", "ConfigMap")


def test_a_kind_that_is_created_later_is_found(server: Server, client: Client) -> None:
    assert client.list_objects("batch/v1", "Job") is None
    server.kinds["batch/v1"] = {"cronjobs": ("CronJob", True), "jobs": ("Job", True)}
    assert client.find(Ref("batch/v1", "Job", "j", "a")) is None
    assert server.log[-1] == "GET /apis/batch/v1/namespaces/a/jobs/j"


def test_a_version_is_found_that_the_list_of_groups_lacks(server: Server, client: Client) -> None:
    """While API servers of one cluster differ, the list of groups may come from one that lacks it."""
    respond = server.respond

    def without(method: str, place: str, kind: str, body: Any) -> tuple[int, Any]:
        return (200, {"kind": "APIGroupList", "groups": []}) if place == "/apis" else respond(method, place, kind, body)

    server.respond = without  # type: ignore[method-assign]
    assert client.serves("apps/v1", "DaemonSet")


def test_a_group_that_does_not_answer_is_not_taken_for_one_that_does_not_exist(server: Server, client: Client) -> None:
    """Otherwise existing objects would be treated as missing."""
    server.says["GET /apis/apps/v1"] = [503] * 9
    with pytest.raises(ApiError, match=r"Could not get daemonsets\.apps d in a .*: 503, no GET") as failed:
        client.find(Ref("apps/v1", "DaemonSet", "d", "a"))
    assert failed.value.status == 503


# Reading


def test_a_list_is_of_all_namespaces_or_of_one(server: Server, client: Client) -> None:
    assert client.list_objects("v1", "ConfigMap") == ()
    client.list_objects("v1", "ConfigMap", namespace="a", labels="x=y,z", fields="metadata.name=b")
    assert server.asked == [
        "GET /api/v1/configmaps",
        "GET /api/v1/namespaces/a/configmaps?fieldSelector=metadata.name%3Db&labelSelector=x%3Dy%2Cz",
    ]


def test_members_of_a_list_have_their_kind(server: Server, client: Client) -> None:
    server.objects["/api/v1/nodes/n1"] = {"metadata": {"name": "n1"}}
    assert client.list_objects("v1", "Node") == ({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}},)


# Writing


def test_what_is_created_goes_to_its_namespace(server: Server, client: Client) -> None:
    assert client.create(CONFIG_MAP) == CONFIG_MAP
    assert server.asked == [f"POST {MAPS}"]
    assert server.sent == ("application/json", CONFIG_MAP)
    client.create({**CONFIG_MAP, "metadata": {"name": "c"}})
    assert server.log[-1] == f"POST {MAPS}", "as kubectl does it"


def test_what_exists_is_patched(server: Server, client: Client) -> None:
    live = {**CONFIG_MAP, "metadata": {**CONFIG_MAP["metadata"], "resourceVersion": "9"}}  # type: ignore[dict-item]
    server.objects[f"{MAPS}/c"] = live
    client.patch(CONFIG_MAP)
    assert (server.log[-1], server.sent) == (f"PATCH {MAPS}/c", ("application/merge-patch+json", CONFIG_MAP))


def test_a_patch_may_be_of_a_subresource(server: Server, client: Client) -> None:
    server.objects["/api/v1/nodes/n1"] = {}
    patch = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {"capacity": {"x": None}}}
    assert client.patch(patch, subresource="status") == patch
    assert server.log[-1] == "PATCH /api/v1/nodes/n1/status"


def test_an_eviction_is_of_one_pod_and_of_the_version_that_the_server_has(server: Server, client: Client) -> None:
    client.evict(Ref("v1", "Pod", "p", "a"), "5d0e")
    assert server.log[-1] == "POST /api/v1/namespaces/a/pods/p/eviction"
    assert server.sent[1]["apiVersion"] == "policy/v1"
    assert server.sent[1]["deleteOptions"]["preconditions"] == {"uid": "5d0e"}


WRITES: dict[str, Callable[[Client], Any]] = {
    "POST": lambda client: client.create(CONFIG_MAP),
    "PATCH": lambda client: client.patch(CONFIG_MAP),
    "DELETE": lambda client: client.delete(MAP),
    "evict": lambda client: client.evict(Ref("v1", "Pod", "p", "a"), "5d0e"),
}


@pytest.mark.parametrize("method", WRITES)
def test_a_dry_run_says_so_in_every_request_that_writes(server: Server, connect: Connect, method: str) -> None:
    server.objects[f"{MAPS}/c"] = {**CONFIG_MAP, "metadata": {"resourceVersion": "1"}}
    WRITES[method](connect(dry_run=True))
    if method == "DELETE":
        assert server.sent[1]["dryRun"] == ["All"], "a server reads it only from the body, if there is one"
    elif method == "evict":
        assert server.sent[1]["deleteOptions"]["dryRun"] == ["All"]
    else:
        assert server.log[-1].endswith("?dryRun=All")
    assert server.objects


def test_permissions_are_reviewed_in_a_dry_run_too(server: Server, connect: Connect) -> None:
    assert not connect(dry_run=True).review({"verb": "get", "resource": "nodes"})
    assert server.log[-1] == "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    assert server.sent[1]["spec"] == {"resourceAttributes": {"verb": "get", "resource": "nodes"}}


SERVICE = Ref("v1", "Service", "prometheus", "monitoring")
PROXY = "/api/v1/namespaces/monitoring/services/http:prometheus:9090/proxy/api/v1/query"


def test_a_service_is_asked_through_the_server(server: Server, client: Client) -> None:
    server.objects[PROXY] = {"status": "success"}
    query = 'a{b="c"}+1'
    assert client.get_from_service(SERVICE, "http", 9090, "/api/v1/query", query=query) == {"status": "success"}
    assert server.log == [f"GET {PROXY}?{urlencode({'query': query})}"]
    server.says[f"GET {PROXY}"] = [503]
    with pytest.raises(ApiError, match=r"Could not get services/proxy prometheus in monitoring .*: 503, no GET"):
        client.get_from_service(SERVICE, "http", 9090, "/api/v1/query", query=query)


def test_a_service_may_send_something_else_than_json(server: Server, client: Client) -> None:
    server.objects[PROXY] = "<html>"  # type: ignore[assignment]
    assert client.get_from_service(SERVICE, "http", 9090, "/api/v1/query") == "<html>"


def test_a_missing_object_can_be_deleted(server: Server, client: Client) -> None:
    client.delete(MAP, propagation="Foreground")
    server.objects[f"{MAPS}/c"] = CONFIG_MAP
    client.delete(MAP, propagation="Foreground")
    assert server.sent[1]["propagationPolicy"] == "Foreground"
    assert not server.objects


def test_a_kind_that_the_server_does_not_have_is_not_written(client: Client) -> None:
    with pytest.raises(ApiError, match="the API server has no Thing in v1") as failed:
        client.create({**CONFIG_MAP, "kind": "Thing"})
    assert failed.value.status == NOT_FOUND


# Errors


@pytest.mark.parametrize("status", [401, 403, 409, 422, 500])
@pytest.mark.parametrize("method", WRITES)
def test_a_refusal_has_the_servers_status_and_reason(server: Server, client: Client, method: str, status: int) -> None:
    server.objects[f"{MAPS}/c"] = {**CONFIG_MAP, "metadata": {"resourceVersion": "1"}}
    server.says[{"evict": "POST"}.get(method, method)] = [status]
    with pytest.raises(ApiError) as failed:
        WRITES[method](client)
    assert (failed.value.status, failed.value.reason[:2]) == (status, "no")


def test_a_value_that_the_server_refuses_is_to_be_corrected(server: Server, client: Client) -> None:
    server.says["POST"] = [422]
    with pytest.raises(ApiError, match=r"422, no POST\. Nothing was changed\. Correct this value in the manifest"):
        client.create(CONFIG_MAP)


def test_reads_are_repeated_when_the_server_asks_for_it(server: Server, client: Client) -> None:
    server.objects[f"{MAPS}/c"] = CONFIG_MAP
    server.says[f"GET {MAPS}"] = [TOO_MANY, TOO_MANY]
    assert client.find(MAP) == CONFIG_MAP
    assert server.asked == [f"GET {MAPS}/c"] * 3


@pytest.mark.parametrize("method", ["POST", "PATCH", "DELETE", "evict"])
def test_writes_are_not_repeated(server: Server, client: Client, method: str) -> None:
    """An eviction that a PodDisruptionBudget forbids has this status. The library itself would repeat some methods."""
    server.says["POST"] = server.says["PATCH"] = server.says["DELETE"] = [TOO_MANY, TOO_MANY]
    with pytest.raises(ApiError) as failed:
        WRITES[method](client)
    assert (failed.value.status, len(server.asked)) == (TOO_MANY, 1)


@pytest.mark.parametrize("retry_after", ["3600", "Wed, 21 Oct 2015 07:28:00 GMT", None])
def test_a_longer_retry_after_is_not_waited_for(
    server: Server, client: Client, retry_after: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert client.serves("v1", "ConfigMap")
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.5)
    server.says[f"GET {MAPS}"], server.retry_after = [TOO_MANY] * 99, retry_after
    with pytest.raises(ApiError, match="no GET"):
        client.find(MAP)
    assert server.asked == [f"GET {MAPS}/c"]


@pytest.mark.parametrize("begin", ["GET /api/v1", f"GET {MAPS}"])
def test_a_closed_connection_is_reported(server: Server, client: Client, begin: str) -> None:
    server.says[begin] = [NO_ANSWER]
    with pytest.raises(ApiError, match="does not answer: ") as failed:
        client.find(MAP)
    assert failed.value.status == NO_ANSWER


@pytest.mark.parametrize("begin", ["GET /api/v1", f"GET {MAPS}"])
def test_every_request_has_a_timeout(
    server: Server, client: Client, begin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library sets no timeout for requests of discovery."""
    monkeypatch.setattr(module, "TIMEOUT", 0.2)
    respond, end = server.respond, threading.Event()

    def wait(method: str, place: str, kind: str, body: Any) -> tuple[int, Any]:
        if f"{method} {place}".startswith(begin):
            end.wait(20)
        return respond(method, place, kind, body)

    server.respond = wait  # type: ignore[method-assign]
    began = time.monotonic()
    with pytest.raises(ApiError, match=r"does not answer: .*it did not respond in time"):
        client.find(MAP)
    end.set()
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("response", ["<html>", "[]", "7", "{}", '{"kind": "Status"}'])
def test_a_server_that_is_not_an_api_server_is_reported(server: Server, client: Client, response: str) -> None:
    server.respond = lambda *_request: (200, response)  # type: ignore[method-assign]
    with pytest.raises(ApiError, match="does not answer as an API server"):
        client.find(MAP)


def test_an_error_that_is_not_json_is_reported_unchanged(server: Server, client: Client) -> None:
    server.respond = lambda *_request: (502, "Bad Gateway\n<html>")  # type: ignore[method-assign]
    with pytest.raises(ApiError, match=r": 502, Bad Gateway\. ") as failed:
        client.find(MAP)
    assert failed.value.status == 502


def test_an_unreachable_server_is_named(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, "http://127.0.0.1:9")
    with pytest.raises(ClusterError) as raised:
        Client(ErrorContext(str(path), "")).find(MAP)
    assert f"the API server of {path} does not answer: 127.0.0.1:9: connection refused." in str(raised.value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("apiVersion: v1\n", "Expected key current-context in"),
        ("", r"Invalid kube-config\. .* file is empty"),
        ("a: [", "line 1: a closing bracket or another sign where a value must be"),
        ("users: 7\n", "it does not have the structure of a kubeconfig"),
        ("words\n", "it does not have the structure of a kubeconfig"),
    ],
)
def test_a_file_that_is_not_a_kubeconfig(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ClusterError, match=f"is not a kubeconfig: {reason}"):
        Client(ErrorContext(str(path), "")).find(MAP)


def test_without_the_library_the_error_has_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    with pytest.raises(ClusterError, match="The Python library kubernetes is needed"):
        Client(ErrorContext("x", "")).find(MAP)
