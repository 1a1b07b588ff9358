# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A manifest's text read as objects; every mistake in it is reported with its line. The options of manifest_apply."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from ..edit.readers import read_yaml
from ..edit.text_errors import EditError
from ..kube.api_errors import ClusterError
from ..kube.objects import Object, ObjectKey, Ref
from ..profile.argspec import Spec
from .apply_order import apply_rank, is_built_in, is_cluster_wide
from .container_images import list_images, mirror_images, outdated_images, unpinned_images

MANIFEST_APPLY: Spec = {
    "kubeconfig": {"type": "path", "required": True},
    "cluster_uid": {"type": "str", "default": ""},
    "name": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "manifest": {"type": "path"},
    "sha256": {"type": "str", "default": ""},
    "namespace": {"type": "str", "default": ""},
    "registry": {"type": "str", "default": ""},
    "allow_unpinned": {"type": "bool", "default": False},
    "adopt": {"type": "bool", "default": False},
    "timeout": {"type": "int", "default": 300},
    "remove_crds": {"type": "bool", "default": False},
    "remove_in_use": {"type": "bool", "default": False},
}


REMEDY = "Nothing was changed, and no API server was asked."
_BETWEEN = re.compile(r"^---(?=[ \t\r\n]|$)", re.MULTILINE)
"""In a column of its own it ends a document wherever it stands: YAML 1.1, 4.3.4 (c-forbidden)."""
_HELM = re.compile(
    r"^(?![ \t]*#).*\{\{-?[ \t]*(?:\.(?:Values|Release|Chart|Capabilities|Files|Template)\b|include )", re.M
)
"""Other braces may be meant: rules of Prometheus and templates of its alerts have them."""
_HOOK, _INSTALLS = "helm.sh/hook", ("pre-install", "post-install", "crd-install")
"""Helm's own hooks for tests, upgrades and removal are no part of an installation: helm pkg/release/hook.go."""


@dataclass(frozen=True)
class ManifestItem:
    """An object that the manifest at ``line`` wants; 0: the manifest takes it for granted."""

    line: int
    manifest: Object

    @property
    def ref(self) -> Ref:
        return Ref.of(self.manifest)


@dataclass(frozen=True)
class ManifestOptions:
    """What is done with a manifest: ``namespace`` is for objects that name none."""

    namespace: str = ""
    registry: str = ""
    allow_unpinned: bool = False


@dataclass(frozen=True)
class ManifestDocument:
    """The objects in the order they are made, and what of the text is not made, with the reason."""

    items: tuple[ManifestItem, ...]
    left_out: tuple[str, ...] = ()

    @property
    def images(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(each for item in self.items for each in list_images(item.manifest)))


def verify_text(path: str, content: bytes, sha256: str) -> str:
    """The text, if it is the one that was meant; ClusterError with both digests otherwise."""
    found = hashlib.sha256(content).hexdigest()
    wanted = sha256.strip().lower().removeprefix("sha256:")
    if not wanted:
        raise ClusterError(
            f"{path} has the sha256 {found}, and nobody said that it is the one that is meant",
            f"{REMEDY} Compare it with its source, then give it as sha256 (in the role beside the manifest's path).",
        )
    if wanted != found:
        raise ClusterError(
            f"{path} has the sha256 {found}, and {wanted} is wanted",
            f"{REMEDY} Get the file that is meant, or look at what changed in it and give the new digest.",
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ClusterError(f"{path}:{line}: a byte that is not UTF-8", f"{REMEDY} Save it as UTF-8.") from None


def parse_document(path: str, text: str, options: ManifestOptions) -> ManifestDocument:
    """The objects of a manifest; ClusterError with all that is wrong with it."""
    wrong: list[str] = [f"{path}:{line}: a template of Helm that was not rendered" for line in _unrendered(text)]
    found: list[ManifestItem] = []
    for line, part in _parts(text):
        try:
            document = read_yaml("\n" * (line - 1) + part)
        except EditError as error:
            wrong.append(_unreadable(path, text, error))
            continue
        if document:
            found += _flatten_lists(line + _before(part), document)
    left_out = [_hook(path, each) for each in found if _is_other_hook(each.manifest)]
    wanted = [each for each in found if not _is_other_hook(each.manifest)]
    wrong += [told for each in wanted for told in _missing_names(path, each)]
    sound = [each for each in wanted if not any(_missing_names(path, each))]
    scopes = _scopes(sound)
    placed = [_with_namespace(each, options.namespace, scopes) for each in sound]
    for check in (_duplicates(path, placed), _without_namespace(path, placed), _images(path, placed, options)):
        wrong += check
    if not found and not wrong:
        wrong.append(f"{path}: it holds no object")
    if wrong:
        raise ClusterError("; ".join(dict.fromkeys(wrong)), f"{REMEDY} Correct the manifest and its digest.")
    moved = [replace(each, manifest=mirror_images(each.manifest, options.registry)) for each in placed]
    return ManifestDocument(tuple(sorted(moved, key=lambda each: apply_rank(each.ref))), tuple(left_out))


def _parts(text: str) -> Iterator[tuple[int, str]]:
    """(the line that it begins at, its text) of each document."""
    starts = [0, *(each.start() for each in _BETWEEN.finditer(text)), len(text)]
    line = 1
    for start, end in pairwise(starts):
        part = text[start:end]
        if part.strip():
            yield line, part
        line += part.count("\n")


def _before(part: str) -> int:
    """How many lines stand above what a document says."""
    lines = enumerate(part.split("\n"))
    return next((number for number, each in lines if each.strip() and not each.startswith(("#", "---"))), 0)


def _unrendered(text: str) -> Iterator[int]:
    yield from (text.count("\n", 0, each.start()) + 1 for each in _HELM.finditer(text))


def _unreadable(path: str, text: str, error: EditError) -> str:
    place = path if error.line is None else f"{path}:{error.line}"
    lines = text.split("\n")
    said = lines[error.line - 1] if error.line and error.line <= len(lines) else ""
    message = "a template that was not rendered" if "{{" in said else error.message
    return f"{place}: {message}"


def _flatten_lists(line: int, document: Object) -> Iterator[ManifestItem]:
    """What a List holds is as good as documents of their own."""
    items = document.get("items")
    if str(document.get("kind", "")).endswith("List") and isinstance(items, list):
        for each in items:
            yield from _flatten_lists(line, each if isinstance(each, Mapping) else {})
    else:
        yield ManifestItem(line, document)


def _hooks(manifest: Object) -> list[str]:
    metadata = manifest.get("metadata")
    notes = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    said = str(notes.get(_HOOK) or "") if isinstance(notes, Mapping) else ""
    return [each.strip() for each in said.split(",") if each.strip()]


def _is_other_hook(manifest: Object) -> bool:
    found = _hooks(manifest)
    return bool(found) and not any(each in _INSTALLS for each in found)


def _hook(path: str, item: ManifestItem) -> str:
    name = (item.manifest.get("metadata") or {}).get("name")
    return (
        f"{item.manifest.get('kind')} {name} ({path}:{item.line}): Helm's hook for {', '.join(_hooks(item.manifest))}"
    )


def _missing_names(path: str, item: ManifestItem) -> Iterator[str]:
    metadata = item.manifest.get("metadata")
    known = metadata if isinstance(metadata, Mapping) else {}
    texts = {
        "apiVersion": item.manifest.get("apiVersion"),
        "kind": item.manifest.get("kind"),
        "metadata.name": known.get("name"),
    }
    for name, value in texts.items():
        if not isinstance(value, str) or not value:
            yield f"{path}:{item.line}: an object without {name}"
        elif "{{" in value:
            yield f"{path}:{item.line}: {name} is a template that was not rendered"
    if not isinstance(known.get("namespace", ""), str):
        yield f"{path}:{item.line}: metadata.namespace is no text; write it in quotes"


def _scopes(items: Iterable[ManifestItem]) -> dict[tuple[str, str], bool]:
    """Whether kinds that the manifest's own CRDs define have a namespace."""
    scopes = {}
    for each in items:
        spec = each.manifest.get("spec")
        if each.ref.kind == "CustomResourceDefinition" and isinstance(spec, Mapping):
            kind = (spec.get("names") or {}).get("kind")
            scopes[str(spec.get("group")), str(kind)] = spec.get("scope") == "Namespaced"
    return scopes


def _with_namespace(item: ManifestItem, namespace: str, scopes: Mapping[tuple[str, str], bool]) -> ManifestItem:
    """The object as the API server would have it: in a namespace or in none, its secrets in base64."""
    ref = item.ref
    metadata = {key: each for key, each in item.manifest["metadata"].items() if key != "namespace"}
    namespaced = scopes.get((ref.group, ref.kind), is_built_in(ref) and not is_cluster_wide(ref))
    if namespaced or (ref.namespace and not is_cluster_wide(ref)):
        metadata["namespace"] = ref.namespace or namespace
    manifest = {**item.manifest, "metadata": metadata}
    manifest.pop("status", None)
    if ref.kind == "Namespace":
        manifest = _without_own_name(manifest)
    return replace(item, manifest=_encode_secret(manifest) if ref.kind == "Secret" else manifest)


def _without_own_name(manifest: dict[str, Any]) -> dict[str, Any]:
    """The server labels namespaces with their name itself, from 1.21 on."""
    metadata = manifest["metadata"]
    labels = {key: each for key, each in (metadata.get("labels") or {}).items() if key != "kubernetes.io/metadata.name"}
    return {**manifest, "metadata": {**metadata, "labels": labels}}


def _encode_secret(manifest: dict[str, Any]) -> dict[str, Any]:
    """stringData is data that the server encodes, and never shows again."""
    plain = manifest.pop("stringData", None) or {}
    encoded = {key: base64.b64encode(str(each).encode()).decode() for key, each in plain.items()}
    given = {key: "".join(str(each).split()) for key, each in (manifest.get("data") or {}).items()}
    data = {**given, **encoded}
    return {**manifest, "data": data} if data else manifest


def _duplicates(path: str, items: Iterable[ManifestItem]) -> Iterator[str]:
    first: dict[ObjectKey, int] = {}
    for each in items:
        ref = each.ref
        key = ref.key
        if key in first:
            yield f"{path}:{each.line}: {ref.place} is there twice, first in line {first[key]}"
        first.setdefault(key, each.line)


def _without_namespace(path: str, items: Iterable[ManifestItem]) -> Iterator[str]:
    for each in items:
        if each.ref.namespace == "":
            told = f"{each.ref.kind} {each.ref.name} names no namespace, and the option namespace is empty"
            yield f"{path}:{each.line}: {told}"


def _images(path: str, items: Iterable[ManifestItem], options: ManifestOptions) -> Iterator[str]:
    for each in items:
        place = f"{path}:{each.line}: {each.ref.place}"
        if any("{{" in image for image in list_images(each.manifest)):
            yield f"{place}: an image is a template that was not rendered"
            continue
        yield from (f"{place}: {told}" for told in outdated_images(each.manifest))
        if not options.allow_unpinned:
            for image in unpinned_images(each.manifest):
                told = "has no version as its tag and no digest (colocation_volcano_allow_unpinned)"
                yield f"{place}: the image {image} {told}"
