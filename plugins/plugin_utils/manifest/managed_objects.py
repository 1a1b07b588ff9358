# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of a manifest: the annotations that mark them as managed, and changes of them as they are sent and shown.

The annotations have the manifest's name and the fields that were applied last, for a Secret as digests. No diff shows a
secret, or thousands of lines of a schema.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..kube.api_errors import ClusterError
from ..kube.last_applied import annotations_of, pack, unpack
from ..kube.object_changes import ObjectChange, Operation, deletion_of, merge_patch
from ..kube.objects import Object, Ref, apply_patch, body, project
from ..report.secrets import MARK

NAME_ANNOTATION = "colocation.volcano.sh/manifest"
LAST_APPLIED = "colocation.volcano.sh/manifest-applied"
ADOPTED_ANNOTATION = "colocation.volcano.sh/manifest-adopted"
OWN_ANNOTATIONS = (NAME_ANNOTATION, LAST_APPLIED, ADOPTED_ANNOTATION)


def owner_of(live: Object) -> str:
    """The name of the manifest that an object is of; empty for one that others made."""
    return annotations_of(live).get(NAME_ANNOTATION, "")


def is_adopted(live: Object) -> bool:
    return ADOPTED_ANNOTATION in annotations_of(live)


def comparable_fields(manifest: Object) -> dict[str, Any]:
    """What a manifest or an object says beside its name; secrets as digests, and without our marks."""
    found = body(manifest)
    metadata = {key: dict(each or {}) for key, each in (found.get("metadata") or {}).items()}
    for mark in OWN_ANNOTATIONS:
        metadata.get("annotations", {}).pop(mark, None)
    found["metadata"] = metadata
    if manifest.get("kind") == "Secret":
        found["data"] = {key: _text_digest(str(each)) for key, each in (found.get("data") or {}).items()}
    return found


def ownership_annotations(manifest: Object, name: str, *, adopted: bool) -> dict[str, str]:
    """The annotations of an object that is written."""
    own = {NAME_ANNOTATION: name, LAST_APPLIED: pack(comparable_fields(manifest))}
    return {**own, ADOPTED_ANNOTATION: "true"} if adopted else own


def last_applied_fields(live: Object) -> dict[str, Any]:
    """What the manifest said of an object when it was last written; ClusterError for a mark that is not ours."""
    try:
        return unpack(annotations_of(live).get(LAST_APPLIED, ""))
    except ValueError as error:
        raise ClusterError(
            f"The annotation {LAST_APPLIED} of {Ref.of(live).place} is not what this version of the collection writes",
            "Nothing was changed. Look at who wrote it. Without the annotation"
            f" {NAME_ANNOTATION} the object is somebody else's, and colocation_volcano_adopt takes it over.",
        ) from error


def fingerprint(manifest: Object) -> str:
    """What a manifest says, as a short text."""
    return _text_digest(json.dumps(comparable_fields(manifest), sort_keys=True))


def _text_digest(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def create_change(manifest: Object, name: str, *, dry: bool) -> ObjectChange:
    """An object that is not there."""
    sent = _with_annotations(manifest, ownership_annotations(manifest, name, adopted=False))
    return ObjectChange(
        Ref.of(manifest), Operation.CREATE, sent, None, _displayed_fields(manifest, comparable_fields(manifest)), dry
    )


def update_change(live: Object, manifest: Object, change: Object, name: str, *, adopted: bool) -> ObjectChange:
    """An object that is to say more, or something else. ``change`` is a merge patch of what is said."""
    own = ownership_annotations(manifest, name, adopted=adopted)
    sent = merge_patch(live, _with_secret_values(manifest, change), {}, ref=Ref.of(manifest))
    sent = replace(sent, body=_with_annotations(sent.body, own))
    if not change:
        return replace(sent, before=_displayed_annotations(annotations_of(live)), after=_displayed_annotations(own))
    now = comparable_fields(live)
    before, after = project(now, change), project(apply_patch(now, change), change)
    return replace(sent, before=_displayed_fields(manifest, before), after=_displayed_fields(manifest, after, before))


def delete_change(live: Object) -> ObjectChange:
    """An object that is taken away."""
    return deletion_of(Ref.of(live), _displayed_fields(live, comparable_fields(live)))


def release_change(live: Object) -> ObjectChange:
    """An object that was others' before, and is theirs again."""
    own = {mark: None for mark in OWN_ANNOTATIONS if mark in annotations_of(live)}
    sent = merge_patch(live, {"metadata": {"annotations": own}}, {})
    return replace(sent, before=_displayed_annotations(annotations_of(live)), after={})


def _with_annotations(manifest: Object, own: Mapping[str, str]) -> dict[str, Any]:
    metadata = manifest["metadata"]
    return {**manifest, "metadata": {**metadata, "annotations": {**(metadata.get("annotations") or {}), **own}}}


def _with_secret_values(manifest: Object, change: Object) -> dict[str, Any]:
    """The change with a Secret's values in place of their digests."""
    if manifest["kind"] != "Secret" or "data" not in change:
        return dict(change)
    values = manifest.get("data") or {}
    return {**change, "data": {key: each if each is None else values[key] for key, each in change["data"].items()}}


def _displayed_fields(manifest: Object, document: Object, before: Object | None = None) -> dict[str, Any]:
    found = {name: each for name, each in document.items() if each not in ({}, None)}
    if manifest["kind"] == "Secret":
        found = _mask_secret(found, (before or {}).get("data") or {})
    if manifest["kind"] == "CustomResourceDefinition":
        found = _shorten_schemas(found)
    return {name: each for name, each in found.items() if name != "metadata" or any(each.values())}


def _mask_secret(document: Object, before: Object) -> dict[str, Any]:
    """A Secret without its values. kubectl keeps them in an annotation, too."""
    shown: dict[str, Any] = {name: document[name] for name in ("type", "immutable") if name in document}
    labels = (document.get("metadata") or {}).get("labels")
    if labels:
        shown["metadata"] = {"labels": labels}
    if "data" in document:
        shown["data"] = {name: _masked_value(each, before.get(name)) for name, each in document["data"].items()}
    return shown


def _masked_value(value: Any, before: Any) -> str:
    return MARK if before in (None, value) else f"{MARK}, another value"


def _shorten_schemas(value: Any) -> Any:
    """Schemas by their digests."""
    if isinstance(value, Mapping):
        return {
            name: _schema_digest(each) if name == "openAPIV3Schema" else _shorten_schemas(each)
            for name, each in value.items()
        }
    return [_shorten_schemas(each) for each in value] if isinstance(value, list) else value


def _schema_digest(value: Any) -> str:
    return f"sha256:{hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()}"


def _displayed_annotations(found: Mapping[str, str]) -> dict[str, Any]:
    """Where only what we note of an object changes."""
    own = {
        mark: _schema_digest(found[mark]) if mark == LAST_APPLIED else found[mark]
        for mark in OWN_ANNOTATIONS
        if mark in found
    }
    return {"metadata": {"annotations": own}}
