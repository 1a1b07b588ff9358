# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Container images as an OCI image layout in one tar file, made without a registry or a container tool.

Layout: https://github.com/opencontainers/image-spec/blob/v1.0.2/image-layout.md. containerd takes an image's whole name
from the annotation ``io.containerd.image.name`` (containerd v1.6 images/annotations.go).
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass

_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_CONFIG = "application/vnd.oci.image.config.v1+json"
_LAYER = "application/vnd.oci.image.layer.v1.tar"
_CAPABILITIES = "SCHILY.xattr.security.capability"


@dataclass(frozen=True)
class File:
    """A regular file in an image. ``capabilities``: its attribute ``security.capability`` (capabilities(7))."""

    path: str
    content: bytes
    mode: int = 0o755
    capabilities: bytes = b""


@dataclass(frozen=True)
class Link:
    """A symbolic link in an image."""

    path: str
    target: str


@dataclass(frozen=True)
class Image:
    """An image with one layer, known under each of ``names``."""

    names: tuple[str, ...]
    files: tuple[File, ...]
    entrypoint: tuple[str, ...]
    links: tuple[Link, ...] = ()


def archive(images: Sequence[Image]) -> bytes:
    """The tar file for ``ctr images import``: the same bytes for the same images."""
    blobs: dict[str, bytes] = {}
    index: list[dict[str, object]] = []
    for image in images:
        manifest = _manifest(image, blobs)
        for name in image.names:
            annotations = {
                "io.containerd.image.name": name,
                "org.opencontainers.image.ref.name": name.rpartition(":")[2],
            }
            index.append({**manifest, "platform": _PLATFORM, "annotations": annotations})
    members = [File(f"blobs/sha256/{digest}", blob, 0o644) for digest, blob in sorted(blobs.items())]
    members.append(File("index.json", _json({"schemaVersion": 2, "manifests": index}), 0o644))
    members.append(File("oci-layout", _json({"imageLayoutVersion": "1.0.0"}), 0o644))
    return _tar(members, ())


_PLATFORM = {"architecture": "amd64", "os": "linux"}


def _manifest(image: Image, blobs: dict[str, bytes]) -> dict[str, object]:
    """Descriptor of the image's manifest; the manifest, configuration and layer are added to ``blobs``."""
    layer = _add(blobs, _LAYER, _tar(image.files, image.links))
    config = {
        **_PLATFORM,
        "config": {"Entrypoint": list(image.entrypoint), "Env": ["PATH=/bin"]},
        "rootfs": {"type": "layers", "diff_ids": [layer["digest"]]},
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": _MANIFEST,
        "config": _add(blobs, _CONFIG, _json(config)),
        "layers": [layer],
    }
    return _add(blobs, _MANIFEST, _json(manifest))


def _add(blobs: dict[str, bytes], media_type: str, blob: bytes) -> dict[str, object]:
    digest = hashlib.sha256(blob).hexdigest()
    blobs[digest] = blob
    return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(blob)}


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _tar(files: Sequence[File], links: Sequence[Link]) -> bytes:
    """A tar file whose bytes depend only on the content: owner, group and time are 0."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for file in files:
            member = tarfile.TarInfo(file.path)
            member.size, member.mode = len(file.content), file.mode
            if file.capabilities:
                member.pax_headers = {_CAPABILITIES: file.capabilities.decode("utf-8", "surrogateescape")}
            tar.addfile(member, io.BytesIO(file.content))
        for link in links:
            member = tarfile.TarInfo(link.path)
            member.type, member.linkname = tarfile.SYMTYPE, link.target
            tar.addfile(member)
    return stream.getvalue()
