# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The CRI's ImageService: list the images of a runtime and those that its containers use, and remove an image.

Field numbers: kubernetes/cri-api pkg/apis/runtime/v1/api.proto; those used here are the same in v1alpha2.
"""

from __future__ import annotations

from dataclasses import dataclass

from . import protobuf
from .protobuf import Fields
from .runtime_client import CriClient


@dataclass(frozen=True)
class Image:
    """message Image. ``id`` with sha256:, which CRI-O omits; ``tags`` and ``digests`` are complete names."""

    id: str
    tags: tuple[str, ...]
    digests: tuple[str, ...]


@dataclass(frozen=True)
class ImageUse:
    """A container's image: the one that was requested and the one that the runtime resolved."""

    container: str
    name: str
    images: tuple[str, ...]


class ImageClient(CriClient):
    """A CriClient with the calls of the ImageService."""

    def __enter__(self) -> ImageClient:
        return self

    def image(self, name: str) -> Image | None:
        """The image that kubelet would find for a name or an ID; None if there is none."""
        return self._decode(self._ask("ImageStatus", _image_request(name)), _image_response)

    def remove_image(self, name: str) -> None:
        """Remove an image with all its names; no error if it does not exist (containerd image_remove.go)."""
        self._ask("RemoveImage", _image_request(name))

    def uses(self) -> list[ImageUse]:
        """The images of all containers in any state."""
        return self._decode(self._call("ListContainers", b""), _uses)

    def _ask(self, method: str, request: bytes) -> bytes:
        if self._api is None:
            self._negotiate()
        return self._send(f"runtime.{self._api}.ImageService", method, request)


class _Texts(Fields):
    def texts(self, field: int) -> tuple[str, ...]:
        """The values of a repeated string."""
        return tuple(self._bytes(text, field).decode("utf-8", "replace") for text in self._values.get(field, ()))

    def raw(self, field: int) -> bytes:
        return self._bytes(self._values.get(field, [b""])[-1], field)


def _image_request(name: str) -> bytes:
    """messages ImageStatusRequest and RemoveImageRequest: image 1 (ImageSpec: image 1)."""
    spec = protobuf.text_field(1, name)
    return protobuf.varint(1 << 3 | protobuf.BYTES) + protobuf.varint(len(spec)) + spec


def _image_response(data: bytes) -> Image | None:
    """message ImageStatusResponse: image 1 (Image: id 1, repo_tags 2, repo_digests 3); None without image."""
    response = _Texts(data)
    if not response.has(1):
        return None
    image = _Texts(response.raw(1))
    return Image(with_digest_type(image.text(1)), image.texts(2), image.texts(3))


def _uses(data: bytes) -> list[ImageUse]:
    """message ListContainersResponse: containers 1 (Container: id 1, metadata 3, image 4, image_ref 5, image_id 10)."""
    return [
        ImageUse(
            container.text(1),
            container.message(3).text(1),
            (container.message(4).text(1), container.text(5), container.text(10)),
        )
        for container in Fields(data).messages(1)
    ]


def with_digest_type(identity: str) -> str:
    """An image's ID with the algorithm of its digest."""
    return identity if not identity or ":" in identity else f"sha256:{identity}"
