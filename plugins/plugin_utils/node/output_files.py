# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that a run writes on the controller: private, replaced atomically, and lists of hosts for ``--limit``."""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ..profile.validators import ProfileError
from ..report.host_patterns import Groups, host_pattern, sort_hosts
from ..report.readable_numbers import render_count

LIMITS = "limits"
"""The directory of the lists of hosts, below that of the reports."""
SHOWN_HOSTS = 5
WRITABLE = "Set it to a directory on the controller that you may write to, or to nothing"
_IGNORE = "# Reports name hosts, pods and files.\n*\n"


def replace_file(path: Path, text: str) -> None:
    """Write a file atomically with mode 0600. The temporary file has a random name and is created exclusively.

    A link that another user created under either name is replaced, never followed.
    """
    handle, partial = tempfile.mkstemp(prefix=".", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.replace(partial, path)
    except BaseException:
        os.unlink(partial)
        raise


def create_file(path: Path, content: bytes) -> None:
    """Write a new file to the disk; FileExistsError if anything has its name."""
    with path.open("xb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def provide_directory(directory: Path) -> None:
    """Create a directory with mode 0700 if it is missing."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)


def provide_report_directory(directory: Path) -> None:
    """Create the directory of reports if it is missing, with a .gitignore for all its files."""
    if not directory.is_dir():
        provide_directory(directory)
        replace_file(directory / ".gitignore", _IGNORE)


@contextmanager
def name_write_errors(option: str, directory: str | None) -> Iterator[None]:
    """Turn an error of writing into a directory into a ProfileError about the option that names the directory."""
    try:
        yield
    except OSError as error:
        raise ProfileError(option, f"{directory} cannot be written: {error.strerror}. {WRITABLE}") from error


@dataclass(frozen=True)
class LimitOptions:
    """Options ``--limit`` for sets of hosts. A set without a short pattern is written to a file.

    ``directory``: that of the reports. Without one, such a set is shown as its first hosts. ``all_hosts``: the number
    of hosts that need no option, because they are all.
    """

    groups: Groups = field(default_factory=dict)
    directory: Path | None = None
    all_hosts: int | None = None

    def __call__(self, name: str, hosts: Collection[str]) -> str:
        if len(hosts) == self.all_hosts:
            return ""
        pattern = host_pattern(hosts, self.groups)
        if pattern is not None:
            return f"--limit {shlex.quote(pattern)}"
        names = sort_hosts(hosts)
        if self.directory is None:
            more = [f"and {render_count(len(names) - SHOWN_HOSTS, 'other')}"] if len(names) > SHOWN_HOSTS else []
            return " ".join([", ".join(names[:SHOWN_HOSTS]), *more])
        return f"--limit {shlex.quote(f'@{self._write(self.directory, name, names)}')}"

    @staticmethod
    def _write(directory: Path, name: str, hosts: list[str]) -> Path:
        provide_report_directory(directory)
        provide_directory(directory / LIMITS)
        path = directory / LIMITS / re.sub(r"[^a-z0-9-]+", "-", name.lower())
        replace_file(path, "".join(f"{host}\n" for host in hosts))
        return path
