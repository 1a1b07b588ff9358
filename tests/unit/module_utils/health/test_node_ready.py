# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The check sends requests to a real TLS server, with kubelet's certificate."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any, Iterator

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.health import node_ready
from ansible_collections.volcano.colocation.plugins.module_utils.health.finding import Verdict
from ansible_collections.volcano.colocation.plugins.module_utils.kube_api import https_get
from ansible_collections.volcano.colocation.plugins.module_utils.state.plan_document import ApiNodeRef
from ansible_collections.volcano.colocation.tests.support.node.simulation import KUBELET, Simulation
from ansible_collections.volcano.colocation.tests.support.node.tls_api_server import (
    HANG_UP,
    NODE,
    USER,
    ApiServer,
    Authority,
    embedded,
    kubeadm_1_20,
    node_document,
    refusal,
    stamp,
)

PATH = "/etc/kubernetes/kubelet.conf"
MEMBER = ApiNodeRef(NODE, PATH)
STARTED = 1_700_000_000.25
FRESH, STALE = stamp(STARTED), stamp(STARTED - 1)
TOKEN = "hunter2.token-of-kubelet"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: Any) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def server(authority: Authority, simulation: Simulation) -> Iterator[ApiServer]:
    observed = ApiServer(authority, lambda: (200, node_document("True", FRESH)))
    simulation.write(PATH, kubeadm_1_20(observed.url, authority.data("ca.crt"), embedded(authority)), 0o600)
    yield observed
    observed.close()


def ask(simulation: Simulation, started: float | None = STARTED) -> tuple[Verdict, str]:
    finding = node_ready.ready(simulation.node, MEMBER, KUBELET, started)
    assert finding.check == "node ready"
    return finding.verdict, finding.detail


def says(simulation: Simulation, server: ApiServer, status: int, body: Any) -> tuple[Verdict, str]:
    server.respond = lambda: (status, body)
    return ask(simulation)


def test_ready_by_the_current_kubelet(simulation: Simulation, server: ApiServer) -> None:
    assert ask(simulation) == (Verdict.PASSED, f"Node {NODE} is Ready, as of {FRESH}")
    assert server.requests[0].split("\r\n")[:2] == [
        f"GET /api/v1/nodes/{NODE} HTTP/1.0",
        f"Host: 127.0.0.1:{server.port}",
    ]
    assert (("commonName", USER),) in server.users[0]["subject"]


def test_the_same_with_certificates_in_files(simulation: Simulation, server: ApiServer, authority: Authority) -> None:
    both = authority.text("kubelet.key") + authority.text("kubelet.crt")
    simulation.write("/var/lib/kubelet/pki/current.pem", both, 0o600)
    simulation.write("/etc/kubernetes/pki/ca.crt", "some words\n" + authority.text("ca.crt"))
    path = "var/lib/kubelet/pki/current.pem"
    user = f"    client-certificate: /{path}\n    client-key: ../../{path}\n"
    text = kubeadm_1_20(server.url, "", user).replace(
        "certificate-authority-data:", "certificate-authority: pki/ca.crt"
    )
    simulation.write(PATH, text)
    assert ask(simulation)[0] is Verdict.PASSED


def test_a_python_without_memfd_leaves_no_file_behind(
    simulation: Simulation, server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("os.memfd_create", raising=False)
    before = sorted(Path(simulation.host.path("/run")).rglob("*"))
    assert ask(simulation)[0] is Verdict.PASSED
    assert sorted(Path(simulation.host.path("/run")).rglob("*")) == before


def test_a_kubeconfig_with_a_token_sends_it(simulation: Simulation, server: ApiServer, authority: Authority) -> None:
    server.anonymous()
    simulation.write(PATH, kubeadm_1_20(server.url, authority.data("ca.crt"), f"    token: {TOKEN}\n"))
    assert ask(simulation)[0] is Verdict.PASSED
    assert f"\r\nAuthorization: Bearer {TOKEN}\r\n" in server.requests[0]


def test_a_heartbeat_from_before_the_restart_does_not_count(simulation: Simulation, server: ApiServer) -> None:
    verdict, detail = says(simulation, server, 200, node_document("True", STALE))
    assert verdict is Verdict.WAITING
    assert detail == f"Node {NODE} is Ready as of {STALE}, reported before kubelet's restart"
    for broken in ("yesterday", "", "2026-13-45T99:00:00Z"):
        assert says(simulation, server, 200, node_document("True", broken))[0] is Verdict.WAITING


def test_a_node_that_is_not_ready_is_waited_for_with_its_reason(simulation: Simulation, server: ApiServer) -> None:
    more = {"reason": "KubeletNotReady", "message": "cni plugin not initialized"}
    for status in ("False", "Unknown", "true", ""):
        verdict, detail = says(simulation, server, 200, node_document(status, FRESH, **more))
        assert verdict is Verdict.WAITING
        assert detail == f"Node {NODE} is not Ready: KubeletNotReady: cni plugin not initialized"
    nothing = node_document("True", FRESH)
    nothing["status"] = {}
    assert says(simulation, server, 200, nothing)[1].endswith("kubelet has not reported a condition yet")


def test_refusals_are_distinguished(simulation: Simulation, server: ApiServer) -> None:
    message = f'nodes "{NODE}" is forbidden: User "system:node:other" cannot get resource "nodes" in API group ""'
    assert says(simulation, server, 403, refusal(message, 403)) == (
        Verdict.SILENT,
        f"the API server does not allow system:node:other to get nodes, here Node {NODE} (403)",
    )
    assert "does not allow kubelet to get nodes" in says(simulation, server, 403, b"HTTP/1.0 403 No\r\n\r\nno")[1]
    assert "does not accept kubelet's certificate or token (401)" in says(simulation, server, 401, {})[1]
    assert says(simulation, server, 404, {})[1] == f"the API server has no Node {NODE} (404)"
    assert "returns HTTP status 503" in says(simulation, server, 503, {})[1]


@pytest.mark.parametrize(
    ("response", "detail"),
    [
        (b"HTTP/1.0 200 OK\r\n\r\n{", "does not return the Node"),
        (b"HTTP/1.0 200 OK\r\n\r\n[]", "does not return the Node"),
        (b"HTTP/1.0 200 OK\r\n\r\n" + b'{"a":' * 100_000, "does not return the Node"),
        (b"SSH-2.0-x\r\n", "does not speak HTTP"),
        (b"", "does not speak HTTP"),
    ],
    ids=["half", "list", "without end", "another protocol", "nothing"],
)
def test_invalid_responses(simulation: Simulation, server: ApiServer, response: bytes, detail: str) -> None:
    verdict, observed = says(simulation, server, 200, response)
    assert verdict is Verdict.SILENT
    assert observed.endswith(detail)


def test_a_response_for_another_node_counts_as_none(simulation: Simulation, server: ApiServer) -> None:
    observed = says(simulation, server, 200, node_document("True", FRESH, name="other"))
    assert observed == (Verdict.SILENT, "the API server does not return the Node")


def test_an_endless_response(simulation: Simulation, server: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(https_get, "LIMIT", 1000)
    observed = says(simulation, server, 200, b"HTTP/1.0 200 OK\r\n\r\n" + b" " * 10_000)
    assert observed == (Verdict.SILENT, f"the API server in {PATH} sends a response of more than 1000 bytes")


def test_a_server_that_does_not_respond(
    simulation: Simulation, server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(https_get, "TIMEOUT", 0.4)
    server.respond = lambda: None
    began = time.monotonic()
    verdict, detail = ask(simulation)
    assert (verdict, time.monotonic() - began < 4) == (Verdict.SILENT, True)
    assert detail == f"the API server in {PATH} does not respond: no response within 0 s"


def test_a_server_that_closes_the_connection_does_not_respond(simulation: Simulation, server: ApiServer) -> None:
    """Reported as no response; some versions report it as a TLS error without a name."""
    server.respond = lambda: HANG_UP
    verdict, detail = ask(simulation)
    assert verdict is Verdict.SILENT
    assert detail.startswith(
        (f"the API server in {PATH} fails the TLS handshake with ", f"the API server in {PATH} does not respond: ")
    )


def test_a_server_that_ends_without_close_notify(simulation: Simulation, server: ApiServer) -> None:
    server.farewell = False
    assert ask(simulation)[0] is Verdict.PASSED
    half = b"HTTP/1.0 200 OK\r\n\r\n" + json.dumps(node_document("True", FRESH)).encode()[:-1]
    assert says(simulation, server, 200, half)[1] == "the API server does not return the Node"


def test_no_server_listens(simulation: Simulation, authority: Authority) -> None:
    closed = ApiServer(authority, lambda: None)
    closed.close()
    simulation.write(PATH, kubeadm_1_20(closed.url, authority.data("ca.crt"), embedded(authority)))
    assert ask(simulation) == (Verdict.SILENT, f"the API server in {PATH} does not respond: Connection refused")


def test_a_server_of_another_authority_gets_no_request(
    simulation: Simulation, server: ApiServer, authority: Authority, tmp_path: Path
) -> None:
    simulation.write(PATH, kubeadm_1_20(server.url, Authority(tmp_path).data("ca.crt"), embedded(authority)))
    verdict, detail = ask(simulation)
    assert (verdict, server.requests) == (Verdict.SILENT, [])
    assert detail.startswith(f"the API server in {PATH} has an invalid certificate: ")


def test_a_server_of_another_name(simulation: Simulation, server: ApiServer, authority: Authority) -> None:
    text = kubeadm_1_20(server.url, authority.data("ca.crt"), embedded(authority))
    named = text.replace("    server:", "    tls-server-name: kubernetes\n    server:")
    simulation.write(PATH, named)
    assert ask(simulation)[0] is Verdict.PASSED
    simulation.write(PATH, named.replace("name: kubernetes\n", "name: hidden.example\n", 1))
    assert ask(simulation) == (
        Verdict.SILENT,
        f"the API server in {PATH} has an invalid certificate: it is for another name",
    )
    skipping = named.replace("tls-server-name: kubernetes", "insecure-skip-tls-verify: true")
    simulation.write(PATH, re.sub(" +certificate-authority-data:.*\n", "", skipping))
    assert ask(simulation)[0] is Verdict.PASSED


def test_a_kubelet_without_a_certificate_gets_no_response(
    simulation: Simulation, server: ApiServer, authority: Authority
) -> None:
    simulation.write(PATH, kubeadm_1_20(server.url, authority.data("ca.crt"), "    token: x\n"))
    verdict, detail = ask(simulation)
    assert verdict is Verdict.SILENT
    assert detail.startswith(
        (f"the API server in {PATH} fails the TLS handshake with ", f"the API server in {PATH} does not respond: ")
    )


def test_invalid_certificates(simulation: Simulation, server: ApiServer, authority: Authority) -> None:
    unusable = f"the API server in {PATH} cannot be called: a certificate or key of kubelet's kubeconfig is invalid"
    other = embedded(authority).replace(authority.data("kubelet.key"), authority.data("server.key"))
    for ca, user in (("aGVsbG8=", embedded(authority)), (authority.data("ca.crt"), other)):
        simulation.write(PATH, kubeadm_1_20(server.url, ca, user))
        assert ask(simulation) == (Verdict.SILENT, unusable)


def test_invalid_names(simulation: Simulation, authority: Authority) -> None:
    for name in ("a..b", "x" * 70 + ".example"):
        simulation.write(PATH, kubeadm_1_20(f"https://{name}:1", authority.data("ca.crt"), ""))
        verdict, detail = ask(simulation)
        assert (verdict, name in detail) == (Verdict.SILENT, False)


def test_no_secret_is_in_any_finding(simulation: Simulation, server: ApiServer, authority: Authority) -> None:
    server.anonymous()
    user = embedded(authority) + f"    token: {TOKEN}\n"
    simulation.write(PATH, kubeadm_1_20(server.url, authority.data("ca.crt"), user))
    key, certificate = authority.data("kubelet.key"), authority.data("kubelet.crt")
    secrets = f"{TOKEN} {key} {certificate}"
    bodies = [
        (200, node_document("False", FRESH, message=secrets)),
        (200, node_document("False", FRESH, message=f"{key} {certificate}")),
        (403, refusal(f'User "{TOKEN}" cannot get resource "nodes"', 403)),
        (401, refusal(secrets, 401)),
        (500, refusal(secrets, 500)),
        (200, secrets.encode()),
    ]
    for status, body in bodies:
        _verdict, detail = says(simulation, server, status, body)
        assert not [secret for secret in (TOKEN, key[:40], certificate[:40], str(server.port)) if secret in detail], (
            detail
        )


def test_the_start_time_of_a_kubelet_that_someone_else_started(simulation: Simulation, server: ApiServer) -> None:
    assert ask(simulation, None) == (Verdict.WAITING, f"systemd does not report the start time of {KUBELET}")
    # The simulated wall clock is 0 when the monotonic one is 1000.
    simulation.units[KUBELET].started = 990.0
    server.respond = lambda: (200, node_document("True", "1969-12-31T23:59:49Z"))
    assert ask(simulation, None)[0] is Verdict.WAITING
    server.respond = lambda: (200, node_document("True", "1969-12-31T23:59:50Z"))
    assert ask(simulation, None)[0] is Verdict.PASSED


@pytest.mark.parametrize("now", [5.0, 5.001, 5.999])
def test_a_kubelet_is_started_in_a_new_second(simulation: Simulation, now: float) -> None:
    slept: list[float] = []
    simulation.clock.wall = lambda: now  # type: ignore[method-assign]
    simulation.clock.sleep = slept.append  # type: ignore[method-assign,assignment]
    node_ready.next_second(simulation.node)
    assert now + slept[0] == pytest.approx(6.0)


def test_the_baseline_says_whether_the_node_was_ready_and_why_not(simulation: Simulation, server: ApiServer) -> None:
    def baseline(*, kubelet_runs: bool = True) -> dict[str, Any]:
        observed = node_ready.baseline(simulation.node, MEMBER, kubelet_runs=kubelet_runs)
        assert json.dumps(observed)
        return observed

    assert baseline() == {"ready": True, "reason": ""}
    assert baseline(kubelet_runs=False)["reason"].startswith("kubelet was not running before")
    server.respond = lambda: (200, node_document("Unknown", STALE, reason="NodeStatusUnknown"))
    observed = baseline()
    assert observed == {"ready": False, "reason": f"Node {NODE} was not Ready before the change: NodeStatusUnknown"}
    simulation.write(PATH, "a: &b c\n")
    reason = f"before the change, kubelet's kubeconfig cannot be interpreted ({PATH}:1: an anchor)"
    assert baseline() == {"ready": False, "reason": reason}
