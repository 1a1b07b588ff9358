# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One QEMU process: its command line and its start."""

from __future__ import annotations

import subprocess
from pathlib import Path

from . import command, monitor, process
from .accel import Accelerator
from .errors import LabError
from .machine import INITRD, PID, SERIAL_LOG, Machine
from .ports import free_ports
from .requirements import QEMU, QEMU_IMG, need

DISK, SERIAL, MONITOR = "disk.qcow2", "serial.sock", "monitor.sock"
"""Names in a node's directory."""

CARD, DEVICE = "eth0", "/dev/vda"
"""The kernel's names of the node's network card and disk."""

_DRIVE = "if=none,id=disk,format=qcow2,cache=writeback,discard=unmap,backing.file.locking=off"
"""QEMU does not lock the base: it is never written, and user-mode Linux may hold a lock on it."""


def arguments(machine: Machine, accelerator: Accelerator, port: int) -> list[str]:
    """QEMU's command line, with the node's port 22 at ``port`` of 127.0.0.1.

    Socket paths are relative to QEMU's working directory, since they are limited to 107 bytes.
    """
    return [
        *("-name", machine.name, "-uuid", machine.uuid),
        *accelerator.arguments,
        *("-machine", "q35,usb=off,graphics=off"),
        *("-smp", f"{machine.cpus},sockets={machine.numa},cores={machine.cpus // machine.numa},threads=1"),
        *("-m", str(machine.memory)),
        *_numa(machine),
        *("-nodefaults", "-no-user-config", "-display", "none"),
        *("-kernel", str(machine.kernel), "-initrd", str(machine.directory / INITRD), "-append", machine.kernel_line),
        *("-drive", f"{_DRIVE},file={_escape(machine.directory / DISK)}"),
        *("-device", "virtio-blk-pci,drive=disk"),
        *("-netdev", f"user,id=net,net=10.0.{machine.subnet}.0/24,hostfwd=tcp:127.0.0.1:{port}-:22"),
        *("-device", "virtio-net-pci,netdev=net,romfile="),
        *("-chardev", f"socket,id=serial,path={SERIAL},server=on,wait=off,logfile={SERIAL_LOG},logappend=on"),
        *("-serial", "chardev:serial"),
        *("-qmp", f"unix:{MONITOR},server=on,wait=off"),
        *("-daemonize", "-pidfile", PID),
    ]


def start(machine: Machine, accelerator: Accelerator) -> int:
    """Start the VM, which outlives this process; returns the port of its ssh."""
    qemu = need(QEMU)
    _make_overlay(machine)
    message = ""
    for _attempt in range(5):
        (port,) = free_ports(1)
        done = subprocess.run(
            [qemu, *arguments(machine, accelerator, port)],
            cwd=machine.directory,
            env=process.marked_environment(machine.uuid),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            return port
        message = done.stderr.strip()
        # Another program may have taken the port since free_ports() chose it.
        if "host forwarding" not in message:
            break
    raise LabError(f"QEMU did not start node {machine.name}: {message}")


def reset(directory: Path) -> None:
    """Restart the VM as after a power cut: data that its kernel had not written to disk is lost."""
    monitor.execute(directory / MONITOR, "system_reset")


def end(directory: Path, uuid: str) -> None:
    """End the VM, if it runs."""
    pid = process.read_pid(directory / PID)
    if pid is not None:
        process.end_machine(pid, uuid)


def _make_overlay(machine: Machine) -> None:
    """A disk that holds only what differs from the base."""
    argv = [need(QEMU_IMG), "create", "-q", "-f", "qcow2", "-F", "raw", "-b", str(machine.base)]
    command.output([*argv, str(machine.directory / DISK)])


def _escape(path: Path) -> str:
    """A path as the value of a QEMU option, where a comma separates one option from the next."""
    return str(path).replace(",", ",,")


def _numa(machine: Machine) -> list[str]:
    if machine.numa == 1:
        return []
    cpus, memory = machine.cpus // machine.numa, machine.memory // machine.numa
    options: list[str] = []
    for node in range(machine.numa):
        options += ["-object", f"memory-backend-ram,id=memory{node},size={memory}M"]
        first = node * cpus
        options += ["-numa", f"node,nodeid={node},cpus={first}-{first + cpus - 1},memdev=memory{node}"]
    return options
