# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A verified bundle, as the input of the roles that install from it."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from ..profile.validators import ProfileError
from .bundle_document import DIRECTORY, DOCUMENT, MANIFEST, REQUIREMENTS, WHEELS, BundleDocument, Python, parse_bundle
from .checksums import list_directory, verify_directory
from .collection_tarball import CollectionManifest


def load_bundle(directory: Path, expected_sha256: str) -> tuple[str, BundleDocument]:
    """(SHA-256 of SHA256SUMS, the description); ProfileError if any file is not as it was built."""
    sha256 = verify_directory(directory, expected_sha256)
    path = directory / DOCUMENT
    if not path.is_file():
        raise ProfileError(DIRECTORY, f"{directory} has no {DOCUMENT}. Nothing was changed. Build the bundle again")
    document = parse_bundle(path.read_bytes(), str(path))
    _require_files(directory, document)
    return sha256, document


def _require_files(directory: Path, document: BundleDocument) -> None:
    """All files that the description names are in the bundle, so that none leads out of it."""
    named = [document.collection.file, MANIFEST, REQUIREMENTS, *(image.file for image in document.images)]
    missing = sorted(set(named) - list_directory(directory).files)
    images = {image.image for image in document.images}
    problems = [f"{name} is not a file in the bundle" for name in missing]
    if document.agent_image not in images:
        problems.append(f"it has no archive of {document.agent_image}")
    if problems:
        path = directory / DOCUMENT
        raise ProfileError(DIRECTORY, f"{path}: {'; '.join(problems)}. Nothing was changed. Build the bundle again")


def render_content(
    directory: Path,
    sha256: str,
    document: BundleDocument,
    running: CollectionManifest | None,
    python: Python,
    missing: Collection[str],
) -> dict[str, Any]:
    """The module's result: absolute paths, and how the controller differs from the bundle."""
    archives = {image.image: str(directory / image.file) for image in document.images}
    return {
        "directory": str(directory),
        "sha256": sha256,
        "collection": {
            "version": document.collection.version,
            "file": str(directory / document.collection.file),
            "running_version": running.version if running else "",
            "running": running is not None and running.sha256 == document.collection.manifest_sha256,
        },
        "agent": {"image": document.agent_image, "archive": archives[document.agent_image]},
        "volcano": {
            "release": document.volcano.release,
            "manifest": str(directory / MANIFEST),
            "manifest_sha256": document.volcano.manifest_sha256,
            "image_archives": {name: path for name, path in archives.items() if name != document.agent_image},
        },
        "python": {
            "version": document.python.version,
            "platform": document.python.platform,
            "matches": document.python == python,
            "requirements": str(directory / REQUIREMENTS),
            "wheels": str(directory / WHEELS),
            "missing": list(missing),
        },
    }
