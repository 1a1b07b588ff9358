# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was applied last, and what was there before: notes in objects, and records in ConfigMaps of their own.

Names, keys and forms are those that earlier states of the collection have stored in clusters.
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
"""Bytes of an unpacked note. No API server takes an object of this size."""
T = TypeVar("T")


# A record is written before what it speaks of, so that a run that is cut off loses nothing.


def parse_record(found: ConfigMap | None, entry: str, parse: Callable[[Mapping[str, Any]], T]) -> T | None:
    """The record of a ConfigMap; None where there is none, ClusterError for one that is not ours."""
    if found is None:
        return None
    try:
        document = json.loads(found.data[entry])
        if document["schema"] != SCHEMA:
            raise ValueError(f"schema {document['schema']!r}, this version reads {SCHEMA}")
        return parse(document)
    except (KeyError, TypeError, ValueError) as error:
        raise ClusterError(
            f"{found.place} is not what this version of the collection keeps there ({type(error).__name__}: {error})",
            "Nothing was changed. Look at who wrote it, and delete it if no one needs it.",
        ) from error


def record_data(entry: str, document: Mapping[str, Any]) -> dict[str, str]:
    """The data of a record's ConfigMap."""
    return {entry: json.dumps({"schema": SCHEMA, **document}, indent=1)}


def record_change(ref: Ref, data: Mapping[str, str], version: str | None) -> ObjectChange:
    """A record as it is to be, if it is still as it was read. None for ``version``: there was none."""
    if version is None:
        return ObjectChange(ref, Operation.CREATE, {**ref.header(), "data": dict(data)}, None, None)
    return ObjectChange(ref, Operation.PATCH, {**ref.header(resourceVersion=version), "data": dict(data)}, None, None)


def with_last_applied(desired: Object, annotation: str) -> dict[str, Any]:
    """An object with a note of itself in one of its annotations."""
    note = json.dumps(desired, sort_keys=True, separators=(",", ":"))
    metadata = desired["metadata"]
    annotations = {**(metadata.get("annotations") or {}), annotation: note}
    return {**desired, "metadata": {**metadata, "annotations": annotations}}


def read_last_applied(live: Object, annotation: str) -> dict[str, Any]:
    """The object as it was applied last; {} where that is not known, so that nothing of it is taken back."""
    try:
        found = json.loads(annotations_of(live).get(annotation) or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) and isinstance(found.get("metadata"), dict) else {}


def annotations_of(live: Object) -> Mapping[str, str]:
    found: Mapping[str, str] = (live.get("metadata") or {}).get("annotations") or {}
    return found


# All annotations of an object together may have 256 KiB (apimachinery pkg/api/validation/objectmeta.go), and
# CustomResourceDefinitions are large: their notes are packed.


def pack(document: Mapping[str, Any]) -> str:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def unpack(note: str) -> dict[str, Any]:
    """ValueError for what ``pack`` does not write."""
    try:
        packed = base64.b64decode(note, validate=True)
        found = json.loads(zlib.decompressobj().decompress(packed, MAX_UNPACKED))
    except (binascii.Error, zlib.error, RecursionError) as error:
        raise ValueError(str(error)) from error
    if not isinstance(found, dict):
        raise ValueError("no mapping")
    return found
