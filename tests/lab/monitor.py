# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of QEMU's machine protocol (docs/interop/qmp-spec.txt of QEMU) that the lab needs."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from .errors import LabError


@contextlib.contextmanager
def unix_connection(path: Path, timeout: float) -> Iterator[socket.socket]:
    """A connection to a unix socket whose path may be longer than the 107 bytes that an address can hold."""
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(timeout)
            connection.connect(f"/proc/self/fd/{directory}/{path.name}")
            yield connection
    except OSError as error:
        raise LabError(f"the VM does not answer at {path}: {error.strerror or error}") from error
    finally:
        os.close(directory)


def execute(path: Path, command: str, arguments: Mapping[str, str] | None = None, timeout: float = 30) -> Any:
    """QEMU's return value for one command; LabError with the reason when QEMU refuses it."""
    with unix_connection(path, timeout) as connection, connection.makefile("rb") as replies:
        replies.readline()
        for request in ({"execute": "qmp_capabilities"}, {"execute": command, "arguments": dict(arguments or {})}):
            connection.sendall(json.dumps(request).encode() + b"\n")
            result = _read_reply(replies, command)
        return result


def _read_reply(replies: IO[bytes], command: str) -> Any:
    """The reply to a request; events before it are skipped."""
    for line in replies:
        reply = json.loads(line)
        if "error" in reply:
            raise LabError(f"the VM refuses {command}: {reply['error'].get('desc')}")
        if "return" in reply:
            return reply["return"]
    raise LabError(f"the VM ended during {command}")
