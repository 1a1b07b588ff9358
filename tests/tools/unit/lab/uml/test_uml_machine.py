# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import dataclasses
import time
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab import process
from ansible_collections.volcano.colocation.tests.lab.errors import LabError
from ansible_collections.volcano.colocation.tests.lab.machine import INITRD, PID, Machine
from ansible_collections.volcano.colocation.tests.lab.requirements import IP, NSENTER, SLIRP4NETNS, UNSHARE, need
from ansible_collections.volcano.colocation.tests.lab.uml import machine as uml
from ansible_collections.volcano.colocation.tests.lab.uml import network

MACHINE = Machine(
    name="one",
    uuid="6a1f0c9e-0000-4000-8000-000000000001",
    directory=Path("/state/one"),
    kernel=Path("/cache/linux"),
    kernel_line="loglevel=4 panic=10",
    base=Path("/cache/disk.raw"),
    subnet=12,
    cpus=4,
    memory=2048,
    numa=1,
)

KERNEL = """\
#!/bin/sh
printf '%s\\n' "$*" >> arguments
echo "a kernel with $TMPDIR"
sleep 600 &
wait
"""


def test_the_disk_overlays_the_base_and_is_named_relative_to_the_machines_directory() -> None:
    assert f"ubd0=disk.cow,{MACHINE.base}" in uml.arguments(MACHINE)
    assert f"initrd={INITRD}" in uml.arguments(MACHINE)


def test_the_command_line_has_cpus_memory_and_kernel_parameters() -> None:
    words = uml.arguments(MACHINE)
    assert words[0] == str(MACHINE.kernel)
    assert {"mem=2048M", "ncpus=4", "seccomp=on"} <= set(words)
    assert words[-2:] == ["loglevel=4", "panic=10"]


def test_each_card_has_a_separate_address() -> None:
    (card,) = [word for word in uml.arguments(MACHINE) if word.startswith("vec0:")]
    assert card == "vec0:transport=raw,ifname=tap0,depth=64,mac=52:54:0a:00:0c:0f"


def test_the_management_socket_has_a_short_path() -> None:
    assert len(str(uml.management_socket(MACHINE.uuid))) < 107


@pytest.fixture(name="machine")
def _machine(tmp_path: Path) -> Machine:
    """A machine whose kernel is a script; the network is real."""
    for tool in (IP, NSENTER, SLIRP4NETNS, UNSHARE):
        need(tool)
    kernel = tmp_path / "linux"
    kernel.write_text(KERNEL)
    kernel.chmod(0o755)
    directory = tmp_path / "node"
    directory.mkdir()
    return dataclasses.replace(MACHINE, kernel=kernel, directory=directory)


def test_a_machine_starts_is_reset_and_ends_with_its_network(machine: Machine) -> None:
    try:
        port = uml.start(machine)
        assert port > 1024
        first, holder = _pid(machine), network.holder_of(machine.directory, machine.uuid)
        _await_kernel(machine)
        namespaces = [Path(f"/proc/{pid}/ns/net").readlink() for pid in ("self", first, holder)]
        assert namespaces[0] != namespaces[1] == namespaces[2]

        uml.reset(machine)
        second = _pid(machine)
        assert second != first
        assert not process.is_machine(first, machine.uuid)
        assert network.holder_of(machine.directory, machine.uuid) == holder
    finally:
        uml.end(machine.directory, machine.uuid)
    assert not process.is_machine(second, machine.uuid)
    assert not process.is_machine(holder, machine.uuid)
    assert not uml.socket_directory(machine.uuid).exists()
    with pytest.raises(LabError, match="the network of node has ended"):
        network.holder_of(machine.directory, machine.uuid)


def test_ending_an_unstarted_machine_does_nothing(machine: Machine) -> None:
    uml.end(machine.directory, machine.uuid)


def test_a_network_failure_is_reported(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = machine.directory.parent / "programs"
    directory.mkdir()
    program = directory / "slirp4netns"
    program.write_text("#!/bin/sh\necho no tap device >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{directory}:/usr/sbin:/usr/bin:/bin")
    try:
        with pytest.raises(LabError, match="slirp4netns did not start for node one: no tap device"):
            uml.start(machine)
    finally:
        uml.end(machine.directory, machine.uuid)


def _pid(machine: Machine) -> int:
    return int((machine.directory / PID).read_text())


def _await_kernel(machine: Machine) -> None:
    """Wait until the kernel runs: the process enters the namespace before."""
    deadline = time.monotonic() + 20
    while not (machine.directory / "arguments").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
