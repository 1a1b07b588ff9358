# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One machine of user-mode Linux: its command line, start and end."""

from __future__ import annotations

import shutil
from pathlib import Path

from .. import command, process
from ..machine import INITRD, PID, SERIAL_LOG, Machine
from ..paths import control_root
from ..requirements import CP, need
from . import network

DISK = "disk.cow"
CARD, DEVICE = "vec0", "/dev/ubda"
"""The kernel's names of the node's network card and disk."""

MEMORY = Path("/dev/shm")

_UMID = "uml"


def arguments(machine: Machine) -> list[str]:
    """The kernel's command line. Only the raw transport of the vector device works with several CPUs."""
    card = f"transport=raw,ifname={network.CARD},depth=64,mac=52:54:0a:00:{machine.subnet:02x}:0f"
    return [
        str(machine.kernel),
        f"mem={machine.memory}M",
        f"ncpus={machine.cpus}",
        *("con=null", "con0=null,fd:1", "ssl=null"),
        f"{CARD}:{card}",
        f"ubd0={DISK},{machine.base}",
        f"initrd={INITRD}",
        "seccomp=on",
        f"uml_dir={socket_directory(machine.uuid)}",
        f"umid={_UMID}",
        *machine.kernel_line.split(),
    ]


def start(machine: Machine) -> int:
    """Start the machine, which outlives this process; returns the port of 127.0.0.1 for its ssh."""
    if machine.seed:
        copy = [need(CP), "--sparse=always", "--reflink=auto", str(machine.seed), str(machine.directory / DISK)]
        command.output(copy)
    port = network.start(machine)
    _start_kernel(machine)
    return port


def reset(machine: Machine) -> None:
    """Kill the kernel, as a power cut does, and start it again with the same disk."""
    _kill(machine.directory, machine.uuid)
    _start_kernel(machine)


def end(directory: Path, uuid: str) -> None:
    """End the kernel and the network."""
    _kill(directory, uuid)
    network.end(directory, uuid)
    shutil.rmtree(socket_directory(uuid), ignore_errors=True)


def socket_directory(uuid: str) -> Path:
    """The directory of the kernel's management socket; its path is short since unix socket paths are limited."""
    return control_root() / f"uml-{uuid.replace('-', '')[:12]}"


def management_socket(uuid: str) -> Path:
    return socket_directory(uuid) / _UMID / "mconsole"


def _start_kernel(machine: Machine) -> None:
    holder = network.holder_of(machine.directory, machine.uuid)
    directory = socket_directory(machine.uuid)
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(mode=0o700)
    environment = {"TMPDIR": str(MEMORY)} if _fits(machine.memory) else {}
    argv = [*network.enter(holder), *arguments(machine)]
    kernel = process.start(argv, machine.uuid, machine.directory / SERIAL_LOG, environment=environment)
    (machine.directory / PID).write_text(f"{kernel.pid}\n")


def _fits(memory: int) -> bool:
    """True when the machine's memory, in MiB, fits into a file in /dev/shm; elsewhere it would be slow."""
    return MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= memory << 20


def _kill(directory: Path, uuid: str) -> None:
    pid = process.read_pid(directory / PID)
    if pid is not None:
        process.kill_group(pid, uuid)
