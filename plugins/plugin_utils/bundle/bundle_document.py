# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bundle contains: the file bundle.json, from which an installation takes all names and paths."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ..profile.validators import ProfileError

DIRECTORY = "directory"
"""The option with the bundle's path, for errors."""
DOCUMENT, CHECKSUMS, README, REQUIREMENTS = "bundle.json", "SHA256SUMS", "README.md", "requirements.txt"
WHEELS, IMAGES, COLLECTION, MANIFEST = "wheels", "images", "collection", "manifests/volcano.yaml"
SCHEMA = 1


@dataclass(frozen=True)
class BundledCollection:
    """``manifest_sha256``: of MANIFEST.json, which has the digest of the list of the collection's files."""

    version: str
    file: str
    manifest_sha256: str


@dataclass(frozen=True)
class BundledImage:
    """An image's full name, its archive, and the architectures in it."""

    image: str
    file: str
    architectures: tuple[str, ...]


@dataclass(frozen=True)
class BundledVolcano:
    """A release of Volcano, and the SHA-256 of its manifest."""

    release: str
    manifest_sha256: str


@dataclass(frozen=True)
class Python:
    """The interpreter and the platform for which the wheels are."""

    version: str
    platform: str


@dataclass(frozen=True)
class BundleDocument:
    """The content of bundle.json. Paths are relative to the bundle."""

    collection: BundledCollection
    volcano: BundledVolcano
    agent_image: str
    images: tuple[BundledImage, ...]
    python: Python

    def to_text(self) -> str:
        return json.dumps({"schema": SCHEMA, **asdict(self)}, indent=2) + "\n"

    def is_same(self, other: BundleDocument) -> bool:
        """Whether both describe the same content; architectures are known only from the archives."""
        return self._identity() == other._identity()

    def _identity(self) -> tuple[Any, ...]:
        names = sorted(image.image for image in self.images)
        return self.collection, self.volcano, self.agent_image, names, self.python


def parse_bundle(text: bytes, path: str) -> BundleDocument:
    """ProfileError for a document that this version cannot read."""
    try:
        document = json.loads(text)
        schema = document["schema"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damage(path, "it is not a description of a bundle") from error
    if schema != SCHEMA:
        raise ProfileError(
            DIRECTORY,
            f"{path} has schema {schema!r}, and this version reads {SCHEMA}. Nothing was changed. Use the collection in"
            " the bundle: README.md of the bundle has the commands",
        )
    try:
        return _parse(document)
    except KeyError as error:
        raise _damage(path, f"{error.args[0]} is missing") from error
    except (TypeError, AttributeError) as error:
        raise _damage(path, "a value has the wrong type") from error


def _parse(document: Mapping[str, Any]) -> BundleDocument:
    collection, volcano, python = document["collection"], document["volcano"], document["python"]
    images = tuple(
        BundledImage(_text(image["image"]), _text(image["file"]), tuple(_text(name) for name in image["architectures"]))
        for image in document["images"]
    )
    return BundleDocument(
        BundledCollection(*(_text(collection[key]) for key in ("version", "file", "manifest_sha256"))),
        BundledVolcano(_text(volcano["release"]), _text(volcano["manifest_sha256"])),
        _text(document["agent_image"]),
        images,
        Python(_text(python["version"]), _text(python["platform"])),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value


def _damage(path: str, problem: str) -> ProfileError:
    return ProfileError(DIRECTORY, f"{path}: {problem}. Nothing was changed. Build the bundle again")
