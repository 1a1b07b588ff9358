# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A terminal on a node's serial port."""

from __future__ import annotations

import os
import selectors
import socket
import sys
import termios
import tty
from pathlib import Path

from .monitor import unix_connection

LEAVE = b"\x1d"
"""Ctrl-], as in telnet and virsh."""


def attach(path: Path) -> None:
    """Join this terminal to the serial port until Ctrl-] or the end of the VM."""
    print("Ctrl-] leaves this console", file=sys.stderr)
    with unix_connection(path, timeout=10) as connection:
        connection.settimeout(None)
        terminal = sys.stdin.fileno()
        before = termios.tcgetattr(terminal)
        try:
            tty.setraw(terminal)
            _copy(terminal, connection)
        finally:
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _copy(terminal: int, connection: socket.socket) -> None:
    with selectors.DefaultSelector() as selector:
        selector.register(terminal, selectors.EVENT_READ)
        selector.register(connection, selectors.EVENT_READ)
        while True:
            for key, _events in selector.select():
                if key.fileobj is connection:
                    block = connection.recv(4096)
                    os.write(sys.stdout.fileno(), block)
                else:
                    block = os.read(terminal, 4096)
                    connection.sendall(block.replace(LEAVE, b""))
                if not block or (key.fileobj is not connection and LEAVE in block):
                    return
