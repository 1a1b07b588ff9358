# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records of the last applied state and of the state before it: in annotations of objects, and in separate ConfigMaps.

Names, keys and formats are those that earlier versions of the collection stored in clusters.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from .api_errors import ClusterError
from .object_changes import ObjectChange, Operation
from .objects import ConfigMap, Object, Ref

SCHEMA = 1
MAX_UNPACKED = 1 << 24
"""Maximum bytes of an unpacked annotation. No API server accepts an object of this size."""
T = TypeVar("T")


# A record is written before the change that it describes, so that an interrupted run loses nothing.


class _AnotherSchema(ValueError):
    """A record of another version of the collection."""

    def __init__(self, schema: Any) -> None:
        super().__init__()
        self.detail = f" (it has schema {schema!r}, and this version reads {SCHEMA})"


def parse_record(config_map: ConfigMap | None, entry: str, parse: Callable[[Mapping[str, Any]], T]) -> T | None:
    """The record in a ConfigMap; None without a ConfigMap, ClusterError for one that the collection did not write."""
    if config_map is None:
        return None
    try:
        document = json.loads(config_map.data[entry])
        if document["schema"] != SCHEMA:
            raise _AnotherSchema(document["schema"])
        return parse(document)
    except (KeyError, TypeError, ValueError) as error:
        detail = error.detail if isinstance(error, _AnotherSchema) else ""
        raise ClusterError(
            f"{config_map.place} does not have the format of this version of the collection{detail}",
            "Nothing was changed. Check who wrote it, and delete it if it is not needed.",
        ) from error


def record_data(entry: str, document: Mapping[str, Any]) -> dict[str, str]:
    """The data of a record's ConfigMap."""
    return {entry: json.dumps({"schema": SCHEMA, **document}, indent=1)}


def record_change(ref: Ref, data: Mapping[str, str], version: str | None) -> ObjectChange:
    """The change that writes a record if it is still as it was read; ``version`` is None where none existed."""
    if version is None:
        return ObjectChange(ref, Operation.CREATE, {**ref.header(), "data": dict(data)}, None, None)
    return ObjectChange(ref, Operation.PATCH, {**ref.header(resourceVersion=version), "data": dict(data)}, None, None)


def with_last_applied(desired: Object, annotation: str) -> dict[str, Any]:
    """An object with its own manifest in one of its annotations."""
    note = json.dumps(desired, sort_keys=True, separators=(",", ":"))
    metadata = desired["metadata"]
    annotations = {**(metadata.get("annotations") or {}), annotation: note}
    return {**desired, "metadata": {**metadata, "annotations": annotations}}


def read_last_applied(live: Object, annotation: str) -> dict[str, Any]:
    """The manifest that was applied last; {} where it is not known, so that none of its fields is removed."""
    try:
        manifest = json.loads(annotations_of(live).get(annotation) or "{}")
    except (ValueError, RecursionError):
        return {}
    return manifest if isinstance(manifest, dict) and isinstance(manifest.get("metadata"), dict) else {}


def annotations_of(live: Object) -> Mapping[str, str]:
    annotations: Mapping[str, str] = (live.get("metadata") or {}).get("annotations") or {}
    return annotations


# All annotations of an object together may have 256 KiB (apimachinery pkg/api/validation/objectmeta.go), and
# CustomResourceDefinitions are large: their manifests are compressed.


def pack(document: Mapping[str, Any]) -> str:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def unpack(note: str) -> dict[str, Any]:
    """The document that ``pack`` encoded; ValueError for any other text."""
    try:
        packed = base64.b64decode(note, validate=True)
        document = json.loads(zlib.decompressobj().decompress(packed, MAX_UNPACKED))
    except (binascii.Error, zlib.error, RecursionError) as error:
        raise ValueError("not a packed document") from error
    if not isinstance(document, dict):
        raise ValueError("not a mapping")
    return document
