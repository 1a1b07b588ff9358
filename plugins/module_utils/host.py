# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Access to a node: all file reads, commands and clock reads go through these classes."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import time
from dataclasses import dataclass
from typing import Sequence

from . import chroot_path
from .errors import ColocationError

CHUNK = 1 << 16
"""Bytes of one read: a sysctl file returns ENOMEM for a buffer of 4 MiB and more."""

READ_LIMIT = 1 << 20
"""Bytes; configuration files and most kernel files of a node are far smaller."""
TABLE_LIMIT = 1 << 26
"""Bytes; mountinfo has ten lines of a kilobyte for each container."""
NULL = "/dev/null"
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
"""O_NONBLOCK: a FIFO in the place of a configuration file must not hang us."""


@dataclass(frozen=True)
class CommandResult:
    """The result of a program. ``rc`` is None if it could not be started or timed out."""

    argv: tuple[str, ...]
    rc: int | None
    stdout: str
    stderr: str
    seconds: float


class Host:
    """Files and programs of the node whose file system is mounted at ``root``.

    With another ``root`` only files are available; programs are refused, as they would describe another node.
    Symbolic links are then resolved below ``root``, as in a chroot.
    """

    def __init__(self, root: str = "/") -> None:
        self.root = os.path.abspath(root)

    @classmethod
    def below(cls, root: str) -> Host:
        """The node whose files are below ``root``; ColocationError if that is not a directory."""
        if not os.path.isdir(root):
            raise ColocationError(
                f"root: {root!r} is not a directory", "Set it to the directory that an image is mounted at"
            )
        return cls(root)

    @property
    def live(self) -> bool:
        """True when this is the running node itself and not an image or a recorded tree."""
        return self.root == "/"

    def path(self, path: str) -> str:
        """The path on this machine of an absolute ``path`` of the node, without following a link at its end.

        OSError below a ``root`` if a directory of the path is a dangling link or a loop of links.
        """
        _require_absolute(path)
        return path if self.root == "/" else chroot_path.resolve_parent(self.root, path)

    def real_path(self, path: str) -> str:
        """The path on this machine of the target of ``path``, following a link at its end; OSError as ``path``."""
        _require_absolute(path)
        return self.path(path) if self.root == "/" else chroot_path.resolve(self.root, path)

    def read_bytes(self, path: str, limit: int = READ_LIMIT) -> bytes:
        """Content of a regular file or kernel file; OSError as from open(2), EFBIG above ``limit``."""
        # The resolved path does not end in a link; a link created since then could lead out of the root.
        handle = os.open(self.real_path(path), _READ if self.root == "/" else _READ | os.O_NOFOLLOW)
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            # fdopen would fail and not close the handle.
            os.close(handle)
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        with os.fdopen(handle, "rb") as stream:
            content = bytearray()
            while len(content) <= limit:
                chunk = stream.read(min(CHUNK, limit + 1 - len(content)))
                if not chunk:
                    return bytes(content)
                content += chunk
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)

    def read(self, path: str, limit: int = READ_LIMIT) -> str:
        """Text of a file; bytes that are not UTF-8 survive a round trip as surrogates."""
        return self.read_bytes(path, limit).decode("utf-8", "surrogateescape")

    def read_table(self, path: str) -> str:
        """Text of a kernel table that grows with the number of pods, such as mountinfo."""
        return self.read(path, TABLE_LIMIT)

    def lstat(self, path: str) -> os.stat_result:
        """os.stat_result of ``path`` itself, without following links."""
        return os.lstat(self.path(path))

    def stat(self, path: str) -> os.stat_result:
        """os.stat_result of the target of ``path``."""
        return os.stat(self.real_path(path))

    def readlink(self, path: str) -> str:
        """The text of a link; OSError as from readlink(2)."""
        return os.readlink(self.path(path))

    def lexists(self, path: str) -> bool:
        """Whether ``path`` exists, including a dangling link."""
        try:
            return os.path.lexists(self.path(path))
        except OSError:
            return False

    def is_directory(self, path: str) -> bool:
        """Whether ``path`` is a directory or a link to one."""
        try:
            return os.path.isdir(self.real_path(path))
        except OSError:
            return False

    def is_symlink(self, path: str) -> bool:
        """Whether ``path`` itself is a link."""
        try:
            return os.path.islink(self.path(path))
        except OSError:
            return False

    def is_masked(self, path: str) -> bool:
        """Whether a file of an image is a link to /dev/null, which systemd reads as empty; images lack the device."""
        try:
            return self.root != "/" and self.readlink(path) == NULL
        except OSError:
            return False

    def list(self, path: str) -> list[str]:
        """Sorted names in a directory; empty if it does not exist."""
        try:
            return sorted(os.listdir(self.real_path(path)))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def run(self, argv: Sequence[str], timeout: float = 30.0) -> CommandResult:
        """Run a program without a shell, with a plain locale, and return its CommandResult."""
        if not self.live:
            raise RuntimeError(f"programs are not run for the tree at {self.root}")
        began = time.monotonic()
        environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}
        try:
            done = subprocess.run(  # noqa: S603 - no shell, a fixed PATH
                list(argv),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=timeout,
                check=False,
                env=environment,
                cwd="/",
            )
        except subprocess.TimeoutExpired:
            return CommandResult(tuple(argv), None, "", f"no answer within {timeout:g} s", time.monotonic() - began)
        except OSError as error:
            reason = f"{argv[0]}: {error.strerror or 'it cannot be run'}"
            return CommandResult(tuple(argv), None, "", reason, time.monotonic() - began)
        return CommandResult(
            tuple(argv),
            done.returncode,
            done.stdout.decode("utf-8", "replace"),
            done.stderr.decode("utf-8", "replace"),
            time.monotonic() - began,
        )


def _require_absolute(path: str) -> None:
    if not os.path.isabs(path):
        raise ValueError(f"not an absolute path: {path!r}")


class Clock:
    """The machine's clocks."""

    def monotonic(self) -> float:
        """Seconds for measuring how long something takes."""
        return time.monotonic()

    def wall(self) -> float:
        """Seconds since 1970, the clock of file times and log lines."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)
