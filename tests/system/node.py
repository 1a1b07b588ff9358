# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tests' node: Ansible against it as a user runs it, and its files, services and pods as it tells them itself."""

from __future__ import annotations

import atexit
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any

import pytest

from ansible_collections.volcano.colocation.tests.support.tasks.warm_process import Warm, read

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
WATCHED = ("/etc/containerd", "/etc/kubernetes", "/etc/systemd/system", "/var/lib/kubelet/config.yaml")
PROFILE = {
    "colocation_cgroup_driver": "systemd",
    "colocation_system_reserved": {"cpu": "500m"},
    "colocation_allow_disruption": True,
    "colocation_report_directory": "",
}
SPEC = ("--suite", "trixie", "--cgroup", "v2", "--driver-kubelet", "systemd", "--driver-runtime", "systemd")
"""The lab's options for the node of tests that do not need another kind."""

LOOK_SECONDS = 15.0
TIMEOUT = 1800.0

Look = Callable[[], None]
"""What is done now and then while a playbook runs."""


def lab(*arguments: str, text: str | None = None) -> str:
    """A lab command's output; its progress goes to the test's own standard error, ``text`` to its input."""
    argv = [sys.executable, str(ROOT / "tests" / "lab"), *arguments]
    return subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True, input=text).stdout


def throwaway(request: pytest.FixtureRequest, name: str, *spec: str) -> Iterator[Node]:
    """A lab node. Where a test has failed meanwhile it stays, for its journal; the next run replaces it."""
    failed = request.session.testsfailed
    lab("down", name)
    lab("up", name, *spec)
    yield Node(name, lab("inventory", name).strip(), request.getfixturevalue("tmp_path_factory").mktemp("runs"))
    if request.session.testsfailed == failed:
        lab("down", name)


@dataclass(frozen=True)
class Run:
    """What a run of ansible-playbook printed, and its recap for one host."""

    code: int
    output: str

    def recap(self, host: str) -> dict[str, int]:
        found = re.search(rf"^{re.escape(host)}\s+: (.*)$", self.output, re.MULTILINE)
        assert found, self.output
        return {key: int(count) for key, count in (pair.split("=") for pair in found[1].split())}


Runner = Callable[..., Run]
"""``ansible`` or ``ansible_process``."""


@dataclass(frozen=True)
class Node:
    name: str
    inventory: str
    folder: Path

    def shell(self, command: str) -> str:
        """Output of a shell command on the node; fails with what it said."""
        done = subprocess.run(
            [sys.executable, str(ROOT / "tests" / "lab"), "ssh", self.name, "--", command],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def write(self, path: str, text: str) -> None:
        """Replace a file's content in place: same inode, owner and mode."""
        self.shell(f"printf %s {shlex.quote(text)} > {shlex.quote(path)}")

    def tree(self) -> str:
        """Type, mode, owner, link target and content hash of everything we must not touch unasked."""
        where = " ".join(WATCHED)
        return self.shell(
            f"find {where} -printf '%y %m %U %G %p %l\\n' | sort; find {where} -type f -exec sha256sum {{}} + | sort"
        )

    def services(self) -> str:
        """Main processes of kubelet and containerd: they change when somebody restarts them."""
        return self.shell("systemctl show -p MainPID,ActiveState kubelet containerd")

    def containers(self) -> list[str]:
        """Cgroup paths of container processes, from the kernel."""
        lines = self.shell("cat /proc/[0-9]*/cgroup 2>/dev/null || true").splitlines()
        return sorted({line.split(":", 2)[2] for line in lines if re.search(r"[0-9a-f]{64}", line)})

    def pods(self) -> list[str]:
        """Cgroup paths of pods, once for each container that runs in one."""
        return sorted(path.rsplit("/", 1)[0] for path in self.containers())

    def ansible(self, playbook: str, *arguments: str, look: Look | None = None, **variables: Any) -> Run:
        """Run one of the collection's playbooks with the tests' profile and ``variables`` on top."""
        words = ("-i", self.inventory, *arguments)
        given = {**PROFILE, **variables}
        playbook = f"volcano.colocation.{playbook}"
        if look:
            return ansible_process(playbook, self.folder, *words, look=look, **given)
        return ansible(playbook, self.folder, *words, **given)


def ansible(playbook: str, folder: Path, *arguments: str, **variables: Any) -> Run:
    """Run a playbook, from ``folder``, with the installed collection, in a fork of a process that runs them all."""
    log = folder / "ansible.log"
    code = _warm().run(folder, _words(playbook, arguments, variables), environment(), (log, log), TIMEOUT)
    return Run(code, read(log))


@cache
def _warm() -> Warm:
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    started = Warm(Path(folder.name), environment())
    atexit.register(started.end)
    return started


def ansible_process(playbook: str, folder: Path, *arguments: str, look: Look | None = None, **variables: Any) -> Run:
    """The same as a user starts it. What ``look`` raises meanwhile kills the run."""
    with _started(playbook, folder, arguments, variables, subprocess.PIPE) as process:
        try:
            said = _said(process, look)
        except BaseException:
            _kill(process.pid)
            raise
    return Run(process.returncode, said)


def _said(process: subprocess.Popen[str], look: Look | None) -> str:
    """All that it prints until its end."""
    while look:
        try:
            return process.communicate(timeout=LOOK_SECONDS)[0]
        except subprocess.TimeoutExpired:
            look()
    return process.communicate()[0]


@contextmanager
def begun(playbook: str, folder: Path, *arguments: str, **variables: Any) -> Iterator[Path]:
    """What such a run says, while it runs; in the end it is killed with all that it has started."""
    path = folder / "begun.log"
    with path.open("w") as said, _started(playbook, folder, arguments, variables, said) as process:
        try:
            yield path
        finally:
            _kill(process.pid)


def _kill(pid: int) -> None:
    """A process with all that it has started: since ansible-core 2.19 each worker has a session of its own."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)
    for each in (pid, *_descendants(pid)):
        with suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)


def _descendants(pid: int) -> list[int]:
    """By proc(5): the parent is the second field behind the name, which is in brackets."""
    found = [pid]
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
    for each in found:
        found += [child for child, parent in parents.items() if parent == each]
    return found[1:]


def _started(
    playbook: str, folder: Path, arguments: Sequence[str], variables: dict[str, Any], output: int | IO[str]
) -> subprocess.Popen[str]:
    """With no terminal, and nothing to read."""
    return subprocess.Popen(
        [str(BIN / "ansible-playbook"), *_words(playbook, arguments, variables)],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _words(playbook: str, arguments: Sequence[str], variables: dict[str, Any]) -> tuple[str, ...]:
    return ("-e", json.dumps(variables), *arguments, playbook)


def environment() -> dict[str, str]:
    """That of ansible-playbook: with the collection as it is installed."""
    return {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".cache" / "collections"),
        "ANSIBLE_HOME": str(ROOT / ".cache" / "ansible"),
        "ANSIBLE_NOCOLOR": "1",
        "COLUMNS": "1000",
    }
