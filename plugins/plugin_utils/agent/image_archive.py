# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The images in an archive and their names: an OCI layout or a ``docker save``, interpreted as containerd does.

Names are compared in the form that runtimes use, with registry and tag (distribution/reference normalize.go). Source:
containerd core/images/archive/importer.go, client/import.go imageName, core/images/archive/reference.go.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from ..profile.validators import ProfileError
from .tar_entries import BadArchive, Entries, load_entries

IMAGE_VARIABLE = "colocation_agent_image"
ARCHIVE_VARIABLE, DIGEST_VARIABLE = "colocation_agent_image_archive", "colocation_agent_image_digest"
VOLCANO_VARIABLE = "colocation_volcano_image_archives"
DEFAULT_DOMAIN, DEFAULT_REPOSITORY, DEFAULT_TAG = "docker.io", "library", "latest"
_OLD_DOMAIN = "index.docker.io"
_REPOSITORY = re.compile(
    r"(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?|\[[0-9a-fA-F:]+\])(?::[0-9]+)?"
    r"(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)+"
)
_TAG = re.compile(r"\w[\w.-]{0,127}", re.ASCII)


@dataclass(frozen=True)
class ArchiveVariables:
    """The variables that have the image's name, the archive's path, and the image's digest."""

    image: str
    archive: str
    digest: str


AGENT_VARIABLES = ArchiveVariables(IMAGE_VARIABLE, ARCHIVE_VARIABLE, DIGEST_VARIABLE)
VOLCANO_VARIABLES = ArchiveVariables(VOLCANO_VARIABLE, VOLCANO_VARIABLE, VOLCANO_VARIABLE)


def normalize_image(name: str, variables: ArchiveVariables = AGENT_VARIABLES) -> str:
    """``docker.io/library/a:latest`` for ``a``; ProfileError for a name with a digest, or a name that is not valid."""
    if "@" in name:
        digest = f", and {variables.digest} to the digest" if variables.digest != variables.image else ""
        raise ProfileError(
            variables.image,
            f"{name!r} has a digest, and the runtime knows an image from an archive only by its tag; set it to"
            f" registry/name:tag{digest}",
        )
    normalized = _full_name(name)
    if normalized is None:
        raise ProfileError(
            variables.image, f"{name!r} is not an image name such as docker.io/volcanosh/vc-agent:v1.14.0"
        )
    return normalized


def is_same_image(name: str, desired: str) -> bool:
    """Whether a name, which may lack registry and tag, means ``desired``, which has both."""
    return _full_name(name) == desired


def repository_of(name: str) -> str:
    """The repository of a normalized name, which is all before the tag."""
    return name.rpartition(":")[0]


def _full_name(name: str) -> str | None:
    first, slash, path_and_tag = name.partition("/")
    # splitDockerDomain: a first part without . and : is a path on Docker Hub, unless it is localhost or has capitals.
    if not slash or (not {".", ":"} & set(first) and first != "localhost" and first == first.lower()):
        first, path_and_tag = DEFAULT_DOMAIN, name
    first = DEFAULT_DOMAIN if first == _OLD_DOMAIN else first
    if first == DEFAULT_DOMAIN and "/" not in path_and_tag:
        path_and_tag = f"{DEFAULT_REPOSITORY}/{path_and_tag}"
    path, colon, tag = path_and_tag.partition(":")
    tag = tag if colon else DEFAULT_TAG
    if not _REPOSITORY.fullmatch(f"{first}/{path}") or not _TAG.fullmatch(tag):
        return None
    return f"{first}/{path}:{tag}"


NAME_ANNOTATION, TAG_ANNOTATION = "io.containerd.image.name", "org.opencontainers.image.ref.name"
OCI_LAYOUT, OCI_INDEX, DOCKER_MANIFEST = "oci-layout", "index.json", "manifest.json"
MAX_DEPTH = 4
"""The number of nested indexes that are read."""
MAX_MANIFESTS = 1024
LINUX = "linux"


@dataclass(frozen=True)
class ArchivedImage:
    """An image of one platform. ``id`` is the digest of its configuration, which is the image's id in the CRI.

    ``digests``: of the index, the manifest and the configuration, if the archive has them.
    """

    architecture: str
    id: str
    digests: tuple[str, ...]

    def to_result(self) -> dict[str, Any]:
        return {"architecture": self.architecture, "id": self.id, "digests": list(self.digests)}


@dataclass(frozen=True)
class Archive:
    """The requested image in an archive, with one ArchivedImage for each architecture."""

    path: str
    sha256: str
    size: int
    image: str
    images: tuple[ArchivedImage, ...]

    def to_result(self) -> dict[str, Any]:
        """The module's return value, and the input of agent_image."""
        return {
            "path": self.path,
            "sha256": self.sha256,
            "size": self.size,
            "image": self.image,
            "images": [image.to_result() for image in self.images],
        }


@dataclass(frozen=True)
class _NamedImage:
    name: str
    image: ArchivedImage


def load_archive(
    stream: BinaryIO, path: str, image: str, digest: str = "", variables: ArchiveVariables = AGENT_VARIABLES
) -> Archive:
    """The archive at ``path``; ProfileError if it is not an archive, or lacks the image, or has another digest."""
    desired = normalize_image(image, variables)
    try:
        entries = load_entries(stream)
        named = tuple(_oci_images(entries, desired) if OCI_LAYOUT in entries.digests else _docker_images(entries))
    except BadArchive as error:
        raise ProfileError(variables.archive, f"{path}: {error}. Nothing was changed. Save the image again") from error
    images = tuple(entry.image for entry in named if entry.name == desired)
    if not images:
        raise ProfileError(variables.archive, _missing_image_message(path, desired, variables.image, named))
    fitting = tuple(candidate for candidate in images if not digest or digest in candidate.digests)
    if not fitting:
        has = ", ".join(dict.fromkeys(value for candidate in images for value in candidate.digests))
        raise ProfileError(
            variables.digest,
            f"{path} contains {desired} with other digests than {digest}: {has}. Nothing was changed. Download the"
            f" archive again, or correct {variables.digest}",
        )
    return Archive(path, entries.sha256, entries.size, desired, fitting)


def _missing_image_message(path: str, desired: str, variable: str, named: tuple[_NamedImage, ...]) -> str:
    names = ", ".join(sorted({image.name or "one without a name" for image in named})) or "none"
    short = next((image.name for image in named if image.name and is_same_image(image.name, desired)), "")
    remedy = f"Save the image with its full name, such as: skopeo copy docker://{desired} oci-archive:FILE:{desired}"
    if short:
        remedy = f"{short} would be imported with that name, which kubelet does not use. {remedy}"
    return f"{path} does not contain {desired} ({variable}); its images: {names}. Nothing was changed. {remedy}"


def _oci_images(entries: Entries, desired: str) -> Iterator[_NamedImage]:
    index = _json(entries.document(OCI_INDEX), OCI_INDEX)
    for number, entry in enumerate(_list(index, "manifests", OCI_INDEX)):
        annotations = entry.get("annotations") if isinstance(entry, dict) else None
        name = _image_name(annotations if isinstance(annotations, dict) else {}, desired)
        location = f"{OCI_INDEX}: manifests[{number}]"
        # Other images may lack blobs; they are not imported.
        images = _platforms(entries, entry, location) if name == desired else [ArchivedImage("", "", ())]
        yield from (_NamedImage(name, image) for image in images)


def _image_name(annotations: Mapping[str, Any], desired: str) -> str:
    """As imageName with ``--base-name``: a tag without a name is a tag of the desired repository."""
    full = annotations.get(NAME_ANNOTATION)
    if full:
        return str(full)
    short = str(annotations.get(TAG_ANNOTATION) or "")
    return short if not short or {"/", ":", "@"} & set(short) else f"{repository_of(desired)}:{short}"


def _platforms(entries: Entries, entry: Any, location: str) -> list[ArchivedImage]:
    """The complete images for Linux of a descriptor."""
    top = _digest(entry, location)
    if top not in entries.documents:
        raise BadArchive(f"{location} refers to {top}, and the archive has no such blob")
    images: list[ArchivedImage] = []
    pending: list[tuple[str, tuple[str, ...]]] = [(top, ())]
    visited: set[str] = set()
    while pending:
        digest, above = pending.pop()
        # Tools omit the manifests of platforms that they did not download.
        if digest in visited or digest not in entries.documents:
            continue
        visited.add(digest)
        document = _json(entries.documents[digest], digest)
        if "manifests" not in document:
            images += _image(entries, document, digest, above)
        elif len(above) < MAX_DEPTH:
            members = _list(document, "manifests", digest)
            pending += [(_digest(member, f"{digest}: manifests"), (*above, digest)) for member in members]
    if not images:
        raise BadArchive(f"{location}: the archive does not contain a complete image for Linux of {top}")
    return images


def _image(
    entries: Entries, manifest: Mapping[str, Any], digest: str, above: tuple[str, ...]
) -> Iterator[ArchivedImage]:
    config = _digest(manifest.get("config"), f"{digest}: config")
    layers = [_digest(layer, f"{digest}: layers") for layer in _list(manifest, "layers", digest)]
    missing = next((blob for blob in (config, *layers) if blob not in entries.sizes), None)
    if missing and not above:
        raise BadArchive(f"{digest} refers to {missing}, and the archive has no such blob")
    platform = None if missing else _platform(entries, config)
    if platform is not None:
        yield replace(platform, digests=(*above, digest, config))


def _docker_images(entries: Entries) -> Iterator[_NamedImage]:
    """Images of ``docker save`` before 25 and ``podman save``: containerd normalizes names and creates the manifest."""
    text = entries.document(DOCKER_MANIFEST)
    if text is None:
        raise BadArchive(f"it is not an archive of images, since it has neither {OCI_LAYOUT} nor {DOCKER_MANIFEST}")
    manifest = _parsed(text, DOCKER_MANIFEST)
    if not isinstance(manifest, list) or len(manifest) > MAX_MANIFESTS:
        raise BadArchive(f"{DOCKER_MANIFEST} is not a list of images")
    for number, entry in enumerate(manifest):
        location = f"{DOCKER_MANIFEST}[{number}]"
        if not isinstance(entry, dict):
            raise BadArchive(f"{location} is not an image")
        config = entries.digests.get(str(entry.get("Config")))
        if config is None:
            raise BadArchive(f"{location}: the archive has no configuration {str(entry.get('Config'))[:80]!r}")
        platform = _platform(entries, config)
        tags = entry.get("RepoTags") or [""]
        if platform is not None and isinstance(tags, list):
            yield from (_NamedImage(_normalize_tag(str(tag)), replace(platform, digests=(config,))) for tag in tags)


def _normalize_tag(tag: str) -> str:
    try:
        return normalize_image(tag) if tag else ""
    except ProfileError:
        return tag


def _platform(entries: Entries, config: str) -> ArchivedImage | None:
    """The platform of an image for Linux; None for other systems, and for other content such as an attestation."""
    text = entries.documents.get(config)
    document = _parsed(text, config) if text is not None else None
    if not isinstance(document, dict) or document.get("os") != LINUX:
        return None
    return ArchivedImage(str(document.get("architecture")), config, ())


def _digest(entry: Any, location: str) -> str:
    digest = entry.get("digest") if isinstance(entry, dict) else None
    if not isinstance(digest, str) or not digest.startswith("sha256:"):
        raise BadArchive(f"{location} has no sha256 digest")
    return digest


def _list(document: Mapping[str, Any], key: str, location: str) -> list[Any]:
    value = document.get(key)
    if not isinstance(value, list) or len(value) > MAX_MANIFESTS:
        raise BadArchive(f"{location}: {key} is not a list of at most {MAX_MANIFESTS} elements")
    return value


def _json(text: bytes | None, location: str) -> dict[str, Any]:
    if text is None:
        raise BadArchive(f"the archive has no {location}")
    document = _parsed(text, location)
    if not isinstance(document, dict):
        raise BadArchive(f"{location} is not a JSON object")
    return document


def _parsed(text: bytes, location: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadArchive(f"{location} is not valid JSON") from error
