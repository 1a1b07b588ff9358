# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files, processes and network that mutated code can reach."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.run import places
from ansible_collections.volcano.colocation.tests.tools.mutation import sandbox
from ansible_collections.volcano.colocation.tests.tools.mutation.sandbox import Limit, Sandbox

LIMIT = Limit(cpu=60, wall=60)

ATTEMPTS = """\
import os, socket, sys

def attempt(name, action):
    try:
        action()
    except OSError:
        print(name, "no")
    else:
        print(name, "yes")

attempt("copy", lambda: open("own", "w").close())
attempt("temporary", lambda: open("/tmp/own", "w").close())
attempt("shared memory", lambda: open("/dev/shm/own", "w").close())
attempt("elsewhere", lambda: open(sys.argv[1] + "/other", "w").close())
attempt("process", lambda: os.kill(int(sys.argv[2]), 0))
attempt("localhost", lambda: socket.create_server(("127.0.0.1", 0)).close())
attempt("port", lambda: socket.create_connection(("127.0.0.1", int(sys.argv[3])), 1).close())
"""


@pytest.fixture(name="port")
def _port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.skipif(sandbox.missing() != "", reason="bubblewrap does not run here")
def test_mutated_code_reaches_its_copy_only(tmp_path: Path, port: int) -> None:
    copy, other = tmp_path / "copy", tmp_path / "other"
    copy.mkdir()
    other.mkdir()
    arguments = ["-c", ATTEMPTS, str(other), str(os.getpid()), str(port)]
    isolated = sandbox.isolated(copy)
    assert isolated.run(arguments, LIMIT, tmp_path / "log", {}) == 0
    assert (tmp_path / "log").read_text().splitlines() == [
        "copy yes",
        "temporary yes",
        "shared memory yes",
        "elsewhere no",
        "process no",
        "localhost yes",
        "port no",
    ]
    assert (copy / "own").exists()
    assert not Path("/tmp/own").exists()


def test_a_program_is_ended_at_the_limit_of_time(tmp_path: Path) -> None:
    open_ended = ["-c", "import time; time.sleep(60)"]
    assert Sandbox(tmp_path, ()).run(open_ended, Limit(cpu=60, wall=0.5), tmp_path / "log", {}) is None


def test_a_program_gets_no_memory_beyond_the_limit(tmp_path: Path) -> None:
    arguments = ["-c", f"bytearray({sandbox.MEMORY} * 1024)"]
    assert Sandbox(tmp_path, ()).run(arguments, LIMIT, tmp_path / "log", {}) == 1
    assert "MemoryError" in (tmp_path / "log").read_text()


def test_a_program_gets_its_variables_and_its_output_is_kept(tmp_path: Path) -> None:
    arguments = ["-c", "import os; print(os.environ['OWN'], os.getcwd()); raise SystemExit(3)"]
    assert Sandbox(tmp_path, ()).run(arguments, LIMIT, tmp_path / "log", {"OWN": "value"}) == 3
    assert (tmp_path / "log").read_text() == f"value {tmp_path}\n"


def test_the_caches_of_a_copy_are_its_own(tmp_path: Path) -> None:
    programs = str(places.CACHE / "venv" / "bin")
    environment = sandbox.environment(tmp_path, {"PATH": programs, "OWN": "value"})
    assert environment["PYTHONPATH"] == str(tmp_path / ".cache" / "dev")
    assert environment["OWN"] == "value"
    assert [name for name, value in environment.items() if str(places.CACHE) in value] == ["PATH"]
    assert environment["PATH"].split(os.pathsep) == [str(Path(sys.prefix).resolve() / "bin"), programs]


def test_a_machine_without_bubblewrap_reports_the_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "PROGRAM", "no-such-program")
    assert sandbox.missing() == "no-such-program is not installed: apt-get install bubblewrap"


def test_a_machine_that_lets_bubblewrap_do_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'no namespaces' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(sandbox, "PROGRAM", str(program))
    assert sandbox.missing() == f"{program} cannot make namespaces: no namespaces"
