# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A controller with ansible-core and without the libraries of the collection, in a network without interfaces."""

from __future__ import annotations

import os
import re
import subprocess
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import requires
from pathlib import Path

from packaging.requirements import Requirement

from ansible_collections.volcano.colocation.tests.run.places import CHECKOUT

LOCK = CHECKOUT / "requirements" / "locks" / "dev.txt"
UNSHARE = ("unshare", "--net") if os.geteuid() == 0 else ("unshare", "--map-root-user", "--net")
_ENTRY = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==.*\n(?:    .*\n?)*", re.MULTILINE)


@dataclass(frozen=True)
class Controller:
    """``root`` has a virtual environment, and the home of a user without a configuration of pip or Ansible."""

    root: Path

    @classmethod
    def create(cls, root: Path) -> Controller:
        """Install ansible-core, in the versions of the tests, while the network is open."""
        venv.create(root / "venv", with_pip=True, symlinks=True)
        requirements = root / "requirements.txt"
        requirements.write_text("".join(_locked("ansible-core")))
        options = ("--quiet", "--disable-pip-version-check", "--require-hashes", "--no-deps", "--requirement")
        subprocess.run([root / "venv/bin/python", "-m", "pip", "install", *options, requirements], check=True)
        (root / "home").mkdir()
        return cls(root)

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": f"{self.root / 'venv/bin'}:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": str(self.root / "home"),
            "LC_ALL": "C.UTF-8",
            "ANSIBLE_NOCOLOR": "1",
            "COLUMNS": "1000",
        }

    def run(self, *command: str | Path, directory: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run a command in a new network namespace, which has only a loopback interface that is down."""
        return subprocess.run(
            [*UNSHARE, "--", *command],
            cwd=directory or self.root,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    def has(self, library: str) -> bool:
        return self.run("python3", "-c", f"import {library}").returncode == 0


def _locked(name: str) -> Iterator[str]:
    """The lock's lines for a package and for what it needs."""
    entries: dict[str, str] = {}
    for match in _ENTRY.finditer(LOCK.read_text(encoding="utf-8")):
        entries[_normalized(match["name"])] = match[0] if match[0].endswith("\n") else f"{match[0]}\n"
    pending, done = [name], set()
    while pending:
        package = _normalized(pending.pop())
        if package in done:
            continue
        done.add(package)
        yield entries[package]
        for text in requires(package) or ():
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                pending.append(requirement.name)


def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
