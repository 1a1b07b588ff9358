# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build a bundle in a directory beside its destination, and move it there when it is complete."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ..agent.image_archive import ArchiveVariables
from ..node.output_files import create_file
from ..profile.validators import ProfileError
from .bundle_document import (
    CHECKSUMS,
    DIRECTORY,
    DOCUMENT,
    MANIFEST,
    README,
    REQUIREMENTS,
    WHEELS,
    BundledImage,
    BundleDocument,
    parse_bundle,
)
from .bundle_plan import BuildPlan, open_archive
from .bundle_readme import render_readme
from .checksums import directory_digests, render_checksums, verify_directory
from .image_tools import TOOL
from .python_wheels import download_command

_SAVED = ArchiveVariables(TOOL, TOOL, TOOL)


@dataclass(frozen=True)
class Sources:
    """The tarball's content and the file with the pinned libraries."""

    tarball: bytes
    requirements: Path


@dataclass(frozen=True)
class Worker:
    """``run``: run a command for an option, ProfileError if it fails; ``show``: display one line."""

    run: Callable[[str, Sequence[str]], None]
    show: Callable[[str], None]


def existing_bundle(directory: Path) -> BundleDocument | None:
    """The complete bundle in a directory; None if the directory does not exist. ProfileError for other content."""
    if not os.path.lexists(directory):
        return None
    verify_directory(directory)
    return parse_bundle((directory / DOCUMENT).read_bytes(), str(directory / DOCUMENT))


def require_same(existing: BundleDocument, planned: BundleDocument, directory: Path) -> None:
    if not existing.is_same(planned):
        raise ProfileError(
            DIRECTORY,
            f"{directory} has a bundle of Volcano {existing.volcano.release} and of the collection"
            f" {existing.collection.version} with other contents. Nothing was changed. Choose a new directory, or"
            " remove this one",
        )


def partial_directory(directory: Path) -> Path:
    """Where the bundle is built; ProfileError if a build is running there, or was interrupted."""
    partial = directory.with_name(f"{directory.name}.partial")
    if os.path.lexists(partial):
        raise ProfileError(
            DIRECTORY,
            f"{partial} exists: another build runs, or one was interrupted. Nothing was changed. Remove it if no build"
            " runs",
        )
    if not os.access(directory.parent, os.W_OK | os.X_OK):
        raise ProfileError(DIRECTORY, f"{directory.parent} is not a writable directory. Nothing was changed")
    return partial


def build_bundle(plan: BuildPlan, sources: Sources, directory: Path, worker: Worker) -> str:
    """Write the bundle; the SHA-256 of its file SHA256SUMS. After an error, the directory does not exist."""
    with _moved_when_complete(partial_directory(directory), directory) as target:
        images = tuple(_add_image(plan, image, target, worker) for image in plan.document.images)
        document = replace(plan.document, images=images)
        _write(target / MANIFEST, plan.manifest.content)
        _write(target / document.collection.file, sources.tarball)
        _write(target / REQUIREMENTS, sources.requirements.read_bytes())
        worker.show("download the Python libraries of the controller")
        (target / WHEELS).mkdir()
        worker.run(DIRECTORY, download_command(target / REQUIREMENTS, target / WHEELS))
        _write(target / README, render_readme(document).encode())
        _write(target / DOCUMENT, document.to_text().encode())
        checksums = render_checksums(directory_digests(target)).encode()
        _write(target / CHECKSUMS, checksums)
    return hashlib.sha256(checksums).hexdigest()


@contextmanager
def _moved_when_complete(partial: Path, directory: Path) -> Iterator[Path]:
    partial.mkdir(mode=0o755)
    try:
        yield partial
        os.rename(partial, directory)
    except BaseException:
        shutil.rmtree(partial)
        raise


def _add_image(plan: BuildPlan, image: BundledImage, target: Path, worker: Worker) -> BundledImage:
    path = target / image.file
    path.parent.mkdir(exist_ok=True)
    source = plan.archives.get(image.image)
    if source is not None:
        worker.show(f"copy {source}")
        shutil.copyfile(source, path)
    elif plan.tool is not None:
        worker.show(f"save {image.image} with {plan.tool.tool.name}")
        for command in plan.tool.save_commands(image.image, path):
            worker.run(TOOL, command)
    archive = open_archive(path, image.image, _SAVED)
    return replace(image, architectures=tuple(sorted({entry.architecture for entry in archive.images})))


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    create_file(path, content)
