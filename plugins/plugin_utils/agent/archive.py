# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which images an archive holds, under which names: an OCI layout or a ``docker save``, read as containerd reads it.

Source: containerd core/images/archive/importer.go, client/import.go imageName, core/images/archive/reference.go.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from ..profile.validators import ProfileError
from .archive_entries import BadArchive, Entries, read_entries
from .image_name import IMAGE, normalized, repository, same

ARCHIVE, DIGEST = "colocation_agent_image_archive", "colocation_agent_image_digest"
NAME, TAG = "io.containerd.image.name", "org.opencontainers.image.ref.name"
LAYOUT, INDEX, DOCKER = "oci-layout", "index.json", "manifest.json"
DEPTH = 4
"""Of indexes in indexes that are looked into."""
MANIFESTS = 1024
LINUX = "linux"


@dataclass(frozen=True)
class Held:
    """An image of one platform. ``id`` is the digest of its configuration, which the CRI takes for its id.

    ``digests``: those of the index, the manifest and the configuration, as far as the archive has them.
    """

    architecture: str
    id: str
    digests: tuple[str, ...]

    def published(self) -> dict[str, Any]:
        return {"architecture": self.architecture, "id": self.id, "digests": list(self.digests)}


@dataclass(frozen=True)
class Archive:
    """The image that was wanted as an archive holds it, a Held for each architecture."""

    path: str
    sha256: str
    size: int
    image: str
    held: tuple[Held, ...]

    def published(self) -> dict[str, Any]:
        """As the module gives it back, and agent_image takes it."""
        return {
            "path": self.path,
            "sha256": self.sha256,
            "size": self.size,
            "image": self.image,
            "images": [each.published() for each in self.held],
        }


@dataclass(frozen=True)
class _Named:
    name: str
    held: Held


def read_archive(stream: BinaryIO, path: str, image: str, digest: str) -> Archive:
    """The archive at ``path``; ProfileError where it is none, or not of this image, or not of this digest."""
    wanted = normalized(image)
    try:
        entries = read_entries(stream)
        named = tuple(_oci(entries, wanted) if LAYOUT in entries.digests else _docker(entries))
    except BadArchive as error:
        raise ProfileError(ARCHIVE, f"{path}: {error}. Nothing was changed. Save the image anew") from error
    held = tuple(each.held for each in named if each.name == wanted)
    if not held:
        raise ProfileError(ARCHIVE, _without(path, wanted, named))
    fitting = tuple(each for each in held if not digest or digest in each.digests)
    if not fitting:
        has = ", ".join(dict.fromkeys(each for one in held for each in one.digests))
        raise ProfileError(
            DIGEST,
            f"{path} holds {wanted} with other digests than {digest}: {has}. Nothing was changed. Fetch the archive"
            f" anew, or put {DIGEST} right",
        )
    return Archive(path, entries.sha256, entries.size, wanted, fitting)


def _without(path: str, wanted: str, named: tuple[_Named, ...]) -> str:
    names = ", ".join(sorted({each.name or "one without a name" for each in named})) or "none"
    short = next((each.name for each in named if each.name and same(each.name, wanted)), "")
    remedy = f"Save it under its whole name, such as: skopeo copy docker://{wanted} oci-archive:FILE:{wanted}"
    if short:
        remedy = f"{short} would be stored under that name, where kubelet does not look. {remedy}"
    return f"{path} does not hold {wanted} ({IMAGE}); the images in it: {names}. Nothing was changed. {remedy}"


def _oci(entries: Entries, wanted: str) -> Iterator[_Named]:
    index = _json(entries.document(INDEX), INDEX)
    for number, entry in enumerate(_list(index, "manifests", INDEX)):
        annotations = entry.get("annotations") if isinstance(entry, dict) else None
        name = _name(annotations if isinstance(annotations, dict) else {}, wanted)
        place = f"{INDEX}: manifests[{number}]"
        # Others may lack blobs that nobody needs.
        held = _platforms(entries, entry, place) if name == wanted else [Held("", "", ())]
        yield from (_Named(name, each) for each in held)


def _name(annotations: Mapping[str, Any], wanted: str) -> str:
    """imageName with ``--base-name``: a bare tag is taken for one of the repository that is wanted."""
    full = annotations.get(NAME)
    if full:
        return str(full)
    short = str(annotations.get(TAG) or "")
    return short if not short or {"/", ":", "@"} & set(short) else f"{repository(wanted)}:{short}"


def _platforms(entries: Entries, entry: Any, place: str) -> list[Held]:
    """The images of a descriptor that are for Linux and wholly there."""
    top = _digest(entry, place)
    if top not in entries.documents:
        raise BadArchive(f"{place} names {top}, and no such blob is in it")
    found: list[Held] = []
    left: list[tuple[str, tuple[str, ...]]] = [(top, ())]
    seen: set[str] = set()
    while left:
        digest, above = left.pop()
        # Tools leave the manifests of platforms out that they did not fetch.
        if digest in seen or digest not in entries.documents:
            continue
        seen.add(digest)
        document = _json(entries.documents[digest], digest)
        if "manifests" not in document:
            found += _image(entries, document, digest, above)
        elif len(above) < DEPTH:
            members = _list(document, "manifests", digest)
            left += [(_digest(each, f"{digest}: manifests"), (*above, digest)) for each in members]
    if not found:
        raise BadArchive(f"{place}: of {top} it does not hold any image for Linux wholly")
    return found


def _image(entries: Entries, manifest: Mapping[str, Any], digest: str, above: tuple[str, ...]) -> Iterator[Held]:
    config = _digest(manifest.get("config"), f"{digest}: config")
    layers = [_digest(each, f"{digest}: layers") for each in _list(manifest, "layers", digest)]
    missing = next((each for each in (config, *layers) if each not in entries.sizes), None)
    if missing and not above:
        raise BadArchive(f"{digest} names {missing}, and no such blob is in it")
    platform = None if missing else _platform(entries, config)
    if platform is not None:
        yield replace(platform, digests=(*above, digest, config))


def _docker(entries: Entries) -> Iterator[_Named]:
    """``docker save`` before 25, ``podman save``: names are normalized there, and containerd makes the manifest."""
    text = entries.document(DOCKER)
    if text is None:
        raise BadArchive(f"it has neither {LAYOUT} nor {DOCKER}, so that it is no archive of images")
    found = _parsed(text, DOCKER)
    if not isinstance(found, list) or len(found) > MANIFESTS:
        raise BadArchive(f"{DOCKER} is no list of images")
    for number, entry in enumerate(found):
        place = f"{DOCKER}[{number}]"
        if not isinstance(entry, dict):
            raise BadArchive(f"{place} is no image")
        config = entries.digests.get(str(entry.get("Config")))
        if config is None:
            raise BadArchive(f"{place}: the configuration {str(entry.get('Config'))[:80]!r} is not in it")
        platform = _platform(entries, config)
        tags = entry.get("RepoTags") or [""]
        if platform is not None and isinstance(tags, list):
            yield from (_Named(_tagged(str(tag)), replace(platform, digests=(config,))) for tag in tags)


def _tagged(tag: str) -> str:
    try:
        return normalized(tag) if tag else ""
    except ProfileError:
        return tag


def _platform(entries: Entries, config: str) -> Held | None:
    """Of an image for Linux; None for another system, and for what is no image, such as an attestation."""
    text = entries.documents.get(config)
    document = _parsed(text, config) if text is not None else None
    if not isinstance(document, dict) or document.get("os") != LINUX:
        return None
    return Held(str(document.get("architecture")), config, ())


def _digest(entry: Any, place: str) -> str:
    found = entry.get("digest") if isinstance(entry, dict) else None
    if not isinstance(found, str) or not found.startswith("sha256:"):
        raise BadArchive(f"{place} has no digest of kind sha256")
    return found


def _list(document: Mapping[str, Any], key: str, place: str) -> list[Any]:
    found = document.get(key)
    if not isinstance(found, list) or len(found) > MANIFESTS:
        raise BadArchive(f"{place}: {key} is no list of at most {MANIFESTS}")
    return found


def _json(text: bytes | None, place: str) -> dict[str, Any]:
    if text is None:
        raise BadArchive(f"{place} is not in it")
    found = _parsed(text, place)
    if not isinstance(found, dict):
        raise BadArchive(f"{place} is no JSON object")
    return found


def _parsed(text: bytes, place: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadArchive(f"{place} is no JSON ({error})") from error
