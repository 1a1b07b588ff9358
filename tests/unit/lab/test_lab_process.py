# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab.process import end_machine, is_machine, read_pid

UUID = "6a1f0c9e-0000-4000-8000-000000000001"
OTHER = "6a1f0c9e-0000-4000-8000-000000000002"


def process(name: str, *arguments: str) -> subprocess.Popen[bytes]:
    """A process whose command line is what a test wants, and that sleeps."""
    argv = [name, "-c", "print(flush=True); import time; time.sleep(60)", *arguments]
    started = subprocess.Popen(argv, executable=sys.executable, stdout=subprocess.PIPE)
    # Popen is back before the kernel shows the new command line.
    assert started.stdout is not None
    started.stdout.readline()
    started.stdout.close()
    return started


@pytest.fixture
def machine() -> Iterator[subprocess.Popen[bytes]]:
    started = process("/usr/bin/qemu-system-x86_64", "-uuid", UUID)
    yield started
    started.kill()
    started.wait()


def test_the_machine_is_ended(machine: subprocess.Popen[bytes]) -> None:
    assert is_machine(machine.pid, UUID)
    end_machine(machine.pid, UUID)
    assert machine.wait(5) != 0


def test_another_labs_machine_is_left_alone(machine: subprocess.Popen[bytes]) -> None:
    end_machine(machine.pid, OTHER)
    assert machine.poll() is None


def test_a_process_that_only_mentions_the_uuid_is_left_alone() -> None:
    editor = process("vi", "-uuid", UUID)
    try:
        end_machine(editor.pid, UUID)
        assert editor.poll() is None
    finally:
        editor.kill()
        editor.wait()


def test_a_number_that_nobody_has_is_no_error(machine: subprocess.Popen[bytes]) -> None:
    machine.kill()
    machine.wait()
    end_machine(machine.pid, UUID)


@pytest.mark.parametrize("line", [b"", b"qemu-system-x86_64\0-uuid", b"qemu-system-x86_64\0-name\0" + UUID.encode()])
def test_command_lines_of_other_shapes(tmp_path: Path, line: bytes) -> None:
    (tmp_path / "42").mkdir()
    (tmp_path / "42" / "cmdline").write_bytes(line)
    assert not is_machine(42, UUID, tmp_path)


@pytest.mark.parametrize(
    ("text", "pid"), [("123\n", 123), ("", None), ("x", None), ("-1", None), ("1", None), ("0", None)]
)
def test_a_pid_file_names_one_ordinary_process(tmp_path: Path, text: str, pid: int | None) -> None:
    (tmp_path / "pid").write_text(text)
    assert read_pid(tmp_path / "pid") == pid


def test_no_pid_file(tmp_path: Path) -> None:
    assert read_pid(tmp_path / "pid") is None
    assert not is_machine(os.getpid(), UUID)
