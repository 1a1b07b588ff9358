# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Unit tests that use ansible-core on its other releases, and those of node-side code on the oldest Python of a node.

Each part has a separate virtual environment, which all checkouts share, and one process: three take a third more CPU
time. A release of ansible-core also replays snapshots in a playbook. The argument `exhaustive` runs only the tests that
the stage skips on the oldest Python. Releases that need a newer Python than the machine has use Debian 13's, from the
lab's root file system.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..lab.errors import LabError
from . import trixie, venvs
from .places import CHECKOUT, tool_environment
from .report import NOT_RUN
from .venvs import Recipe

NODE_PYTHON = "3.7"

# Only these import ansible-core: tests/unit/project/test_sources.py checks that.
UNITS = ("tests/unit/action", "tests/unit/plugin_utils/node")
FLEET_UNITS = ("tests/unit/action/test_fleet_callback.py", "tests/unit/action/test_fleet_results.py")
FILE_UNITS = ("tests/unit/action/test_files_actions.py", *FLEET_UNITS, UNITS[1])
RELEASES = {"2.17": UNITS, "2.18": FILE_UNITS, "2.20": FILE_UNITS, "2.21": UNITS}
"""The oldest and the newest release run all of them, as 2.19 does in the stage `units`; the others run a part."""
WITHOUT_ANSIBLE = ("tests/unit/plugin_utils/node/test_snapshot_files.py",)
"""Files of these directories that do not import ansible-core either."""
RELEASE_SELECTION = ("-m", "not many_hosts", *(f"--ignore={path}" for path in WITHOUT_ANSIBLE))
"""The playbooks run over some hosts; 200 of them print the same lines, only later."""
NEWER_PYTHON = {"2.20": (3, 12), "2.21": (3, 12)}
"""The oldest Python of a controller, where it is newer than the one of `make setup`: setup.cfg of ansible-core."""
NEWER_PYTHONS = ("3.12", "3.13", "3.14")
"""Pythons to look for in that case."""
NODE_UNITS = ("tests/unit/module_utils",)
EXHAUSTIVE = ("-m", "exhaustive")
NOT_AGAIN = ("-m", "not exhaustive")
"""The result of a crash depends on the order of the calls, which is the same on every Python."""
PLAYBOOK = "tests/package/replay.yml"
DEPRECATION = "[DEPRECATION WARNING]"


def main(arguments: Sequence[str]) -> int:
    parts = node_units(EXHAUSTIVE) if "exhaustive" in arguments else results()
    failed = [name for name, passed in parts if not passed]
    print(f"failed: {', '.join(failed)}" if failed else "all passed")
    return 1 if failed else 0


def results() -> Iterator[tuple[str, bool]]:
    """Each part of the matrix and whether it passed."""
    for release, units in RELEASES.items():
        try:
            interpreter = controller_python(release)
        except LabError as error:
            print(f"{NOT_RUN}everything on ansible-core {release}: {error}; or install Python {NEWER_PYTHONS[0]}")
            continue
        python = venvs.provide(Recipe(f"core-{release}", interpreter))
        yield f"units on ansible-core {release}", run(python, "-m", "pytest", *RELEASE_SELECTION, *units)
        yield f"playbook on ansible-core {release}", run_current(python, "-m", "ansible", "playbook", PLAYBOOK)
    yield from node_units(NOT_AGAIN)


def node_units(selection: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    """Node-side tests on the oldest Python, if it is installed."""
    name = f"node-side units on Python {NODE_PYTHON}"
    node_python = find_python(NODE_PYTHON)
    if node_python is None:
        print(
            f"{NOT_RUN}{name}: install Python {NODE_PYTHON}, for example with pyenv; only vermin checks the syntax now"
        )
        return
    python = venvs.provide(Recipe(f"node-{NODE_PYTHON}", node_python))
    yield name, run(python, "-m", "pytest", *selection, *NODE_UNITS)


def controller_python(release: str) -> Path:
    """A Python for this release of ansible-core: this one, another of this machine, or that of Debian 13.

    LabError if Debian's is needed and cannot be built.
    """
    return installed_python(release) or trixie.provide()


def installed_python(release: str) -> Path | None:
    """A Python of this machine for this release of ansible-core."""
    if sys.version_info[:2] >= NEWER_PYTHON.get(release, (0, 0)):
        return Path(sys.executable)
    return next(filter(None, map(find_python, NEWER_PYTHONS)), None)


def find_python(version: str) -> Path | None:
    """A Python that runs, from PATH or from pyenv, whose shims may lack a program."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    named = [shutil.which(f"python{version}"), *pyenv.glob(f"versions/{version}.*/bin/python{version}")]
    return next((Path(path) for path in named if path and _runs(path)), None)


def _runs(path: str | Path) -> bool:
    return subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode == 0


def run(python: Path, *arguments: str) -> bool:
    print(f"$ {python} {' '.join(arguments)}", flush=True)
    return subprocess.run([python, *arguments], cwd=CHECKOUT, env=environment(python), check=False).returncode == 0


def run_current(python: Path, *arguments: str) -> bool:
    """Like ``run``, but a deprecation warning of ansible-core is a failure."""
    print(f"$ {python} {' '.join(arguments)}", flush=True)
    done = subprocess.run(
        [python, *arguments],
        cwd=CHECKOUT,
        env=environment(python),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    print(done.stdout, end="", flush=True)
    return done.returncode == 0 and DEPRECATION not in done.stdout


def environment(python: Path) -> dict[str, str]:
    """The environment of the stages, with the programs of another virtual environment first on PATH."""
    base = tool_environment(os.environ)
    return {**base, "PATH": os.pathsep.join([str(python.parent), base["PATH"]])}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
