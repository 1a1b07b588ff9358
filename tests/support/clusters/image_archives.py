# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small archives of images in the formats that tools write: names, directories and annotations are those of the tools.

``skopeo copy … oci-archive:FILE:NAME``: containers/image oci/archive. ``docker save``: moby daemon/containerd and
image/tarexport/save.go.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

NAME = "docker.io/volcanosh/vc-agent:v1.14.0"
REF, CONTAINERD = "org.opencontainers.image.ref.name", "io.containerd.image.name"
INDEX, MANIFEST = "application/vnd.oci.image.index.v1+json", "application/vnd.oci.image.manifest.v1+json"


def digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def text(document: Any) -> bytes:
    return json.dumps(document).encode()


def tar(files: Iterable[tuple[str, bytes]]) -> bytes:
    """Return a tar of regular files in this order."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        for name, data in files:
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return written.getvalue()


@dataclass
class Layout:
    """An OCI layout that grows; ``top`` are the descriptors of its index.json."""

    blobs: dict[str, bytes] = field(default_factory=dict)
    top: list[dict[str, Any]] = field(default_factory=list)

    def blob(self, data: bytes) -> str:
        self.blobs[digest(data)] = data
        return digest(data)

    def image(self, architecture: str = "amd64", system: str = "linux") -> tuple[str, str]:
        """(digest of the manifest, of the configuration)."""
        layer = self.blob(f"layer of {architecture}".encode())
        config = self.blob(text({"architecture": architecture, "os": system, "rootfs": {"diff_ids": [layer]}}))
        manifest = {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": {"digest": config, "size": 1},
            "layers": [{"digest": layer, "size": 1}],
        }
        return self.blob(text(manifest)), config

    def index(self, *manifests: str) -> str:
        entries = [{"mediaType": MANIFEST, "digest": manifest, "size": 1} for manifest in manifests]
        return self.blob(text({"schemaVersion": 2, "mediaType": INDEX, "manifests": entries}))

    def name(self, target: str, **annotations: str) -> Layout:
        keys = {"ref": REF, "full": CONTAINERD}
        marks = {keys[key]: value for key, value in annotations.items()}
        self.top.append({"mediaType": MANIFEST, "digest": target, "size": 1, "annotations": marks})
        return self

    def files(self) -> list[tuple[str, bytes]]:
        return [
            *((f"blobs/sha256/{name[7:]}", data) for name, data in self.blobs.items()),
            ("oci-layout", text({"imageLayoutVersion": "1.0.0"})),
            ("index.json", text({"schemaVersion": 2, "manifests": self.top})),
        ]

    def tar(self) -> bytes:
        return tar(self.files())


def single(**annotations: str) -> tuple[bytes, str, str]:
    """(an archive with one image for amd64, the digests of its manifest and its configuration)."""
    layout = Layout()
    manifest, config = layout.image()
    return layout.name(manifest, **(annotations or {"ref": NAME})).tar(), manifest, config


def docker(tags: Iterable[str] | None = ("volcanosh/vc-agent:v1.14.0",), **config: Any) -> tuple[bytes, str]:
    """(an archive as docker save wrote it before 25, the digest of the configuration)."""
    document: Mapping[str, Any] = {"architecture": "amd64", "os": "linux", **config}
    data = text(document)
    name = f"{digest(data)[7:]}.json"
    listed = [{"Config": name, "RepoTags": tags if tags is None else list(tags), "Layers": ["a/layer.tar"]}]
    files = [("a/layer.tar", b"layer"), (name, data), ("manifest.json", text(listed))]
    return tar(files), digest(data)
