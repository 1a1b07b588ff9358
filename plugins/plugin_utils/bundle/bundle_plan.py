# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plan a bundle: everything that can be wrong is reported before the first file is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..agent.image_archive import Archive, ArchiveVariables, load_archive, normalize_image
from ..profile.argspec import Spec
from ..profile.validators import ProfileError
from .bundle_document import (
    COLLECTION,
    DIRECTORY,
    IMAGES,
    BundledCollection,
    BundledImage,
    BundleDocument,
    BundledVolcano,
    Python,
)
from .collection_tarball import CollectionManifest
from .image_tools import NAMES, FoundTool, find_tool
from .volcano_manifest import AGENT_IMAGE, RELEASE, SHA256, SOURCE, UPSTREAM, VolcanoManifest

BUNDLE_BUILD: Spec = {
    DIRECTORY: {"type": "path", "required": True},
    RELEASE: {"type": "str", "default": "1.14.1"},
    SOURCE: {"type": "str", "default": ""},
    SHA256: {"type": "str", "default": ""},
    "agent_image": {"type": "str", "default": ""},
    "image_archives": {"type": "dict", "default": {}},
    "image_tool": {"type": "str", "choices": ["", *NAMES], "default": ""},
    "collection": {"type": "path"},
}
BUNDLE_INFO: Spec = {
    DIRECTORY: {"type": "path", "required": True},
    "sha256": {"type": "str", "default": ""},
}
ARCHIVES = "image_archives"
ARCHIVE_VARIABLES = ArchiveVariables(ARCHIVES, ARCHIVES, ARCHIVES)
_RELEASE = re.compile(r"[0-9]+(?:\.[0-9]+){1,2}(?:-[0-9A-Za-z.]+)?")
_NOT_IN_FILES = re.compile(r"[^0-9A-Za-z.-]+")


@dataclass(frozen=True)
class BuildOptions:
    """``archives``: paths of archives that exist already, by the image's full name."""

    release: str
    manifest: str
    agent_image: str
    archives: Mapping[str, Path] = field(default_factory=dict)
    tool: str = ""


@dataclass(frozen=True)
class BuildPlan:
    """What to write. ``saved``: images to save with ``tool``; ``archives``: archives to copy."""

    document: BundleDocument
    manifest: VolcanoManifest
    saved: tuple[str, ...]
    archives: Mapping[str, Path]
    tool: FoundTool | None


def build_options(arguments: Mapping[str, Any]) -> BuildOptions:
    """The options, with the defaults of the release."""
    release = str(arguments[RELEASE]).removeprefix("v")
    if not _RELEASE.fullmatch(release):
        raise ProfileError(RELEASE, f"{release!r} is not a release of Volcano, such as 1.14.1")
    agent_image = normalize_image(
        arguments["agent_image"] or AGENT_IMAGE.format(release=release),
        ArchiveVariables("agent_image", ARCHIVES, ARCHIVES),
    )
    archives = {
        normalize_image(str(name), ARCHIVE_VARIABLES): Path(str(path)).expanduser().absolute()
        for name, path in arguments[ARCHIVES].items()
    }
    manifest = arguments[SOURCE] or UPSTREAM.format(release=release)
    return BuildOptions(release, manifest, agent_image, archives, arguments["image_tool"])


def plan_build(
    options: BuildOptions,
    manifest: VolcanoManifest,
    collection: CollectionManifest,
    python: Python,
    which: Callable[[str], str | None],
) -> BuildPlan:
    """The plan; ProfileError if an image cannot be had."""
    images = tuple(dict.fromkeys((*manifest.images, options.agent_image)))
    unused = sorted(options.archives.keys() - set(images))
    if unused:
        raise ProfileError(
            ARCHIVES, f"the bundle does not use {', '.join(unused)}; its images: {', '.join(images)}. Remove them"
        )
    for image, path in options.archives.items():
        open_archive(path, image)
    saved = tuple(image for image in images if image not in options.archives)
    document = BundleDocument(
        BundledCollection(collection.version, f"{COLLECTION}/{collection.tarball}", collection.sha256),
        BundledVolcano(options.release, manifest.sha256),
        options.agent_image,
        tuple(BundledImage(image, archive_name(image), ()) for image in images),
        python,
    )
    tool = find_tool(options.tool, saved, which) if saved else None
    return BuildPlan(document, manifest, saved, options.archives, tool)


def archive_name(image: str) -> str:
    """The name of an image's archive in the bundle."""
    return f"{IMAGES}/{_NOT_IN_FILES.sub('_', image)}.tar"


def open_archive(path: Path, image: str, variables: ArchiveVariables = ARCHIVE_VARIABLES) -> Archive:
    """The archive, whose image is complete; ProfileError otherwise."""
    try:
        with path.open("rb") as stream:
            return load_archive(stream, str(path), image, variables=variables)
    except OSError as error:
        raise ProfileError(variables.archive, f"{path}: {error.strerror}. Nothing was changed") from error
