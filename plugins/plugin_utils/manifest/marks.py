# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How an object is told to be ours: annotations with the manifest's name and what it last said of the object.

Of a Secret it holds digests.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ..kube.errors import ClusterError
from ..kube.last_applied import annotations_of, pack, unpack
from ..kube.objects import Object, Ref, body

NAME = "colocation.volcano.sh/manifest"
APPLIED = "colocation.volcano.sh/manifest-applied"
ADOPTED = "colocation.volcano.sh/manifest-adopted"
MARKS = (NAME, APPLIED, ADOPTED)


def owner(live: Object) -> str:
    """The name of the manifest that an object is of; empty for one that others made."""
    return annotations_of(live).get(NAME, "")


def is_adopted(live: Object) -> bool:
    return ADOPTED in annotations_of(live)


def said(manifest: Object) -> dict[str, Any]:
    """What a manifest or an object says beside its name; secrets as digests, and without our marks."""
    found = body(manifest)
    metadata = {key: dict(each or {}) for key, each in (found.get("metadata") or {}).items()}
    for mark in MARKS:
        metadata.get("annotations", {}).pop(mark, None)
    found["metadata"] = metadata
    if manifest.get("kind") == "Secret":
        found["data"] = {key: _digest(str(each)) for key, each in (found.get("data") or {}).items()}
    return found


def marks(manifest: Object, name: str, *, adopted: bool) -> dict[str, str]:
    """The annotations of an object that is written."""
    own = {NAME: name, APPLIED: pack(said(manifest))}
    return {**own, ADOPTED: "true"} if adopted else own


def last_said(live: Object) -> dict[str, Any]:
    """What the manifest said of an object when it was last written; ClusterError for a mark that is not ours."""
    try:
        return unpack(annotations_of(live).get(APPLIED, ""))
    except ValueError as error:
        raise ClusterError(
            f"The annotation {APPLIED} of {Ref.of(live).place} is not what this version of the collection writes",
            "Nothing was changed. Look at who wrote it. Without the annotation"
            f" {NAME} the object is somebody else's, and colocation_volcano_adopt takes it over.",
        ) from error


def fingerprint(manifest: Object) -> str:
    """What a manifest says, as a short text."""
    return _digest(json.dumps(said(manifest), sort_keys=True))


def _digest(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
