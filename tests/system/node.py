# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tests' node: runs of Ansible as a user starts them, and files, services and pods read on the node."""

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
"""Called regularly while a playbook runs."""


def lab(*arguments: str, text: str | None = None) -> str:
    """Run a lab command with ``text`` as input; return its output. Its progress goes to the test's standard error."""
    argv = [sys.executable, str(ROOT / "tests" / "lab"), *arguments]
    return subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True, input=text).stdout


def throwaway(request: pytest.FixtureRequest, name: str, *spec: str) -> Iterator[Node]:
    """Yield a lab node. It is kept if a test failed, for its journal; the next run replaces it."""
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
        match = re.search(rf"^{re.escape(host)}\s+: (.*)$", self.output, re.MULTILINE)
        assert match, self.output
        return {key: int(count) for key, count in (pair.split("=") for pair in match[1].split())}


Runner = Callable[..., Run]
"""``ansible`` or ``ansible_process``."""


@dataclass(frozen=True)
class Node:
    name: str
    inventory: str
    directory: Path

    def shell(self, command: str) -> str:
        """Run a shell command on the node; return its output, or fail with it."""
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
        """Return type, mode, owner, link target and content hash of files that must not change without a request."""
        where = " ".join(WATCHED)
        return self.shell(
            f"find {where} -printf '%y %m %U %G %p %l\\n' | sort; find {where} -type f -exec sha256sum {{}} + | sort"
        )

    def services(self) -> str:
        """Return the main processes of kubelet and containerd, which change with a restart."""
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
        variables_with_profile = {**PROFILE, **variables}
        playbook = f"volcano.colocation.{playbook}"
        if look:
            return ansible_process(playbook, self.directory, *words, look=look, **variables_with_profile)
        return ansible(playbook, self.directory, *words, **variables_with_profile)


def ansible(playbook: str, directory: Path, *arguments: str, **variables: Any) -> Run:
    """Run a playbook in ``directory`` with the installed collection, in a fork of a process that all runs share."""
    log = directory / "ansible.log"
    code = _warm().run(directory, _words(playbook, arguments, variables), environment(), (log, log), TIMEOUT)
    return Run(code, read(log))


@cache
def _warm() -> Warm:
    directory = tempfile.TemporaryDirectory()
    atexit.register(directory.cleanup)
    started = Warm(Path(directory.name), environment())
    atexit.register(started.end)
    return started


def ansible_process(playbook: str, directory: Path, *arguments: str, look: Look | None = None, **variables: Any) -> Run:
    """Run a playbook as a user starts it. An exception of ``look`` kills the run."""
    with _started(playbook, directory, arguments, variables, subprocess.PIPE) as process:
        try:
            output = _read_output(process, look)
        except BaseException:
            _kill(process.pid)
            raise
    return Run(process.returncode, output)


def _read_output(process: subprocess.Popen[str], look: Look | None) -> str:
    """Return the whole output of a process."""
    while look:
        try:
            return process.communicate(timeout=LOOK_SECONDS)[0]
        except subprocess.TimeoutExpired:
            look()
    return process.communicate()[0]


@contextmanager
def begun(playbook: str, directory: Path, *arguments: str, **variables: Any) -> Iterator[Path]:
    """Yield the log of a playbook while it runs; at the end kill it with its child processes."""
    path = directory / "begun.log"
    with path.open("w") as log, _started(playbook, directory, arguments, variables, log) as process:
        try:
            yield path
        finally:
            _kill(process.pid)


def _kill(pid: int) -> None:
    """Kill a process with its descendants: since ansible-core 2.19 each worker has a separate session."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)
    for process_id in (pid, *_descendants(pid)):
        with suppress(ProcessLookupError):
            os.kill(process_id, signal.SIGKILL)


def _descendants(pid: int) -> list[int]:
    """Find descendants. proc(5): the parent is the second field after the name, which is in parentheses."""
    pids = [pid]
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
    for parent_pid in pids:
        pids += [child for child, parent in parents.items() if parent == parent_pid]
    return pids[1:]


def _started(
    playbook: str, directory: Path, arguments: Sequence[str], variables: dict[str, Any], output: int | IO[str]
) -> subprocess.Popen[str]:
    """Start ansible-playbook without a terminal and without input."""
    return subprocess.Popen(
        [str(BIN / "ansible-playbook"), *_words(playbook, arguments, variables)],
        cwd=directory,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _words(playbook: str, arguments: Sequence[str], variables: dict[str, Any]) -> tuple[str, ...]:
    return ("-e", json.dumps(variables), *arguments, playbook)


def environment() -> dict[str, str]:
    """Return the environment of ansible-playbook, with the installed collection."""
    return {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".cache" / "collections"),
        "ANSIBLE_HOME": str(ROOT / ".cache" / "ansible"),
        "ANSIBLE_NOCOLOR": "1",
        "COLUMNS": "1000",
    }
