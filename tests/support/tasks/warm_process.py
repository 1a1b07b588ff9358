# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of ansible-playbook without its start: each is a fork of a process that has imported Ansible."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from ansible_collections.volcano.colocation.tests.lab.process import is_readable
from ansible_collections.volcano.colocation.tests.support.tasks import warm_ansible


class Warm:
    """The process. It reads Ansible's settings at its start, in ``directory`` and from ``environment``.

    ``options`` are those of warm_ansible.py.
    """

    def __init__(self, directory: Path, environment: Mapping[str, str], *options: str) -> None:
        self._log = directory / "log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, warm_ansible.__file__, *options],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=directory,
                env=environment,
                text=True,
            )

    def run(
        self,
        directory: Path,
        arguments: tuple[str, ...],
        environment: Mapping[str, str],
        output: tuple[Path, Path],
        timeout: float,
    ) -> int:
        """Run ansible-playbook in ``directory`` with these arguments; return the exit status.

        ``output``: the files for standard output and error, which may be one. TimeoutError ends the process.
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        files = {name: str(path) for name, path in zip(("stdout", "stderr"), output, strict=True)}
        request = {"folder": str(directory), "arguments": arguments, "environment": dict(environment), **files}
        print(json.dumps(request), file=stdin, flush=True)
        if not is_readable(stdout.fileno(), timeout):
            self._process.kill()
            raise TimeoutError(f"{arguments} did not end in {timeout:.0f} s; so far:\n{read(output[0])}")
        status = stdout.readline()
        assert status, f"the process with Ansible ended:\n{read(self._log)}"
        return int(status)

    def end(self) -> None:
        """End the process."""
        if self._process.stdin:
            self._process.stdin.close()
        self._process.wait()


def read(path: Path) -> str:
    """Return the output of a run."""
    return path.read_text(encoding="utf-8", errors="surrogateescape")
