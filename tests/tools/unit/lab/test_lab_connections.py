# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sockets: the ssh greeting, and QEMU's monitor."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab.errors import LabError
from ansible_collections.volcano.colocation.tests.lab.monitor import execute
from ansible_collections.volcano.colocation.tests.lab.ssh import answers


@contextmanager
def server(listener: socket.socket, speak: Callable[[socket.socket], None]) -> Iterator[None]:
    """Serve one connection."""

    def serve() -> None:
        connection, _address = listener.accept()
        with connection:
            speak(connection)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    with listener:
        yield
        thread.join(5)


@pytest.mark.parametrize(
    ("greeting", "expected"), [(b"SSH-2.0-OpenSSH_9.2\r\n", True), (b"HTTP/1.1", False), (b"", False)]
)
def test_only_an_ssh_greeting_counts_as_an_answer(greeting: bytes, expected: bool) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    with server(listener, lambda connection: connection.sendall(greeting)):
        assert answers(port) is expected


def test_a_closed_port_is_no_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert not answers(port)


def qemu(final: dict[str, object]) -> Callable[[socket.socket], None]:
    """Answers as QEMU does: a greeting, the capabilities, an event in between, the end."""

    def speak(connection: socket.socket) -> None:
        with connection.makefile("rwb") as stream:
            stream.write(b'{"QMP": {}}\n')
            stream.flush()
            for reply in (b'{"return": {}}', b'{"event": "RESET"}\n' + json.dumps(final).encode()):
                stream.readline()
                stream.write(reply + b"\n")
                stream.flush()

    return speak


@pytest.fixture
def monitor(tmp_path: Path) -> Iterator[tuple[Path, socket.socket]]:
    """A socket whose path is longer than an address can hold."""
    directory = tmp_path / ("deep" * 25)
    directory.mkdir()
    handle = os.open(directory, os.O_RDONLY)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"/proc/self/fd/{handle}/monitor.sock")
    os.close(handle)
    listener.listen()
    yield directory / "monitor.sock", listener
    listener.close()


def test_a_command_is_answered_after_events(monitor: tuple[Path, socket.socket]) -> None:
    path, listener = monitor
    with server(listener, qemu({"return": {"running": True}})):
        assert execute(path, "query-status") == {"running": True}


def test_a_refusal_is_reported(monitor: tuple[Path, socket.socket]) -> None:
    path, listener = monitor
    refusal = qemu({"error": {"class": "GenericError", "desc": "not now"}})
    with server(listener, refusal), pytest.raises(LabError, match="refuses system_reset: not now"):
        execute(path, "system_reset")


def test_a_missing_monitor_is_reported(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="does not answer"):
        execute(tmp_path / "monitor.sock", "system_reset")


def test_a_command_may_have_arguments(monitor: tuple[Path, socket.socket]) -> None:
    path, listener = monitor
    received: list[bytes] = []

    def listen(connection: socket.socket) -> None:
        with connection.makefile("rwb") as stream:
            stream.write(b'{"QMP": {}}\n')
            stream.flush()
            for _request in range(2):
                received.append(stream.readline())
                stream.write(b'{"return": "text"}\n')
                stream.flush()

    with server(listener, listen):
        assert execute(path, "human-monitor-command", {"command-line": "info cpus"}) == "text"
    assert json.loads(received[1]) == {"execute": "human-monitor-command", "arguments": {"command-line": "info cpus"}}
