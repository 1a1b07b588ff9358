# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Unit tests of what meets ansible-core on its older releases, and those of node-side code on a node's oldest Python.

Each has a virtual environment of its own in .cache. A release of ansible-core also replays snapshots in a playbook.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from .places import CACHE, CHECKOUT, tool_environment
from .stages import ON_ALL_CPUS

NODE_PYTHON = "3.7"

FOLLOWS_THE_RELEASE = ("ansible-core", "resolvelib")
"""Pins of constraints.txt that hold for the newest release only."""

# Nothing else imports ansible-core: tests/unit/project/test_sources.py holds it.
UNITS = ("tests/unit/action", "tests/unit/plugin_utils/controller")
BETWEEN = ("tests/unit/action/test_files_actions.py", UNITS[1])
RELEASES = {"2.17": UNITS, "2.18": BETWEEN}
"""The oldest meets all of them, as the newest does in the stage of units; one in between those of files."""
NODE_UNITS = ("tests/unit/module_utils",)
NOT_AGAIN = ("-m", "not exhaustive")
"""Whether a crash loses anything is up to the order of the calls, which is the same on every Python."""
PLAYBOOK = "tests/package/replay.yml"


def main() -> int:
    failed = [name for name, passed in results() if not passed]
    print(f"failed: {', '.join(failed)}" if failed else "all passed")
    return 1 if failed else 0


def results() -> Iterator[tuple[str, bool]]:
    """Each part of the matrix and whether it passed."""
    for release, units in RELEASES.items():
        python = provide(f"core-{release}", Path(sys.executable), constraints())
        yield f"units on ansible-core {release}", run(python, "-m", "pytest", *ON_ALL_CPUS, *units)
        yield f"playbook on ansible-core {release}", run(python, "-m", "ansible", "playbook", PLAYBOOK)
    node_python = find_python(NODE_PYTHON)
    if node_python is None:
        print(f"no Python {NODE_PYTHON} on this machine: vermin alone proves that node-side code runs on it")
        return
    python = provide(f"node-{NODE_PYTHON}", node_python, "")
    yield f"node-side units on Python {NODE_PYTHON}", run(python, "-m", "pytest", *ON_ALL_CPUS, *NOT_AGAIN, *NODE_UNITS)


def provide(name: str, interpreter: Path, pins: str) -> Path:
    """The Python of a virtual environment with what requirements/``name``.txt lists, made anew when it changes."""
    requirements = CHECKOUT / "requirements" / f"{name}.txt"
    wanted = hashlib.sha256((requirements.read_text() + pins).encode()).hexdigest()
    folder = CACHE / name
    python, stamp = folder / "bin" / "python", folder / "requirements.sha256"
    if not stamp.is_file() or stamp.read_text() != wanted:
        print(f"making {folder}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([interpreter, "-m", "venv", folder], check=True)
        constrained = folder / "constraints.txt"
        constrained.write_text(pins)
        pip: list[str | Path] = [python, "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
        subprocess.run([*pip, "--requirement", requirements, "--constraint", constrained], check=True)
        stamp.write_text(wanted)
    return python


def constraints() -> str:
    lines = (CHECKOUT / "requirements" / "constraints.txt").read_text().splitlines(keepends=True)
    return "".join(line for line in lines if line.split("==")[0] not in FOLLOWS_THE_RELEASE)


def find_python(version: str) -> Path | None:
    """A Python that runs, from PATH or from pyenv, whose shims may stand for nothing."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    named = [shutil.which(f"python{version}"), *pyenv.glob(f"versions/{version}.*/bin/python{version}")]
    return next((Path(path) for path in named if path and _runs(path)), None)


def _runs(path: str | Path) -> bool:
    return subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode == 0


def run(python: Path, *arguments: str) -> bool:
    print(f"$ {python} {' '.join(arguments)}", flush=True)
    return subprocess.run([python, *arguments], cwd=CHECKOUT, env=environment(python), check=False).returncode == 0


def environment(python: Path) -> dict[str, str]:
    """That of the stages, with the programs of another virtual environment first on PATH."""
    base = tool_environment(os.environ)
    return {**base, "PATH": os.pathsep.join([str(python.parent), base["PATH"]])}


if __name__ == "__main__":
    sys.exit(main())
