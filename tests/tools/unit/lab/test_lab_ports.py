# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import socket

from ansible_collections.volcano.colocation.tests.lab.ports import free_ports, listens


def test_ports_differ_and_are_free() -> None:
    ports = free_ports(5)
    assert len(set(ports)) == 5
    assert not any(listens(port) for port in ports)


def test_a_listening_server_is_detected() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert listens(server.getsockname()[1])
