# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse a manifest's text into objects, and report every mistake with its line. The options of manifest_apply."""

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
from .container_images import (
    list_images,
    mirror_images,
    missing_images,
    outdated_images,
    unpinned_images,
    without_pulls,
)

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
    "imported_images": {"type": "list", "elements": "str", "default": []},
    "adopt": {"type": "bool", "default": False},
    "timeout": {"type": "int", "default": 300},
    "remove_crds": {"type": "bool", "default": False},
    "remove_in_use": {"type": "bool", "default": False},
}


REMEDY = "Nothing was changed, and no request was sent to an API server."
_BETWEEN = re.compile(r"^---(?=[ \t\r\n]|$)", re.MULTILINE)
"""At the start of a line it always ends a document: YAML 1.1, 4.3.4 (c-forbidden)."""
_HELM = re.compile(
    r"^(?![ \t]*#).*\{\{-?[ \t]*(?:\.(?:Values|Release|Chart|Capabilities|Files|Template)\b|include )", re.M
)
"""Other braces can be valid: Prometheus rules and templates of alerts have them."""
_HOOK, _INSTALLS = "helm.sh/hook", ("pre-install", "post-install", "crd-install")
"""Helm's other hooks, for tests, upgrades and removal, do not belong to an installation: helm pkg/release/hook.go."""


@dataclass(frozen=True)
class ManifestItem:
    """An object that the manifest defines at ``line``; 0: a namespace that the manifest uses and does not define."""

    line: int
    manifest: Object

    @property
    def ref(self) -> Ref:
        return Ref.of(self.manifest)


@dataclass(frozen=True)
class ManifestOptions:
    """How a manifest is applied: ``namespace`` is for objects without a namespace.

    ``imported_images``: images that the nodes have; if it is not empty, no image is pulled.
    """

    namespace: str = ""
    registry: str = ""
    allow_unpinned: bool = False
    imported_images: tuple[str, ...] = ()


@dataclass(frozen=True)
class ManifestDocument:
    """The objects in the order of their creation; ``unsupported`` describes skipped objects, with the reason."""

    items: tuple[ManifestItem, ...]
    unsupported: tuple[str, ...] = ()

    @property
    def images(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(image for item in self.items for image in list_images(item.manifest)))


def verify_text(path: str, content: bytes, sha256: str) -> str:
    """The text, if it has this digest; ClusterError with both digests otherwise."""
    actual = hashlib.sha256(content).hexdigest()
    expected = sha256.strip().lower().removeprefix("sha256:")
    if not expected:
        raise ClusterError(
            f"{path} has the sha256 {actual}, and no expected sha256 is set",
            f"{REMEDY} Compare it with its source, then set it as sha256 (in the role next to the manifest's path).",
        )
    if expected != actual:
        raise ClusterError(
            f"{path} has the sha256 {actual}, and the expected sha256 is {expected}",
            f"{REMEDY} Get the intended file, or check what changed in it and set the new digest.",
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ClusterError(f"{path}:{line}: a byte that is not UTF-8", f"{REMEDY} Save it as UTF-8.") from None


def parse_document(path: str, text: str, options: ManifestOptions) -> ManifestDocument:
    """The objects of a manifest; ClusterError with all problems in it."""
    problems: list[str] = [f"{path}:{line}: a Helm template that is not rendered" for line in _unrendered_lines(text)]
    items: list[ManifestItem] = []
    for line, part in _split_documents(text):
        try:
            document = read_yaml("\n" * (line - 1) + part)
        except EditError as error:
            problems.append(_describe_parse_error(path, text, error))
            continue
        if document:
            items += _flatten_lists(line + _leading_lines(part), document)
    hooks = [_describe_hook(path, item) for item in items if _is_other_hook(item.manifest)]
    installed = [item for item in items if not _is_other_hook(item.manifest)]
    problems += [problem for item in installed for problem in _missing_names(path, item)]
    named = [item for item in installed if not any(_missing_names(path, item))]
    scopes = _crd_scopes(named)
    namespaced = [_with_namespace(item, options.namespace, scopes) for item in named]
    for check in (
        _duplicates(path, namespaced),
        _without_namespace(path, namespaced),
        _images(path, namespaced, options),
    ):
        problems += check
    if not items and not problems:
        problems.append(f"{path}: it has no object")
    if problems:
        raise ClusterError("; ".join(dict.fromkeys(problems)), f"{REMEDY} Correct the manifest and its digest.")
    final = [replace(item, manifest=_with_images(item.manifest, options)) for item in namespaced]
    absent = [problem for item in final for problem in _not_imported(path, item, options)]
    if absent:
        raise ClusterError(
            "; ".join(absent), f"{REMEDY} Add an archive of each image to colocation_volcano_image_archives."
        )
    return ManifestDocument(tuple(sorted(final, key=lambda item: apply_rank(item.ref))), tuple(hooks))


def _with_images(manifest: Object, options: ManifestOptions) -> dict[str, Any]:
    mirrored = mirror_images(manifest, options.registry)
    return without_pulls(mirrored) if options.imported_images else mirrored


def _not_imported(path: str, item: ManifestItem, options: ManifestOptions) -> Iterator[str]:
    """Images that no node could start, because nothing is pulled."""
    if options.imported_images:
        for image in missing_images(item.manifest, options.imported_images):
            yield f"{path}:{item.line}: {item.ref.place}: the image {image} is not imported from an archive"


def _split_documents(text: str) -> Iterator[tuple[int, str]]:
    """(number of its first line, text) of each document."""
    starts = [0, *(separator.start() for separator in _BETWEEN.finditer(text)), len(text)]
    line = 1
    for start, end in pairwise(starts):
        part = text[start:end]
        if part.strip():
            yield line, part
        line += part.count("\n")


def _leading_lines(part: str) -> int:
    """The number of lines before a document's content."""
    lines = enumerate(part.split("\n"))
    return next((number for number, content in lines if content.strip() and not content.startswith(("#", "---"))), 0)


def _unrendered_lines(text: str) -> Iterator[int]:
    yield from (text.count("\n", 0, match.start()) + 1 for match in _HELM.finditer(text))


def _describe_parse_error(path: str, text: str, error: EditError) -> str:
    location = path if error.line is None else f"{path}:{error.line}"
    lines = text.split("\n")
    content = lines[error.line - 1] if error.line and error.line <= len(lines) else ""
    if "{{" in content:
        return f"{location}: a template that is not rendered"
    return f"{location}: {error.message} ({error.remedy})" if error.remedy else f"{location}: {error.message}"


def _flatten_lists(line: int, document: Object) -> Iterator[ManifestItem]:
    """The objects of a document; the items of a List count as separate documents."""
    items = document.get("items")
    if str(document.get("kind", "")).endswith("List") and isinstance(items, list):
        for item in items:
            yield from _flatten_lists(line, item if isinstance(item, Mapping) else {})
    else:
        yield ManifestItem(line, document)


def _helm_hooks(manifest: Object) -> list[str]:
    metadata = manifest.get("metadata")
    notes = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    value = str(notes.get(_HOOK) or "") if isinstance(notes, Mapping) else ""
    return [hook.strip() for hook in value.split(",") if hook.strip()]


def _is_other_hook(manifest: Object) -> bool:
    hooks = _helm_hooks(manifest)
    return bool(hooks) and not any(hook in _INSTALLS for hook in hooks)


def _describe_hook(path: str, item: ManifestItem) -> str:
    name = (item.manifest.get("metadata") or {}).get("name")
    hooks = ", ".join(_helm_hooks(item.manifest))
    return f"{item.manifest.get('kind')} {name} ({path}:{item.line}): a Helm hook for {hooks}"


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
            yield f"{path}:{item.line}: {name} is a template that is not rendered"
    if not isinstance(known.get("namespace", ""), str):
        yield f"{path}:{item.line}: metadata.namespace is not a string; write it in quotes"


def _crd_scopes(items: Iterable[ManifestItem]) -> dict[tuple[str, str], bool]:
    """Whether the kinds that the manifest's CRDs define are namespaced, by group and kind."""
    scopes = {}
    for item in items:
        spec = item.manifest.get("spec")
        if item.ref.kind == "CustomResourceDefinition" and isinstance(spec, Mapping):
            kind = (spec.get("names") or {}).get("kind")
            scopes[str(spec.get("group")), str(kind)] = spec.get("scope") == "Namespaced"
    return scopes


def _with_namespace(item: ManifestItem, namespace: str, scopes: Mapping[tuple[str, str], bool]) -> ManifestItem:
    """The object as the API server stores it: with a namespace or without, its secrets in base64."""
    ref = item.ref
    metadata = {key: value for key, value in item.manifest["metadata"].items() if key != "namespace"}
    namespaced = scopes.get((ref.group, ref.kind), is_built_in(ref) and not is_cluster_wide(ref))
    if namespaced or (ref.namespace and not is_cluster_wide(ref)):
        metadata["namespace"] = ref.namespace or namespace
    manifest = {**item.manifest, "metadata": metadata}
    manifest.pop("status", None)
    if ref.kind == "Namespace":
        manifest = _without_name_label(manifest)
    return replace(item, manifest=_encode_secret(manifest) if ref.kind == "Secret" else manifest)


def _without_name_label(manifest: dict[str, Any]) -> dict[str, Any]:
    """The namespace without the label of its name, which an API server sets itself since 1.21."""
    metadata = manifest["metadata"]
    labels = {
        key: value for key, value in (metadata.get("labels") or {}).items() if key != "kubernetes.io/metadata.name"
    }
    return {**manifest, "metadata": {**metadata, "labels": labels}}


def _encode_secret(manifest: dict[str, Any]) -> dict[str, Any]:
    """The Secret with stringData encoded as data, as the API server does; it never returns stringData."""
    plain = manifest.pop("stringData", None) or {}
    encoded = {key: base64.b64encode(str(value).encode()).decode() for key, value in plain.items()}
    existing = {key: "".join(str(value).split()) for key, value in (manifest.get("data") or {}).items()}
    data = {**existing, **encoded}
    return {**manifest, "data": data} if data else manifest


def _duplicates(path: str, items: Iterable[ManifestItem]) -> Iterator[str]:
    first: dict[ObjectKey, int] = {}
    for item in items:
        ref = item.ref
        key = ref.key
        if key in first:
            yield f"{path}:{item.line}: {ref.place} is defined twice, first in line {first[key]}"
        first.setdefault(key, item.line)


def _without_namespace(path: str, items: Iterable[ManifestItem]) -> Iterator[str]:
    for item in items:
        if item.ref.namespace == "":
            problem = f"{item.ref.kind} {item.ref.name} has no namespace, and the option namespace is empty"
            yield f"{path}:{item.line}: {problem}"


def _images(path: str, items: Iterable[ManifestItem], options: ManifestOptions) -> Iterator[str]:
    for item in items:
        location = f"{path}:{item.line}: {item.ref.place}"
        if any("{{" in image for image in list_images(item.manifest)):
            yield f"{location}: an image is a template that is not rendered"
            continue
        yield from (f"{location}: {problem}" for problem in outdated_images(item.manifest))
        if not options.allow_unpinned:
            for image in unpinned_images(item.manifest):
                problem = "has neither a version as its tag nor a digest (colocation_volcano_allow_unpinned)"
                yield f"{location}: the image {image} {problem}"
