# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Python libraries of the controller: their download as wheels, and which of them are missing."""

from __future__ import annotations

import importlib
import sys
import sysconfig
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from .bundle_document import Python
from .collection_tarball import RUNNING

if TYPE_CHECKING:
    from packaging.requirements import Requirement

BOUNDS = RUNNING / "requirements" / "controller.txt"
LOCK = RUNNING / "requirements" / "locks" / "controller.txt"
"""The versions that the tests ran with, with the hashes of their files."""


def running_python() -> Python:
    return Python(f"{sys.version_info.major}.{sys.version_info.minor}", sysconfig.get_platform())


def download_command(requirements: Path, directory: Path) -> list[str]:
    """Wheels only: a source distribution would run its build on the controller. pip compares the hashes."""
    options = ("--require-hashes", "--only-binary", ":all:", "--disable-pip-version-check", "--no-input")
    pip = (sys.executable, "-m", "pip", "download")
    return [*pip, *options, "--dest", str(directory), "--requirement", str(requirements)]


def missing_libraries(requirements: str) -> list[str]:
    """The requirements, as in requirements/controller.txt, that the running Python does not meet."""
    return [str(requirement) for requirement in _requirements(requirements) if not _is_met(requirement)]


def _requirements(text: str) -> Iterator[Requirement]:
    """``packaging`` is installed with ansible-core, but not where ansible-test imports plugins."""
    parse: type[Requirement] = importlib.import_module("packaging.requirements").Requirement
    for line in text.splitlines():
        content = line.partition("#")[0].strip()
        if content:
            yield parse(content)


def _is_met(requirement: Requirement) -> bool:
    if requirement.marker is not None and not requirement.marker.evaluate():
        return True
    try:
        return requirement.specifier.contains(version(requirement.name), prereleases=True)
    except PackageNotFoundError:
        return False
