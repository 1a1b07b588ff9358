# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs ansible-playbook in a folder: forked from a process that has imported Ansible, or started as users start it."""

from __future__ import annotations

import atexit
import json
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ansible_collections.volcano.colocation.tests.unit.action import warm_ansible

COLLECTIONS = next(parent.parent for parent in Path(__file__).parents if parent.name == "ansible_collections")
TIMEOUT = 600


@dataclass(frozen=True)
class Done:
    status: int
    stdout: str
    stderr: str

    @property
    def output(self) -> str:
        return self.stdout + self.stderr


def environment(folder: Path) -> dict[str, str]:
    """Nothing of the user, and everything Ansible writes in the folder."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "ANSIBLE_HOME": str(folder / "home"),
        "ANSIBLE_LOCAL_TEMP": str(folder / "local"),
        "ANSIBLE_REMOTE_TEMP": str(folder / "remote"),
        "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS),
        "ANSIBLE_CONFIG": str(folder / "ansible.cfg"),
        "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_PIPELINING": "1",
    }


def playbook(folder: Path, *arguments: str, path: str | None = None) -> Done:
    """What ansible-playbook ends with, in milliseconds; ``path`` is where programs are looked for."""
    (folder / "ansible.cfg").touch()
    return _warm().run(folder, arguments, _environment(folder, path))


def started_playbook(folder: Path, *arguments: str, path: str | None = None) -> Done:
    """The same from end to end, in seconds: Python is started for the play, and for each module from what is sent."""
    (folder / "ansible.cfg").touch()
    done = subprocess.run(
        [sys.executable, "-m", "ansible", "playbook", *arguments],
        cwd=folder,
        env=_environment(folder, path),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def _environment(folder: Path, path: str | None) -> dict[str, str]:
    return {**environment(folder), **({"PATH": path} if path else {})}


class _Warm:
    """The process that has imported Ansible. Its settings, which Ansible reads when it is imported, are as empty."""

    def __init__(self, folder: Path) -> None:
        (folder / "ansible.cfg").touch()
        self._folder, self._log = folder, folder / "log"
        self._process = subprocess.Popen(
            [sys.executable, warm_ansible.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log.open("wb"),
            cwd=folder,
            env=environment(folder),
            text=True,
        )

    def run(self, folder: Path, arguments: tuple[str, ...], environment: Mapping[str, str]) -> Done:
        files = {name: str(self._folder / name) for name in ("stdout", "stderr")}
        request = {"folder": str(folder), "arguments": arguments, "environment": environment, **files}
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        print(json.dumps(request), file=stdin, flush=True)
        if not select.select([stdout], [], [], TIMEOUT)[0]:
            self._process.kill()
            raise TimeoutError(f"{arguments} did not end in {TIMEOUT} s; so far:\n{self._read(files['stdout'])}")
        answer = stdout.readline()
        assert answer, f"the process with Ansible ended:\n{self._read(self._log)}"
        return Done(int(answer), self._read(files["stdout"]), self._read(files["stderr"]))

    @staticmethod
    def _read(path: str | Path) -> str:
        return Path(path).read_text(encoding="utf-8", errors="surrogateescape")

    def end(self) -> None:
        if self._process.stdin:
            self._process.stdin.close()
        self._process.wait(timeout=TIMEOUT)


@cache
def _warm() -> _Warm:
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    started = _Warm(Path(folder.name))
    atexit.register(started.end)
    return started
