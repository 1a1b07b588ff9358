# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The patches that kubeadm applies to kubelet's configuration, and the values that they set.

Source: kubernetes/kubernetes cmd/kubeadm/app/util/patches/patches.go.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...module_utils.snapshot.kubelet_evidence import MAX_PATCHES
from ..edit.readers import read_yaml
from ..edit.text_errors import ParseError
from .config_file import Problem, missing_text, unread_files

_NAME = re.compile(r"kubeletconfiguration[^.+\n]*(?:\+(?P<kind>json|merge|strategic))?")
_SEPARATOR = re.compile(r"^---[ \t]*\r?$", re.MULTILINE)
JSON_PATCH = "json"


@dataclass(frozen=True)
class Patch:
    """A patch file. ``values``: of its merge patches, later ones over earlier. ``touched``: top-level fields that an
    operation of a JSON patch or a directive changes, so that their value is not in ``values``.
    """

    path: str
    kind: str
    values: Mapping[str, Any]
    touched: frozenset[str] = frozenset()
    problem: Problem | None = None


@dataclass(frozen=True)
class KubeadmPatches:
    """``kind`` is ``missing``, ``directory`` or the type of another file at this path.

    ``unread``: why some patches are unknown; None if all are known.
    """

    directory: str
    kind: str
    patches: tuple[Patch, ...]
    unread: Problem | None


def read_patches(evidence: Mapping[str, Any] | None) -> KubeadmPatches | None:
    """The patch directory of a snapshot; None if the snapshot did not read one."""
    if evidence is None:
        return None
    patches = (read_patch(path, evidence["files"][path]) for path in evidence["paths"])
    return KubeadmPatches(
        evidence["folder"],
        evidence["kind"],
        tuple(patch for patch in patches if patch),
        unread_files(evidence, f"Keep at most {MAX_PATCHES} patches of kubeletconfiguration in it"),
    )


def read_patch(path: str, captured: Mapping[str, Any]) -> Patch | None:
    """A patch file; None for an empty file, which kubeadm ignores."""
    name = _NAME.match(path.rpartition("/")[2])
    kind = (name and name["kind"]) or "strategic"
    if "text" not in captured:
        return Patch(path, kind, {}, problem=missing_text(path, captured))
    if not captured["text"]:
        return None
    try:
        return (
            _read_json_patch(path, captured["text"])
            if kind == JSON_PATCH
            else _read_merge_patch(path, kind, captured["text"])
        )
    except ParseError as error:
        return Patch(path, kind, {}, problem=Problem(path, error.message, error.line, error.remedy))


def _read_merge_patch(path: str, kind: str, text: str) -> Patch:
    values: dict[str, Any] = {}
    for document in _split_documents(text):
        values = _merge_patches(values, _parse_mapping(document))
    # $patch, $retainKeys and the like: apimachinery pkg/util/strategicpatch
    directed = {key for key, value in values.items() if _has_directive(value)}
    everything = frozenset("*") if any(key.startswith("$") for key in values) else frozenset()
    return Patch(path, kind, values, frozenset(directed) | everything)


def _split_documents(text: str) -> list[str]:
    return [document for document in _SEPARATOR.split(text) if document.strip()]


def _parse_mapping(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return read_yaml(text)
    if not isinstance(document, dict):
        raise ParseError("the patch is not a mapping of keys to values", remedy="Write one key: value on each line")
    return document


def _merge_patches(values: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Both patches merged; a null is kept, because it removes a key from the configuration."""
    result = dict(values)
    for key, value in patch.items():
        below = result.get(key)
        result[key] = (
            _merge_patches(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
        )
    return result


def _has_directive(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(str(key).startswith("$") or _has_directive(item) for key, item in value.items())
    return isinstance(value, list) and any(_has_directive(item) for item in value)


def _read_json_patch(path: str, text: str) -> Patch:
    """Operations of RFC 6902: the fields that they name are touched; the resulting values are not computed."""
    touched = set()
    for document in _split_documents(text):
        for operation in _parse_operations(document):
            for pointer in (operation.get("path"), operation.get("from")):
                if isinstance(pointer, str) and operation.get("op") != "test":
                    touched.add(pointer.split("/")[1].replace("~1", "/").replace("~0", "~") if "/" in pointer else "*")
    return Patch(path, JSON_PATCH, {}, frozenset(touched))


def _parse_operations(text: str) -> list[Mapping[str, Any]]:
    try:
        operations = json.loads(text)
    except (ValueError, RecursionError):
        operations = read_yaml("patch:\n" + textwrap.indent(text, " ")).get("patch")
    if not isinstance(operations, list) or not all(isinstance(operation, Mapping) for operation in operations):
        raise ParseError("the JSON patch is not a list of operations", remedy="Write the operations of RFC 6902")
    return operations
