# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""QEMU's machine protocol (docs/interop/qmp-spec.txt of QEMU), as much of it as the lab needs."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Dict

from .errors import LabError


@contextlib.contextmanager
def unix_connection(path: Path, timeout: float) -> Iterator[socket.socket]:
    """A connection to a unix socket whose path may be longer than the 107 bytes that an address can hold."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(timeout)
            connection.connect(f"/proc/self/fd/{folder}/{path.name}")
            yield connection
    except OSError as error:
        raise LabError(f"the VM does not answer at {path}: {error.strerror or error}") from error
    finally:
        os.close(folder)


def execute(path: Path, command: str, timeout: float = 30) -> Any:
    """What QEMU returns for one command; LabError with its reason when it refuses."""
    with unix_connection(path, timeout) as connection, connection.makefile("rwb") as stream:
        json.loads(stream.readline())
        _call(stream, {"execute": "qmp_capabilities"})
        return _call(stream, {"execute": command})


def _call(stream: IO[bytes], request: Dict[str, Any]) -> Any:
    stream.write(json.dumps(request).encode() + b"\n")
    stream.flush()
    for line in stream:
        answer = json.loads(line)
        if "error" in answer:
            raise LabError(f"the VM refuses {request['execute']}: {answer['error'].get('desc')}")
        if "return" in answer:
            return answer["return"]
    raise LabError(f"the VM ended during {request['execute']}")
