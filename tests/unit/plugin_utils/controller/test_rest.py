# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests to an API server that wants to be asked again."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.controller import rest
from ansible_collections.volcano.colocation.plugins.plugin_utils.controller.rest import Rest


class Server:
    """Answers 429 as often as it is told, then 200."""

    def __init__(self, folder: Path) -> None:
        self.refusals = 0
        self.retry_after: str | None = "0"
        self.asked: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                outer.asked.append(self.command)
                refused = len(outer.asked) <= outer.refusals
                body = json.dumps({"message": "storage is (re)initializing"} if refused else {"kind": "List"}).encode()
                self.send_response(429 if refused else 200)
                if refused and outer.retry_after is not None:
                    self.send_header("Retry-After", outer.retry_after)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = answer

            def log_message(self, *_arguments: object) -> None:
                pass

        self.http = HTTPServer(("127.0.0.1", 0), Handler)
        config = {
            "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{self.http.server_port}"}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "c",
            "users": [{"name": "u", "user": {}}],
        }
        self.kubeconfig = folder / "kubeconfig"
        self.kubeconfig.write_text(json.dumps(config))


@pytest.fixture(name="server")
def _server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    thread = threading.Thread(target=server.http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.http.shutdown()
    thread.join()
    server.http.server_close()


def test_what_is_read_is_read_again_when_the_server_asks_for_it(server: Server) -> None:
    server.refusals = 2
    assert Rest(str(server.kubeconfig)).request("GET", "/x").body == {"kind": "List"}
    assert server.asked == ["GET"] * 3


def test_what_writes_is_not_repeated(server: Server) -> None:
    """An eviction that a PodDisruptionBudget forbids is answered so."""
    server.refusals = 1
    assert Rest(str(server.kubeconfig)).request("POST", "/x", body={}).status == rest.TOO_MANY
    assert server.asked == ["POST"]


@pytest.mark.parametrize("retry_after", ["3600", "Wed, 21 Oct 2015 07:28:00 GMT", None])
def test_a_server_that_wants_to_be_left_alone_for_longer_is_left_alone(
    server: Server, retry_after: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rest, "TIMEOUT", 0.5)
    server.refusals, server.retry_after = 99, retry_after
    answer = Rest(str(server.kubeconfig)).request("GET", "/x")
    assert (answer.status, answer.message) == (rest.TOO_MANY, "storage is (re)initializing")
    assert server.asked == ["GET"]
