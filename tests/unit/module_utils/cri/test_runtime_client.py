# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cri import hpack
from ansible_collections.volcano.colocation.plugins.module_utils.cri.grpc import CriError, CriUnavailable
from ansible_collections.volcano.colocation.plugins.module_utils.cri.messages import ContainerState, SandboxState
from ansible_collections.volcano.colocation.plugins.module_utils.cri.runtime_client import CriClient, socket_path
from ansible_collections.volcano.colocation.tests.support.node import cri_server
from ansible_collections.volcano.colocation.tests.support.node.cri_server import (
    Connection,
    Container,
    Runtime,
    Sandbox,
    frame,
    serving,
)


@contextmanager
def connected(path: Path, conversation: Callable[[Connection], None], timeout: float = 5.0) -> Iterator[CriClient]:
    """A client of a server with this behavior."""
    with serving(path, conversation), CriClient(str(path), timeout) as client:
        yield client


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cri.sock"


@pytest.fixture
def runtime() -> Runtime:
    return Runtime(
        config={"containerd": {"runtimes": {}}},
        sandboxes=[Sandbox("s1", "web", "shop"), Sandbox("s2", "old", ready=False)],
        containers=[
            Container("c1", "s1", "nginx", 1, 4242),
            Container("c2", "s2", "gone", 2),
            Container("c3", "s1", "odd", 9),
        ],
    )


@pytest.fixture
def client(path: Path, runtime: Runtime) -> Iterator[CriClient]:
    with serving(path, runtime.converse), CriClient(f"unix://{path}", 5.0) as connected:
        yield connected


def test_version_and_status_of_the_runtime_are_read(client: CriClient) -> None:
    version = client.version()
    assert (version.runtime_name, version.runtime_version, version.api) == ("containerd", "1.7.24", "v1")
    status = client.status()
    assert status.ready
    assert [(condition.name, condition.status, condition.reason) for condition in status.conditions] == [
        ("RuntimeReady", True, ""),
        ("NetworkReady", False, "NetworkPluginNotReady"),
    ]
    assert status.info == {"config": '{"containerd": {"runtimes": {}}}'}


@pytest.mark.parametrize(("sent", "driver"), [(0, "systemd"), (1, "cgroupfs"), (7, None)])
def test_the_driver_that_the_runtime_wants(path: Path, sent: int, driver: str | None) -> None:
    with connected(path, Runtime(version="2.1.0", cgroup_driver=sent).converse) as client:
        assert client.cgroup_driver() == driver


def test_a_runtime_without_runtime_config_says_so(client: CriClient) -> None:
    with pytest.raises(CriError, match="RuntimeConfig") as caught:
        client.cgroup_driver()
    assert caught.value.code == 12


def test_an_answer_without_linux_says_nothing_of_the_driver(path: Path) -> None:
    def windows(connection: Connection) -> None:
        connection.greet()
        for result in (cri_server.text(2, "containerd"), b""):
            stream, _headers, _message = connection.request()
            for part in cri_server.ok(stream, result):
                connection.send(part)

    with connected(path, windows) as client:
        assert client.cgroup_driver() is None


def test_sandboxes_and_containers_are_read_with_their_states(client: CriClient) -> None:
    first, second = client.pod_sandboxes()
    assert (first.id, first.state, first.name, first.namespace, first.uid) == (
        "s1",
        SandboxState.READY,
        "web",
        "shop",
        "uid-s1",
    )
    assert (second.state, second.runtime_handler) == (SandboxState.NOT_READY, "runc")
    assert [(container.id, container.sandbox_id, container.state) for container in client.containers()] == [
        ("c1", "s1", ContainerState.RUNNING),
        ("c2", "s2", ContainerState.EXITED),
        ("c3", "s1", ContainerState.UNKNOWN),
    ]


def test_the_pid_of_a_running_container_is_read_and_that_of_others_is_none(client: CriClient) -> None:
    assert client.container_pid("c1") == 4242
    assert client.container_pid("c2") is None, "an exited container has pid 0"
    assert client.container_pid("never") is None


def test_stop_and_remove(client: CriClient, runtime: Runtime) -> None:
    client.stop_pod_sandbox("s1")
    client.remove_pod_sandbox("s1")
    assert [sandbox.id for sandbox in client.pod_sandboxes()] == ["s2"]
    assert runtime.calls[:3] == ["Version", "StopPodSandbox", "RemovePodSandbox"]


def test_an_answer_larger_than_a_frame_is_read_whole(client: CriClient, runtime: Runtime) -> None:
    runtime.sandboxes = [Sandbox(f"id-{index}", f"pod-{index}") for index in range(500)]
    assert [sandbox.name for sandbox in client.pod_sandboxes()] == [f"pod-{index}" for index in range(500)]


def test_the_older_api_is_used_where_v1_is_unknown(path: Path) -> None:
    runtime = Runtime(api="v1alpha2", version="1.5.9", sandboxes=[Sandbox("s1", "web")])
    with connected(path, runtime.converse) as client:
        assert len(client.pod_sandboxes()) == 1
        assert client.version().api == "v1alpha2"


def test_a_runtime_without_cri_is_named_with_the_remedy(path: Path) -> None:
    with connected(path, Runtime(api="v9").converse) as client, pytest.raises(
        CriError, match="disabled_plugins"
    ) as caught:
        client.status()
    assert caught.value.code == 12


def test_an_error_of_the_runtime_is_decoded(path: Path) -> None:
    def refuse(connection: Connection) -> None:
        connection.greet()
        stream, _headers, _message = connection.request()
        for part in cri_server.failed(stream, 9, "sandbox%20is%20busy%3A%20%C3%A9"):
            connection.send(part)

    with connected(path, refuse) as client, pytest.raises(CriError, match="FAILED_PRECONDITION: sandbox is busy: é"):
        client.version()


def test_control_frames_in_between_are_answered(path: Path) -> None:
    """SETTINGS and PING are acknowledged; a header block may be padded, carry a priority and be continued."""

    def chatter(connection: Connection) -> None:
        connection.greet()
        stream, _headers, _message = connection.request()
        connection.send(frame(cri_server.PING, 0, 0, b"12345678"))
        connection.send(frame(cri_server.SETTINGS, 0, 0, struct.pack(">HI", 3, 100)))
        connection.send(frame(cri_server.WINDOW_UPDATE, 0, 0, struct.pack(">I", 1000)))
        connection.send(frame(0xBE, 0, 0, b"a frame of a kind yet unknown"))
        head = hpack.encode([(":status", "200"), ("content-type", "application/grpc")])
        padded = bytes([3]) + struct.pack(">IB", 0, 16) + head[:5] + b"\0\0\0"
        connection.send(frame(cri_server.HEADERS, 0x28, stream, padded))
        connection.send(frame(cri_server.CONTINUATION, 0, stream, head[5:9]))
        connection.send(frame(cri_server.CONTINUATION, cri_server.END_HEADERS, stream, head[9:]))
        body = cri_server.grpc_message(cri_server.text(2, "padded"))
        connection.send(frame(cri_server.DATA, 8, stream, bytes([4]) + body + b"\0" * 4))
        connection.send(frame(cri_server.GOAWAY, 0, 0, struct.pack(">II", stream, 0)))
        tail = hpack.encode([("grpc-status", "0")])
        connection.send(frame(cri_server.HEADERS, cri_server.END_HEADERS | cri_server.END_STREAM, stream, tail))
        connection.request()

    with serving(path, chatter) as served, CriClient(str(path), 5.0) as client:
        assert client.version().runtime_name == "padded"
        (connection,) = served.connections
        limit = time.monotonic() + 5
        while connection.settings_acknowledged < 2 and time.monotonic() < limit:
            time.sleep(0.01)
        assert connection.pings_acknowledged == [b"12345678"]
        assert connection.settings_acknowledged == 2


def conversations() -> dict[str, tuple[bytes, str]]:
    """After the greeting, the server sends this instead of a response."""
    status = hpack.encode([(":status", "404"), ("content-type", "text/plain")])
    plain = hpack.encode([(":status", "200")])
    good = hpack.encode([(":status", "200"), ("grpc-status", "0")])
    return {
        "no gRPC": (frame(1, 5, 1, status), "does not speak gRPC .HTTP status 404"),
        "no status at all": (frame(1, 5, 1, plain), "does not speak gRPC .HTTP status 200"),
        "no message": (frame(1, 5, 1, good), "without a message"),
        "compressed": (frame(1, 4, 1, good) + frame(0, 1, 1, b"\1\0\0\0\0"), "cannot be read"),
        "cut off message": (frame(1, 4, 1, good) + frame(0, 1, 1, b"\0\0\0\0\5ab"), "cannot be read"),
        "not protobuf": (frame(1, 4, 1, good) + frame(0, 1, 1, b"\0\0\0\0\2\x0b\x0b"), "message that cannot be read"),
        "reset": (frame(3, 0, 1, struct.pack(">I", 7)), "reset the request .HTTP/2 error 7"),
        "goes away": (frame(7, 0, 0, struct.pack(">II", 0, 2) + b"bye"), "closes the connection .HTTP/2 error 2"),
        "push": (frame(5, 4, 1, b"\0\0\0\2"), "out of order"),
        "broken off headers": (frame(1, 0, 1, plain) + frame(0, 1, 1, b""), "sent an incomplete header block"),
        "broken headers": (frame(1, 5, 1, b"\x80"), "headers that cannot be read"),
        "giant frame": (b"\xff\xff\xff\0\0\0\0\0\1", "does not speak HTTP/2"),
        "hangs up": (b"", "closed the connection"),
    }


@pytest.mark.parametrize("case", sorted(conversations()))
def test_a_server_that_misbehaves_is_unavailable(path: Path, case: str) -> None:
    sent, message = conversations()[case]

    def misbehave(connection: Connection) -> None:
        connection.greet()
        connection.request()
        connection.send(sent)

    with connected(path, misbehave) as client, pytest.raises(CriUnavailable, match=message):
        client.version()


def test_a_server_of_another_kind_is_refused(path: Path) -> None:
    def web(connection: Connection) -> None:
        connection.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        connection.receive()
        connection.receive()

    with connected(path, web) as client, pytest.raises(CriUnavailable, match="does not speak HTTP/2"):
        client.version()


def test_silence_ends_at_the_deadline(path: Path) -> None:
    def silent(connection: Connection) -> None:
        connection.greet()
        connection.request()
        connection.request()

    began = time.monotonic()
    with connected(path, silent, 0.3) as client, pytest.raises(CriUnavailable, match="did not respond in time"):
        client.version()
    assert time.monotonic() - began < 3


def test_a_broken_connection_is_opened_again(path: Path, runtime: Runtime) -> None:
    conversation = iter([lambda connection: connection.greet(), runtime.converse])

    def converse(connection: Any) -> None:
        next(conversation)(connection)

    with serving(path, converse), CriClient(str(path), 5.0) as client:
        with pytest.raises(CriUnavailable):
            client.version()
        assert client.version().runtime_name == "containerd"


def test_a_socket_on_which_nobody_listens_is_reported(path: Path) -> None:
    with CriClient(str(path), 1.0) as client, pytest.raises(CriUnavailable, match="cannot be reached: No such file"):
        client.version()
    path.touch()
    with CriClient(str(path), 1.0) as client, pytest.raises(CriUnavailable, match="Connection refused"):
        client.version()


def test_a_path_too_long_for_a_socket_is_reported() -> None:
    with CriClient("/" + "x" * 200, 1.0) as client, pytest.raises(CriUnavailable, match="too long"):
        client.version()


@pytest.mark.parametrize("endpoint", ["unix:///run/x.sock", "unix:/run/x.sock", "/run/x.sock"])
def test_every_form_of_an_endpoint_leads_to_its_socket(endpoint: str) -> None:
    assert socket_path(endpoint) == "/run/x.sock"


@pytest.mark.parametrize("endpoint", ["tcp://127.0.0.1:5000", "", "run/x.sock", "unix://"])
def test_endpoints_that_are_no_unix_socket(endpoint: str) -> None:
    with pytest.raises(CriUnavailable, match="not a unix socket"):
        CriClient(endpoint)
