# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`make lock` writes requirements/locks: all packages of each virtual environment with the hashes of their files.

A lock applies to every platform and to all Pythons from the given one on. Existing pins stay while the requirements
admit them; `--upgrade` takes the newest versions.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import venvs

HEADER = """\
# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Written by `make lock` from requirements/{name}.txt, for Python {python} and later.

"""

DEV = "dev"
DEV_PYTHON = "3.11"

FOLLOWS_THE_RELEASE = ("ansible-core", "resolvelib")
"""Packages whose version differs between the releases of ansible-core."""

PIN = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^ ;]+)(?: ; (?P<marker>[^\\]+?))?(?: \\)?$")


@dataclass(frozen=True)
class Lock:
    """``python``: the oldest Python. ``follows``: whether other versions of packages are those of development."""

    name: str
    python: str
    follows: bool = True


LOCKS = (
    Lock(DEV, DEV_PYTHON, follows=False),
    Lock("controller", "3.10"),
    Lock("core-2.17", DEV_PYTHON),
    Lock("core-2.18", DEV_PYTHON),
    Lock("core-2.20", "3.12"),
    Lock("core-2.21", "3.12"),
    Lock("importer", DEV_PYTHON, follows=False),
    Lock("mutation", DEV_PYTHON),
    Lock("node-3.7", "3.7", follows=False),
    Lock("pip", DEV_PYTHON, follows=False),
    Lock("resolver", DEV_PYTHON, follows=False),
)
"""The lock of development is first, because others follow it."""


@dataclass(frozen=True)
class Pin:
    name: str
    version: str
    marker: str = ""


def parse_pins(text: str) -> Iterator[Pin]:
    """The packages of a lock, without their hashes."""
    for line in text.splitlines():
        if match := PIN.match(line):
            yield Pin(match["name"], match["version"], match["marker"] or "")


def render_constraints(pins: Sequence[Pin]) -> str:
    """The pins of development as constraints of another environment; they do not apply to older Pythons."""
    admitted = f"python_full_version >= '{DEV_PYTHON}'"
    lines = []
    for pin in pins:
        if pin.name not in FOLLOWS_THE_RELEASE:
            marker = f"({pin.marker}) and {admitted}" if pin.marker else admitted
            lines.append(f"{pin.name}=={pin.version} ; {marker}\n")
    return "".join(lines)


def read_lock(name: str) -> str:
    return venvs.lock_path(name).read_text(encoding="utf-8")


def write_lock(uv: Path, lock: Lock, arguments: Sequence[str]) -> None:
    """Resolve the requirements. subprocess.CalledProcessError if they conflict; uv has printed why."""
    path = venvs.lock_path(lock.name)
    with tempfile.TemporaryDirectory() as directory:
        # uv replaces the file that it takes the existing pins from; a failed run must not.
        output, constraints = Path(directory) / path.name, Path(directory) / "constraints.txt"
        if path.exists():
            output.write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
        constraints.write_text(render_constraints([*parse_pins(read_lock(DEV))] if lock.follows else []))
        subprocess.run(compile_command(uv, lock, output, constraints, arguments), check=True)
        text = HEADER.format(name=lock.name, python=lock.python) + output.read_text(encoding="utf-8")
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


def compile_command(
    uv: Path, lock: Lock, output: Path, constraints: Path, arguments: Sequence[str]
) -> Sequence[str | Path]:
    options = ["--quiet", "--universal", "--generate-hashes", "--no-header", "--no-annotate"]
    files: list[str | Path] = ["--constraint", constraints, "--output-file", output]
    listed = venvs.REQUIREMENTS / f"{lock.name}.txt"
    return [uv, "pip", "compile", *options, "--python-version", lock.python, *files, *arguments, listed]


def main(arguments: Sequence[str]) -> int:
    uv = venvs.provide(venvs.Recipe("resolver", Path(sys.executable))).with_name("uv")
    for lock in LOCKS:
        print(venvs.lock_path(lock.name).relative_to(venvs.REQUIREMENTS.parent), flush=True)
        try:
            write_lock(uv, lock, arguments)
        except subprocess.CalledProcessError:
            print(f"requirements/{lock.name}.txt cannot be resolved; uv has printed the conflict", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
