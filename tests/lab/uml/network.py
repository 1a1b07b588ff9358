# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The network of a machine: a namespace with a TAP device that slirp4netns connects to this host.

slirp4netns is QEMU's user-mode network as a program. Both engines thus give a node the same addresses (its host at
10.0.N.2, DNS at 10.0.N.3) and a port of 127.0.0.1 for ssh; neither needs root or changes the host.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from pathlib import Path

from .. import command, process
from ..errors import LabError
from ..machine import Machine
from ..monitor import unix_connection
from ..ports import free_ports
from ..requirements import IP, NSENTER, SLIRP4NETNS, UNSHARE, need

CARD = "tap0"
HOLDER_PID, API, LOG = "network.pid", "network.sock", "network.log"
TIMEOUT = 30.0
ATTEMPTS = 5


def start(machine: Machine) -> int:
    """Start the network of a machine, which outlives this process; returns the port of 127.0.0.1 for its ssh."""
    # slirp4netns has the read end of the pipe. It exits when the namespace's holder, which has the write end, ends.
    ends, lives = os.pipe()
    try:
        holder = _start_holder(machine, lives)
        _start_slirp(machine, holder, ends)
    finally:
        os.close(ends)
        os.close(lives)
    command.output([*enter(holder), need(IP), "link", "set", CARD, "up"])
    return _forward_ssh(machine)


def end(directory: Path, uuid: str) -> None:
    """End the network of a machine, if it runs."""
    pid = process.read_pid(directory / HOLDER_PID)
    if pid is not None:
        process.kill_group(pid, uuid)


def holder_of(directory: Path, uuid: str) -> int:
    """The process that holds the namespace; LabError when it has ended."""
    pid = process.read_pid(directory / HOLDER_PID)
    if pid is None or not process.is_machine(pid, uuid):
        raise LabError(f"the network of {directory.name} has ended: take the node down and start it again")
    return pid


def new_namespace() -> list[str]:
    """Command prefix that runs a command in a new network namespace."""
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return [need(UNSHARE), *user, "--net", "--"]


def enter(holder: int) -> list[str]:
    """Command prefix that runs a command in the holder's network namespace."""
    user = [] if os.geteuid() == 0 else [f"--user=/proc/{holder}/ns/user", "--preserve-credentials"]
    return [need(NSENTER), *user, f"--net=/proc/{holder}/ns/net", "--"]


def _start_holder(machine: Machine, lives: int) -> int:
    """Start a process that sleeps in a new network namespace."""
    holder = process.start([*new_namespace(), "sleep", "infinity"], machine.uuid, machine.directory / LOG, (lives,))
    (machine.directory / HOLDER_PID).write_text(f"{holder.pid}\n")
    own = os.readlink("/proc/self/ns/net")
    deadline = time.monotonic() + TIMEOUT
    while holder.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{holder.pid}/ns/net") != own:
                return holder.pid
        time.sleep(0.01)
    raise LabError(f"cannot create a network namespace for node {machine.name}: {_log(machine)}")


def _start_slirp(machine: Machine, holder: int, ends: int) -> None:
    ready, done = os.pipe()
    try:
        argv = [
            need(SLIRP4NETNS),
            f"--cidr=10.0.{machine.subnet}.0/24",
            "--mtu=1500",
            # Relative to the machine's directory, since unix socket paths are limited to 107 bytes.
            f"--api-socket={API}",
            f"--exit-fd={ends}",
            f"--ready-fd={done}",
            str(holder),
            CARD,
        ]
        process.start(argv, machine.uuid, machine.directory / LOG, (ends, done))
        os.close(done)
        done = -1
        if not process.is_readable(ready, TIMEOUT) or not os.read(ready, 1):
            raise LabError(f"slirp4netns did not start for node {machine.name}: {_log(machine)}")
    finally:
        for descriptor in {ready, done} - {-1}:
            os.close(descriptor)


def _forward_ssh(machine: Machine) -> int:
    reason = ""
    for _attempt in range(ATTEMPTS):
        (port,) = free_ports(1)
        rule = {"proto": "tcp", "host_addr": "127.0.0.1", "host_port": port}
        request = {"execute": "add_hostfwd", "arguments": {**rule, "guest_addr": machine.address, "guest_port": 22}}
        with unix_connection(machine.directory / API, TIMEOUT) as connection:
            connection.sendall(json.dumps(request).encode())
            response = json.loads(b"".join(iter(lambda: connection.recv(4096), b"")))
        if "error" not in response:
            return port
        # Another program may have taken the port since free_ports() chose it.
        reason = str(response["error"])
    raise LabError(f"slirp4netns does not forward a port to node {machine.name}: {reason}")


def _log(machine: Machine) -> str:
    return (machine.directory / LOG).read_text(errors="replace").strip()[-400:]
