# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands on a node over ssh."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from . import command
from .errors import LabError
from .requirements import SSH, SSH_KEYGEN, need


@dataclass(frozen=True)
class Connection:
    """The port of a node's ssh, the private key, and the socket of the shared connection."""

    port: int
    key: Path
    control: Path

    @property
    def options(self) -> list[str]:
        """Options for ssh and for Ansible's ``ansible_ssh_args``. Nodes are throwaway: host keys are not remembered."""
        values = {
            "StrictHostKeyChecking": "no",
            "UserKnownHostsFile": "/dev/null",
            "LogLevel": "ERROR",
            "IdentitiesOnly": "yes",
            "BatchMode": "yes",
            "ConnectTimeout": "30",
            "ServerAliveInterval": "15",
            "ServerAliveCountMax": "8",
            "ControlMaster": "auto",
            "ControlPersist": "60s",
            "ControlPath": str(self.control),
        }
        return [word for name, value in values.items() for word in ("-o", f"{name}={value}")]

    @property
    def argv(self) -> list[str]:
        """The ssh command including the host; append the remote command."""
        return [need(SSH), "-F", "none", "-i", str(self.key), "-p", str(self.port), *self.options, "root@127.0.0.1"]

    def run(self, remote: str, timeout: float = 60) -> str:
        """Standard output of a remote command; LabError when it fails or times out."""
        return command.output([*self.argv, remote], timeout)

    def lines(self, remote: str, text: str) -> Iterator[str]:
        """Lines of output while a remote command runs, with ``text`` as its input; LabError when it fails."""
        with subprocess.Popen(
            [*self.argv, remote], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stderr is not None
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(text)
                process.stdin.close()
            for line in process.stdout:
                yield line.rstrip("\n")
            errors = process.stderr.read().strip()
        if process.returncode != 0:
            raise LabError(f"the node's ssh failed: {errors or process.returncode}")

    def close(self) -> None:
        """End the shared connection, if one exists: it would outlive the node."""
        if self.control.exists():
            argv = [*self.argv[:-1], "-O", "exit", "root@127.0.0.1"]
            with contextlib.suppress(subprocess.TimeoutExpired):
                subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=30)
            self.control.unlink(missing_ok=True)


def answers(port: int) -> bool:
    """True when an ssh server sends its greeting: QEMU itself accepts connections long before the guest does."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2) as connection:
            connection.settimeout(2)
            return connection.recv(4) == b"SSH-"
    except OSError:
        return False


def lab_key(directory: Path) -> Path:
    """The lab's private key, created at the first call."""
    key = directory / "id_ed25519"
    if not key.exists():
        partial = directory / f".id_ed25519.{os.getpid()}"
        command.output([need(SSH_KEYGEN), "-q", "-t", "ed25519", "-N", "", "-C", "colocation-lab", "-f", str(partial)])
        partial.with_name(partial.name + ".pub").rename(directory / "id_ed25519.pub")
        partial.rename(key)
    return key
