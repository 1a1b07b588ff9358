# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs ansible-playbook in a folder: forked from a process that has imported Ansible, or started as users start it."""

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
    """Something in the run will not work with a later ansible-core."""


@dataclass(frozen=True)
class Done:
    status: int
    stdout: str
    stderr: str

    @property
    def output(self) -> str:
        return self.stdout + self.stderr

    def current(self) -> Done:
        """The same; Deprecated where Ansible warned that a later release takes something away."""
        if DEPRECATION in self.output:
            raise Deprecated(self.output[self.output.index(DEPRECATION) :])
        return self


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
    with tempfile.TemporaryDirectory() as name:
        stdout, stderr = Path(name) / "stdout", Path(name) / "stderr"
        status = _warm().run(folder, arguments, _environment(folder, path), (stdout, stderr), TIMEOUT)
        return Done(status, read(stdout), read(stderr)).current()


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
    return Done(done.returncode, done.stdout, done.stderr).current()


def _environment(folder: Path, path: str | None) -> dict[str, str]:
    return {**environment(folder), **({"PATH": path} if path else {})}


@cache
def _warm() -> Warm:
    """Its settings, which Ansible reads when it is imported, are as empty as those of each run."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    path = Path(folder.name)
    (path / "ansible.cfg").touch()
    started = Warm(path, environment(path), warm_ansible.FORK_MODULES)
    atexit.register(started.end)
    return started
