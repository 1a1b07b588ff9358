# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs ansible-playbook in a directory: in a fork of a process that has imported Ansible, or as users start it."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ansible_collections.volcano.colocation.tests.support.tasks import warm_ansible
from ansible_collections.volcano.colocation.tests.support.tasks.warm_process import Warm, read

COLLECTIONS = next(parent.parent for parent in Path(__file__).parents if parent.name == "ansible_collections")
TIMEOUT = 600
DEPRECATION = "[DEPRECATION WARNING]"


class Deprecated(AssertionError):
    """The run used something that a later ansible-core removes."""


@dataclass(frozen=True)
class Done:
    status: int
    stdout: str
    stderr: str

    @property
    def output(self) -> str:
        return self.stdout + self.stderr

    def current(self) -> Done:
        """Return this result; raise Deprecated if Ansible warned about a removal in a later release."""
        if DEPRECATION in self.output:
            raise Deprecated(self.output[self.output.index(DEPRECATION) :])
        return self


def environment(directory: Path) -> dict[str, str]:
    """Return an environment without the user's settings, in which Ansible writes only to the directory.

    Compiled modules stay where this process has its own: compiling `kubernetes` for each play takes a CPU second.
    """
    cached = {name: os.environ[name] for name in ("PYTHONPYCACHEPREFIX",) if name in os.environ}
    return {
        **cached,
        "PATH": os.environ["PATH"],
        "HOME": str(directory),
        "LC_ALL": "C.UTF-8",
        "ANSIBLE_HOME": str(directory / "home"),
        "ANSIBLE_LOCAL_TEMP": str(directory / "local"),
        "ANSIBLE_REMOTE_TEMP": str(directory / "remote"),
        "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS),
        "ANSIBLE_CONFIG": str(directory / "ansible.cfg"),
        "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_PIPELINING": "1",
    }


def playbook(directory: Path, *arguments: str, path: str | None = None) -> Done:
    """Run ansible-playbook in some milliseconds; ``path`` replaces PATH."""
    (directory / "ansible.cfg").touch()
    with tempfile.TemporaryDirectory() as name:
        stdout, stderr = Path(name) / "stdout", Path(name) / "stderr"
        status = _warm().run(directory, arguments, _environment(directory, path), (stdout, stderr), TIMEOUT)
        return Done(status, read(stdout), read(stderr)).current()


def started_playbook(directory: Path, *arguments: str, path: str | None = None) -> Done:
    """Run ansible-playbook in some seconds, in full: Python is started for the play, and for each module."""
    (directory / "ansible.cfg").touch()
    done = subprocess.run(
        [sys.executable, "-m", "ansible", "playbook", *arguments],
        cwd=directory,
        env=_environment(directory, path),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr).current()


def _environment(directory: Path, path: str | None) -> dict[str, str]:
    return {**environment(directory), **({"PATH": path} if path else {})}


@cache
def _warm() -> Warm:
    """Start the process with empty settings, as in each run: Ansible reads them when it is imported."""
    directory = tempfile.TemporaryDirectory()
    atexit.register(directory.cleanup)
    path = Path(directory.name)
    (path / "ansible.cfg").touch()
    started = Warm(path, environment(path), warm_ansible.FORK_MODULES)
    atexit.register(started.end)
    return started
