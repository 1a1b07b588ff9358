# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Virtual environments that all checkouts of a user share, in ~/.cache/volcano-colocation by the digest of their locks.

tests/setup runs this file before anything is installed, so it needs only the standard library.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parents[2] / "requirements"

PIP_INSTALL = (
    *("-m", "pip", "install", "--disable-pip-version-check", "--quiet"),
    # A lock is complete, so no dependencies are resolved. Stages keep bytecode in the checkout and would not use pip's.
    *("--require-hashes", "--no-deps", "--no-compile"),
)
"""Arguments of Python."""

STAMP = "complete"
"""A file that is written last: a directory without it is incomplete. Its time is that of the last use."""

UNUSED = 60 * 24 * 3600.0
"""Seconds after which an unused directory is removed."""

IDENTITY = "import os, platform, sys; print(sys.version, platform.machine(), os.path.realpath(sys.base_prefix))"
"""Prints the identity of a Python installation, to which a virtual environment belongs."""


@dataclass(frozen=True)
class Recipe:
    """A virtual environment: the packages of ``requirements/locks/<name>.txt``, made by ``interpreter``."""

    name: str
    interpreter: Path

    @property
    def digest(self) -> str:
        return digest([identity(self.interpreter), lock_path(self.name).read_text(encoding="utf-8")])

    @property
    def directory(self) -> Path:
        return shared("venv") / self.digest


def shared(kind: str) -> Path:
    """The directory of a kind of entries; XDG_CACHE_HOME is used if it is absolute, as its specification requires."""
    configured = Path(os.environ.get("XDG_CACHE_HOME", ""))
    root = configured if configured.is_absolute() else Path.home() / ".cache"
    return root / "volcano-colocation" / kind


def digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("".join(f"{len(part)}:{part}" for part in parts).encode()).hexdigest()[:16]


def identity(interpreter: Path) -> str:
    return subprocess.run([interpreter, "-I", "-c", IDENTITY], capture_output=True, text=True, check=True).stdout


def lock_path(name: str) -> Path:
    """The file with the packages of an environment and their hashes; `make lock` writes it."""
    return REQUIREMENTS / "locks" / f"{name}.txt"


def is_complete(directory: Path) -> bool:
    return (directory / STAMP).is_file()


def obtain(directory: Path, make: Callable[[Path], None]) -> Path:
    """``directory``, filled by ``make`` unless it is complete; one process at a time makes it, the others wait.

    It is made in its final place, because a virtual environment cannot be moved. A failed ``make`` leaves no files.
    """
    directory.parent.mkdir(parents=True, exist_ok=True)
    with _lock(directory):
        if not is_complete(directory):
            shutil.rmtree(directory, ignore_errors=True)
            try:
                make(directory)
            except BaseException:
                shutil.rmtree(directory, ignore_errors=True)
                raise
        (directory / STAMP).touch()
    prune(directory.parent)
    return directory


def prune(root: Path, unused: float = UNUSED) -> None:
    """Remove entries that were not used for ``unused`` seconds, except those that a process has locked."""
    for stamp in root.glob(f"*/{STAMP}"):
        with contextlib.suppress(FileNotFoundError, BlockingIOError):
            if time.time() - stamp.stat().st_mtime > unused:
                with _lock(stamp.parent, fcntl.LOCK_EX | fcntl.LOCK_NB):
                    shutil.rmtree(stamp.parent, ignore_errors=True)


@contextlib.contextmanager
def _lock(directory: Path, operation: int = fcntl.LOCK_EX) -> Iterator[None]:
    """The lock of an entry. Its file stays, or two processes could hold locks on two files with the same name."""
    with directory.with_name(f".{directory.name}.lock").open("w") as lock:
        fcntl.flock(lock, operation)
        yield


def provide(recipe: Recipe) -> Path:
    """The Python of the virtual environment, which is created if it is incomplete."""
    return obtain(recipe.directory, lambda directory: install(recipe, directory)) / "bin" / "python"


def install(recipe: Recipe, directory: Path) -> None:
    print(f"making {directory}", flush=True)
    _make(recipe.interpreter, directory)
    python = directory / "bin" / "python"
    subprocess.run([python, *PIP_INSTALL, "--requirement", lock_path(recipe.name)], check=True)


def _make(interpreter: Path, directory: Path) -> None:
    """Create a virtual environment with pip. Debian's python3 lacks ensurepip; then pip is installed from the index."""
    if _has(interpreter, "ensurepip"):
        subprocess.run([interpreter, "-m", "venv", directory], check=True)
        return
    subprocess.run([interpreter, "-m", "venv", "--without-pip", directory], check=True)
    python = directory / "bin" / "python"
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = subprocess.run([python, "-I", "-c", where], capture_output=True, text=True, check=True).stdout.strip()
    subprocess.run([sys.executable, *PIP_INSTALL, "--target", packages, "--requirement", lock_path("pip")], check=True)


def _has(interpreter: Path, module: str) -> bool:
    return subprocess.run([interpreter, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


def link(path: Path, directory: Path) -> None:
    """Make ``path`` a link to ``directory``, replacing a file, link or directory."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.unlink(missing_ok=True)
    partial.symlink_to(directory)
    partial.rename(path)


def main(arguments: list[str]) -> int:
    """``path``: print the path of the development environment; 1 if incomplete. ``make LINK``: create and link it.

    The interpreter that runs this file is the one of the environment.
    """
    recipe = Recipe("dev", Path(sys.executable))
    command, *links = arguments
    if command == "path":
        print(recipe.directory)
        return 0 if is_complete(recipe.directory) else 1
    try:
        provide(recipe)
    except subprocess.CalledProcessError as error:
        print(f"{' '.join(map(str, error.cmd[:4]))} … failed: exit status {error.returncode}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{error}; set XDG_CACHE_HOME to a directory that you can write", file=sys.stderr)
        return 1
    link(Path(links[0]), recipe.directory)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
