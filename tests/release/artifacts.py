# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of a release: tarball, bill of materials, checksums, signatures."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import yaml

from ..run.install import build
from ..run.places import tool_environment
from .bill_of_materials import render_bill
from .errors import ReleaseError
from .reproducible import normalize
from .signatures import sign, sign_manifest

CHECKSUMS = "SHA256SUMS"


def write_artifacts(repository: Path, tag: str, directory: Path, key: str | None) -> None:
    """Write all files of the tagged release into ``directory``, whose content is replaced."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    epoch = commit_time(repository, tag)
    tarball = build_twice(repository, tag, directory, epoch)
    with tempfile.TemporaryDirectory() as temporary:
        checkout = clone(repository, tag, Path(temporary) / "checkout")
        galaxy = yaml.safe_load((checkout / "galaxy.yml").read_text(encoding="utf-8"))
        bill = render_bill(tarball, galaxy, checkout / "requirements", epoch)
    (directory / tarball.name.replace(".tar.gz", ".cdx.json")).write_text(bill, encoding="utf-8")
    checksums = render_checksums(directory)
    (directory / CHECKSUMS).write_text(checksums, encoding="utf-8")
    if key:
        sign_manifest(tarball, key)
        sign(checksums.encode(), directory / f"{CHECKSUMS}.asc", key)


def build_twice(repository: Path, tag: str, directory: Path, epoch: int) -> Path:
    """The tarball in ``directory``. ReleaseError if a second build of another clone differs."""
    with tempfile.TemporaryDirectory() as temporary:
        tarballs = []
        for name in ("first", "second"):
            checkout = clone(repository, tag, Path(temporary) / name)
            tarball = build(checkout, Path(temporary) / f"{name}-build", tool_environment(os.environ))
            normalize(tarball, epoch)
            tarballs.append(tarball)
        first, second = tarballs
        if first.read_bytes() != second.read_bytes():
            raise ReleaseError(f"two builds of {first.name} differ; compare them with diffoscope")
        return Path(shutil.copy2(first, directory / first.name))


def clone(repository: Path, tag: str, directory: Path) -> Path:
    """A clean checkout of the tag."""
    command = ["git", "clone", "--quiet", "--depth", "1", "--branch", tag, repository.as_uri(), str(directory)]
    # git explains at length that the checkout is not on a branch.
    subprocess.run(["git", "-c", "advice.detachedHead=false", *command[1:]], check=True)
    return directory


def commit_time(repository: Path, tag: str) -> int:
    """The time of the tagged commit, in seconds since 1970 (SOURCE_DATE_EPOCH)."""
    command = ["git", "log", "-1", "--format=%ct", f"{tag}^{{commit}}"]
    return int(subprocess.run(command, cwd=repository, capture_output=True, text=True, check=True).stdout)


def render_checksums(directory: Path) -> str:
    """The checksums of all files, as `sha256sum --check` reads them."""
    paths = sorted(path for path in directory.iterdir() if path.suffix != ".asc")
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in paths)
