# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Virtual environments that all checkouts of a user share, in ~/.cache/volcano-colocation by the digest of their pins.

tests/setup runs this file before anything is installed, so it needs the standard library only.
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
CONSTRAINTS = "constraints.txt"

STAMP = "complete"
"""A file that is written last: a directory without it was not completed. Its time is that of the last use."""

UNUSED = 60 * 24 * 3600.0
"""Seconds after which a directory that nothing has used is removed."""

IDENTITY = "import os, platform, sys; print(sys.version, platform.machine(), os.path.realpath(sys.base_prefix))"
"""A virtual environment belongs to one installation of Python."""


@dataclass(frozen=True)
class Recipe:
    """A virtual environment: ``requirements/<name>.txt`` with ``pins`` as constraints, made by ``interpreter``."""

    name: str
    interpreter: Path
    pins: str

    @property
    def digest(self) -> str:
        return digest([identity(self.interpreter), *requirement_texts(self.name), self.pins])

    @property
    def folder(self) -> Path:
        return shared("venv") / self.digest


def shared(kind: str) -> Path:
    """The directory of a kind of entries; XDG_CACHE_HOME counts where it is absolute, as its specification demands."""
    configured = Path(os.environ.get("XDG_CACHE_HOME", ""))
    root = configured if configured.is_absolute() else Path.home() / ".cache"
    return root / "volcano-colocation" / kind


def digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("".join(f"{len(part)}:{part}" for part in parts).encode()).hexdigest()[:16]


def identity(interpreter: Path) -> str:
    return subprocess.run([interpreter, "-I", "-c", IDENTITY], capture_output=True, text=True, check=True).stdout


def requirement_texts(name: str) -> Iterator[str]:
    """The text of a requirements file, and those of the files that it includes."""
    text = (REQUIREMENTS / f"{name}.txt").read_text(encoding="utf-8")
    yield text
    for line in text.splitlines():
        if line.startswith("-r "):
            yield from requirement_texts(line.removeprefix("-r ").strip().removesuffix(".txt"))


def constraints() -> str:
    return (REQUIREMENTS / CONSTRAINTS).read_text(encoding="utf-8")


def is_complete(folder: Path) -> bool:
    return (folder / STAMP).is_file()


def obtain(folder: Path, make: Callable[[Path], None]) -> Path:
    """``folder``, filled by ``make`` unless it is complete; one process at a time makes it, the others wait.

    It is made where it stays, since a virtual environment cannot be moved. What a failed ``make`` leaves is removed.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _lock(folder):
        if not is_complete(folder):
            shutil.rmtree(folder, ignore_errors=True)
            try:
                make(folder)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
        (folder / STAMP).touch()
    prune(folder.parent)
    return folder


def prune(root: Path, unused: float = UNUSED) -> None:
    """Remove entries that nothing has used for ``unused`` seconds; one that a process is at work on stays."""
    for stamp in root.glob(f"*/{STAMP}"):
        with contextlib.suppress(FileNotFoundError, BlockingIOError):
            if time.time() - stamp.stat().st_mtime > unused:
                with _lock(stamp.parent, fcntl.LOCK_EX | fcntl.LOCK_NB):
                    shutil.rmtree(stamp.parent, ignore_errors=True)


@contextlib.contextmanager
def _lock(folder: Path, operation: int = fcntl.LOCK_EX) -> Iterator[None]:
    """The lock of an entry. Its file stays: two processes could otherwise hold locks on two files of one name."""
    with folder.with_name(f".{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, operation)
        yield


def provide(recipe: Recipe) -> Path:
    """The Python of the virtual environment."""
    return obtain(recipe.folder, lambda folder: install(recipe, folder)) / "bin" / "python"


def install(recipe: Recipe, folder: Path) -> None:
    print(f"making {folder}", flush=True)
    _make(recipe.interpreter, folder)
    constrained = folder / CONSTRAINTS
    constrained.write_text(recipe.pins, encoding="utf-8")
    pip: list[str | Path] = [
        folder / "bin" / "python",
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--quiet",
    ]
    wanted = ["--requirement", str(REQUIREMENTS / f"{recipe.name}.txt"), "--constraint", str(constrained)]
    subprocess.run([*pip, *wanted], check=True)


def _make(interpreter: Path, folder: Path) -> None:
    """A virtual environment with pip. Debian's python3 alone brings none: then it is installed as it is published."""
    if _has(interpreter, "ensurepip"):
        subprocess.run([interpreter, "-m", "venv", folder], check=True)
        return
    subprocess.run([interpreter, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = subprocess.run([python, "-I", "-c", where], capture_output=True, text=True, check=True).stdout.strip()
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", packages, "pip"], check=True
    )


def _has(interpreter: Path, module: str) -> bool:
    return subprocess.run([interpreter, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


def link(path: Path, folder: Path) -> None:
    """Make ``path`` a link to ``folder``, whatever it was before."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.unlink(missing_ok=True)
    partial.symlink_to(folder)
    partial.rename(path)


def main(arguments: list[str]) -> int:
    """``path``: print where the development environment is; 1 when it is not complete. ``make LINK``: make and link it.

    Called by the interpreter that the environment is to have.
    """
    recipe = Recipe("dev", Path(sys.executable), constraints())
    command, *rest = arguments
    if command == "path":
        print(recipe.folder)
        return 0 if is_complete(recipe.folder) else 1
    try:
        provide(recipe)
    except subprocess.CalledProcessError as error:
        print(f"{' '.join(map(str, error.cmd[:4]))} … failed: exit status {error.returncode}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{error}; set XDG_CACHE_HOME to a directory that you can write", file=sys.stderr)
        return 1
    link(Path(rest[0]), recipe.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
