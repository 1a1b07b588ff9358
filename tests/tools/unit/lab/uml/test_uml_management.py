# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab.errors import LabError
from ansible_collections.volcano.colocation.tests.lab.uml.management import MAGIC, SIZE, VERSION, execute


@contextmanager
def kernel(path: Path, answers: Sequence[tuple[int, int, bytes]]) -> Iterator[list[tuple[int, int, bytes]]]:
    """A socket that answers one request with packets of (error, more, text); what it was asked."""
    received: list[tuple[int, int, bytes]] = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server:
        server.bind(str(path))

        def serve() -> None:
            packet, client = server.recvfrom(4096)
            magic, version, length = struct.unpack_from("=III", packet)
            received.append((magic, version, packet[12 : 12 + length]))
            for error, more, text in answers:
                server.sendto(struct.pack(f"=III{SIZE}s", error, more, len(text), text), client)

        thread = threading.Thread(target=serve)
        thread.start()
        yield received
        thread.join()


def test_a_reply_may_have_several_packets(tmp_path: Path) -> None:
    with kernel(tmp_path / "mconsole", [(0, 1, b"Linux "), (0, 0, b"7.2\0")]) as received:
        assert execute(tmp_path / "mconsole", "version") == "Linux 7.2"
    assert received == [(MAGIC, VERSION, b"version")]


def test_a_refusal_is_an_error(tmp_path: Path) -> None:
    with (
        kernel(tmp_path / "mconsole", [(1, 0, b"Unknown command")]),
        pytest.raises(LabError, match="refuses dance: Unknown command"),
    ):
        execute(tmp_path / "mconsole", "dance")


def test_a_missing_kernel_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="the kernel does not answer at"):
        execute(tmp_path / "mconsole", "version")
