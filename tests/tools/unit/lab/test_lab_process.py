# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab.process import (
    MARK,
    end_machine,
    is_machine,
    kill_group,
    marked_environment,
    read_pid,
)

UUID = "6a1f0c9e-0000-4000-8000-000000000001"
OTHER = "6a1f0c9e-0000-4000-8000-000000000002"


def process(uuid: str) -> subprocess.Popen[bytes]:
    """A process of the machine ``uuid``, in its own group with a sleeping child."""
    code = "import subprocess, time; subprocess.Popen(['sleep', '60']); print(flush=True); time.sleep(60)"
    started = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        env=marked_environment(uuid) if uuid else None,
        start_new_session=True,
    )
    # Popen may return before /proc shows the new environment.
    assert started.stdout is not None
    started.stdout.readline()
    return started


def members(group: int) -> list[int]:
    """Processes of a group that have not ended."""
    pids = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _parent, its = path.read_text().rpartition(")")[2].split()[:3]
            pids += [int(path.parent.name)] if int(its) == group and state != "Z" else []
    return pids


@pytest.fixture
def machine() -> Iterator[subprocess.Popen[bytes]]:
    started = process(UUID)
    yield started
    with suppress(ProcessLookupError):
        os.killpg(started.pid, signal.SIGKILL)
    started.wait()
    assert started.stdout is not None
    started.stdout.close()


def test_the_machine_is_ended(machine: subprocess.Popen[bytes]) -> None:
    assert is_machine(machine.pid, UUID)
    end_machine(machine.pid, UUID)
    assert machine.wait(5) != 0


def test_another_labs_machine_is_left_alone(machine: subprocess.Popen[bytes]) -> None:
    end_machine(machine.pid, OTHER)
    assert machine.poll() is None


def test_a_group_is_killed_as_a_whole(machine: subprocess.Popen[bytes]) -> None:
    assert len(members(machine.pid)) == 2
    kill_group(machine.pid, OTHER)
    assert len(members(machine.pid)) == 2
    kill_group(machine.pid, UUID)
    deadline = time.monotonic() + 10
    while members(machine.pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert members(machine.pid) == []
    kill_group(machine.pid, UUID)


def test_an_unused_pid_is_not_an_error(machine: subprocess.Popen[bytes]) -> None:
    machine.kill()
    machine.wait()
    end_machine(machine.pid, UUID)


@pytest.mark.parametrize(
    "text", [b"", f"OTHER={UUID}".encode(), f"{MARK}={OTHER}".encode(), f"X{MARK}={UUID}".encode()]
)
def test_a_process_with_another_environment_is_not_the_machine(tmp_path: Path, text: str) -> None:
    (tmp_path / "42").mkdir()
    (tmp_path / "42" / "environ").write_bytes(f"HOME=/\0{text}\0".encode())
    assert not is_machine(42, UUID, tmp_path)


@pytest.mark.parametrize(
    ("text", "pid"), [("123\n", 123), ("", None), ("x", None), ("-1", None), ("1", None), ("0", None)]
)
def test_a_pid_file_names_one_ordinary_process(tmp_path: Path, text: str, pid: int | None) -> None:
    (tmp_path / "pid").write_text(text)
    assert read_pid(tmp_path / "pid") == pid


def test_without_a_pid_file_nothing_is_the_machine(tmp_path: Path) -> None:
    assert read_pid(tmp_path / "pid") is None
    assert not is_machine(os.getpid(), UUID)
