# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fetching Debian packages with separate apt directories; those of the host are not changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from . import command
from .apt_sources import debian_source, host_sources, source_line
from .errors import LabError
from .requirements import APT_GET, DPKG_DEB, need


def fetch_source(package: str, suite: str, directory: Path, log: Path) -> Path:
    """The ``.dsc`` of a source package (``NAME`` or ``NAME=VERSION``) in ``directory``, beside the files it names."""
    _apt_get("deb-src", suite, directory, log, "source", "--download-only", package)
    return _find_only(directory, "*.dsc", package, log)


def fetch_program(package: str, suite: str, member: str, directory: Path, log: Path) -> Path:
    """A file of a binary package, ``./usr/bin/NAME``, unpacked into ``directory``; the package is not installed."""
    return fetch_programs({package: (member,)}, suite, directory, log)[0]


def fetch_programs(members: Mapping[str, Sequence[str]], suite: str, directory: Path, log: Path) -> list[Path]:
    """Files of binary packages, by the packages' names, unpacked into ``directory``; no package is installed."""
    _apt_get("deb", suite, directory, log, "download", *members)
    paths = []
    for package, files in members.items():
        archive, tree = _find_only(directory, f"{package}_*.deb", package, log), directory / f"{package}.files"
        command.logged([need(DPKG_DEB), "--extract", str(archive), str(tree)], log)
        for file in files:
            if not (tree / file).is_file():
                raise LabError(f"{archive.name} of Debian {suite} has no file {file}")
            paths.append(tree / file)
    return paths


def _apt_get(kind: str, suite: str, directory: Path, log: Path, *words: str) -> None:
    apt = directory / "apt"
    for subdirectory in ("lists/partial", "archives/partial"):
        (apt / subdirectory).mkdir(parents=True)
    (apt / "sources.list").write_text(source_line(debian_source(host_sources()), kind, suite) + "\n")
    options = {
        "Dir::Etc::sourcelist": str(apt / "sources.list"),
        "Dir::Etc::sourceparts": "-",
        "Dir::State::lists": str(apt / "lists"),
        "Dir::Cache": str(apt),
        "APT::Sandbox::User": "",
    }
    apt_get = [need(APT_GET), *(f"-o{name}={value}" for name, value in options.items())]
    command.logged([*apt_get, "update"], log)
    command.logged([*apt_get, *words], log, cwd=directory)


def _find_only(directory: Path, pattern: str, package: str, log: Path) -> Path:
    files = list(directory.glob(pattern))
    if len(files) != 1:
        raise LabError(f"apt-get fetched {len(files)} files {pattern} of {package}, not 1; its output is in {log}")
    return files[0]
