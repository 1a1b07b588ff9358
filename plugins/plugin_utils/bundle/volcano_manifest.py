# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Volcano's manifest for a bundle: a file, or upstream's of a release, and the images in it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from ..agent.image_archive import ArchiveVariables, normalize_image
from ..kube.api_errors import ClusterError
from ..manifest.yaml_documents import ManifestOptions, parse_document
from ..profile.validators import ProfileError

RELEASE, SOURCE, SHA256 = "volcano_release", "volcano_manifest", "volcano_manifest_sha256"
"""Options, for errors."""
IMAGES = ArchiveVariables(SOURCE, "image_archives", "image_archives")
UPSTREAM = "https://raw.githubusercontent.com/volcano-sh/volcano/v{release}/installer/volcano-development.yaml"
AGENT_IMAGE = "docker.io/volcanosh/vc-agent:v{release}"
NAMESPACE = "volcano-system"
_HTTPS = "https://"


@dataclass(frozen=True)
class VolcanoManifest:
    """``images``: the full names of the images that its containers use."""

    content: bytes
    images: tuple[str, ...]

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


def read_volcano_manifest(
    source: str, expected_sha256: str, download: Callable[[str], bytes], read: Callable[[str], bytes]
) -> VolcanoManifest:
    """The manifest at a path or an HTTPS address; ProfileError if it cannot be installed."""
    if "://" in source and not source.startswith(_HTTPS):
        raise ProfileError(SOURCE, f"{source} is not an HTTPS address or a path. Nothing was changed")
    content = download(source) if source.startswith(_HTTPS) else read(source)
    manifest = VolcanoManifest(content, _images(source, content))
    if expected_sha256 and manifest.sha256 != expected_sha256.strip().lower().removeprefix("sha256:"):
        raise ProfileError(
            SHA256,
            f"{source} has the SHA-256 {manifest.sha256}, expected {expected_sha256}. Nothing was changed. Check what"
            " changed in it, and set the new digest",
        )
    return manifest


def _images(source: str, content: bytes) -> tuple[str, ...]:
    try:
        document = parse_document(source, content.decode("utf-8-sig"), ManifestOptions(namespace=NAMESPACE))
    except UnicodeDecodeError as error:
        raise ProfileError(SOURCE, f"{source} is not UTF-8. Nothing was changed") from error
    except ClusterError as error:
        raise ProfileError(SOURCE, str(error)) from error
    if not document.images:
        raise ProfileError(SOURCE, f"{source} uses no images, so it does not install Volcano. Nothing was changed")
    return tuple(dict.fromkeys(normalize_image(image, IMAGES) for image in document.images))
