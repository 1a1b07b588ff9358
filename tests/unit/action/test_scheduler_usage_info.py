# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""scheduler_usage_info from its arguments to the queries, with recorded answers of a real Prometheus."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from ansible_collections.volcano.colocation.tests.support.clusters.connected_actions import connect_actions
from ansible_collections.volcano.colocation.tests.support.clusters.memory_api_server import Server
from ansible_collections.volcano.colocation.tests.support.clusters.prometheus_results import recorded_results
from ansible_collections.volcano.colocation.tests.support.tasks.in_process import action

SPACE, MAP, KEY = "volcano-system", "volcano-scheduler-configmap", "volcano-scheduler.conf"
SERVICE = "http://prometheus.monitoring.svc:9090"
CONF = f"tiers: []\nmetrics:\n  type: prometheus\n  address: {SERVICE}/base\n"

Run = Callable[..., dict[str, Any]]


@pytest.fixture(name="server")
def _server() -> Server:
    server = Server()
    server.add(*({"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"worker-{number}"}} for number in (2, 1)))
    server.services[f"{SERVICE}/api/v1/query"] = recorded_results("all-nodes").__getitem__
    server.services[f"{SERVICE}/base/api/v1/query"] = recorded_results("one-node").__getitem__
    return server


@pytest.fixture(name="run")
def _run(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the module; ``conf`` is the scheduler's configuration, if it exists."""
    kubeconfig = connect_actions(server, tmp_path, monkeypatch)

    def run(conf: str | None = None, **options: Any) -> dict[str, Any]:
        if conf is not None:
            metadata = {"name": MAP, "namespace": SPACE}
            server.add({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {KEY: conf}})
        result = action("scheduler_usage_info", {"kubeconfig": kubeconfig, **options})
        assert server.writes == []
        return result

    return run


def codes(result: dict[str, Any]) -> list[str]:
    return [finding["code"] for finding in result["findings"]]


def test_a_service_is_asked_through_the_api_server(run: Run) -> None:
    result = run(metrics={"address": SERVICE})
    assert (result["changed"], result["address"], result["findings"]) == (False, SERVICE, [])
    assert result["usage"] == [
        {"name": "worker-1", "cpu": 30.0, "memory": 20.0},
        {"name": "worker-2", "cpu": 90.0, "memory": 10.0},
    ]


def test_the_source_is_that_of_the_configuration_unless_another_is_desired(run: Run) -> None:
    result = run(CONF)
    assert (result["address"], codes(result)) == (f"{SERVICE}/base", ["scheduler-usage-data-missing"])
    assert result["usage"][1] == {"name": "worker-2", "cpu": None, "memory": None}
    assert result["findings"][0]["link"] == "docs/findings.md#scheduler-usage-data-missing"
    assert run(metrics={})["address"] == f"{SERVICE}/base"
    assert run(metrics={"address": SERVICE})["address"] == SERVICE


def test_a_service_without_endpoints_is_a_finding(server: Server, run: Run) -> None:
    server.services.clear()
    result = run(CONF)
    assert (codes(result), result["usage"]) == (["scheduler-usage-source-unreachable"], [])
    assert result["findings"][0]["evidence"] == [f"{SERVICE}/base: 503, no endpoints available for service prometheus"]


@pytest.mark.parametrize("request_text", ["get services/proxy prometheus in monitoring", "list nodes"])
def test_a_missing_permission_is_an_error(server: Server, run: Run, request_text: str) -> None:
    server.refuses[request_text] = 403
    result = run(CONF)
    assert result["failed"]
    assert f"may not {request_text}" in result["msg"]
    assert "docs/scheduler.md lists all verbs" in result["msg"]


@pytest.mark.parametrize(
    ("conf", "options", "message"),
    [
        (None, {}, "the scheduler's configuration has none"),
        ("tiers: []\n", {}, "the scheduler's configuration has none"),
        ("metrics: none\n", {}, "the scheduler's configuration has none"),
        ("metrics: {type: elasticsearch}\n", {}, "its type is elasticsearch"),
        (CONF, {"metrics": {"type": "prometheus_adaptor"}}, "its type is prometheus_adaptor"),
        ("metrics: {type: prometheus}\n", {}, "metrics.address is empty"),
        ("metrics: {type: prometheus, address: prometheus:9090}\n", {}, "prometheus:9090 is not an http"),
        ("metrics: {type: prometheus, address: ftp://ada:secret@p:9090}\n", {}, "address ftp://p:9090 is not an http"),
        ("a: [\n", {}, "ConfigMap volcano-system/volcano-scheduler-configmap, key volcano-scheduler.conf:2: "),
    ],
)
def test_a_source_that_cannot_be_asked_is_an_error(
    run: Run, conf: str | None, options: dict[str, Any], message: str
) -> None:
    result = run(conf, **options)
    assert result["failed"]
    assert message in result["msg"]


@contextmanager
def serving(respond: Callable[[str], tuple[int, str]]) -> Iterator[str]:
    """A server with these responses to queries; its address, with a user and a password."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = urlsplit(self.path)
            assert url.path == "/api/v1/query"
            status, text = respond(parse_qs(url.query)["query"][0])
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://ada:secret@127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


def test_another_address_is_asked_from_here_and_shown_without_its_password(run: Run) -> None:
    with serving(lambda query: (200, json.dumps(recorded_results("all-nodes")[query]))) as address:
        result = run(metrics={"address": address})
    assert (result["address"], result["findings"]) == (address.replace("ada:secret@", ""), [])
    assert [node["cpu"] for node in result["usage"]] == [30.0, 90.0]


@pytest.mark.parametrize(
    ("status", "text", "reason"),
    [
        (200, "<html>", "it does not answer as Prometheus does"),
        (404, "404 page not found", "it answers with 404 Not Found"),
        (401, "Unauthorized", "it answers with 401 Unauthorized"),
        (400, json.dumps(next(iter(recorded_results("refused").values()))), "it answers with an error: "),
    ],
)
def test_other_answers_are_a_finding(run: Run, status: int, text: str, reason: str) -> None:
    with serving(lambda query: (status, text)) as address:
        result = run(metrics={"address": address})
    (finding,) = result["findings"]
    assert (finding["code"], finding["severity"]) == ("scheduler-usage-source-unreachable", "error")
    assert f"{result['address']}: {reason}" in finding["evidence"][0]
    assert "secret" not in str(result)


def test_no_server_is_a_finding(run: Run) -> None:
    with serving(lambda query: (200, "")) as address:
        pass
    (finding,) = run(metrics={"address": address})["findings"]
    assert finding["evidence"][0].endswith("connection refused")


def test_a_server_without_tls_is_a_finding(run: Run) -> None:
    with serving(lambda query: (200, "")) as address:
        result = run(
            "metrics: {tls.insecureSkipVerify: 'true'}\n", metrics={"address": address.replace("http", "https")}
        )
    assert result["findings"][0]["evidence"][0].endswith("it does not use TLS, or refuses it")
