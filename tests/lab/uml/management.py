# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands to a user-mode Linux that does not answer by ssh (arch/um/drivers/mconsole.h of Linux)."""

from __future__ import annotations

import os
import socket
import struct
import tempfile
from pathlib import Path

from ..errors import LabError

MAGIC, VERSION, SIZE = 0xCAFEBABE, 2, 512
_REQUEST = struct.Struct(f"=III{SIZE}s")
_REPLY = struct.Struct("=III")


def execute(path: Path, command: str, timeout: float = 10) -> str:
    """The reply to a command such as ``version`` or ``sysrq w``; LabError without a reply or when it is refused."""
    words = command.encode()
    own = tempfile.TemporaryDirectory(prefix="lab-")
    with own as directory, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as connection:
        connection.bind(os.path.join(directory, "answer"))
        connection.settimeout(timeout)
        try:
            connection.sendto(_REQUEST.pack(MAGIC, VERSION, len(words), words), str(path))
            return _read_reply(connection, command)
        except OSError as error:
            raise LabError(f"the kernel does not answer at {path}: {error.strerror or error}") from error


def _read_reply(connection: socket.socket, command: str) -> str:
    text, more = b"", 1
    while more:
        packet = connection.recv(_REPLY.size + SIZE)
        failed, more, length = _REPLY.unpack_from(packet)
        text += packet[_REPLY.size : _REPLY.size + length].rstrip(b"\0")
        if failed:
            raise LabError(f"the kernel refuses {command}: {text.decode(errors='replace')}")
    return text.decode(errors="replace")
