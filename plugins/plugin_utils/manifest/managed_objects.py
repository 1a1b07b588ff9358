# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of a manifest: the annotations that mark them as managed, and changes of them with their diffs.

The annotations have the manifest's name and the fields that were applied last, digests for a Secret. Diffs show neither
secret values nor the thousands of lines of a schema.
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
    """The name of the manifest that manages an object; empty for other objects."""
    return annotations_of(live).get(NAME_ANNOTATION, "")


def is_adopted(live: Object) -> bool:
    return ADOPTED_ANNOTATION in annotations_of(live)


def comparable_fields(manifest: Object) -> dict[str, Any]:
    """The content of a manifest or an object, with digests of secrets and without the collection's annotations."""
    fields = body(manifest)
    metadata = {key: dict(values or {}) for key, values in (fields.get("metadata") or {}).items()}
    for mark in OWN_ANNOTATIONS:
        metadata.get("annotations", {}).pop(mark, None)
    fields["metadata"] = metadata
    if manifest.get("kind") == "Secret":
        fields["data"] = {key: _text_digest(str(value)) for key, value in (fields.get("data") or {}).items()}
    return fields


def ownership_annotations(manifest: Object, name: str, *, adopted: bool) -> dict[str, str]:
    """The collection's annotations of an object."""
    own = {NAME_ANNOTATION: name, LAST_APPLIED: pack(comparable_fields(manifest))}
    return {**own, ADOPTED_ANNOTATION: "true"} if adopted else own


def last_applied_fields(live: Object) -> dict[str, Any]:
    """The fields of the object's last write; ClusterError for an annotation that the collection did not write."""
    try:
        return unpack(annotations_of(live).get(LAST_APPLIED, ""))
    except ValueError as error:
        raise ClusterError(
            f"The annotation {LAST_APPLIED} of {Ref.of(live).place} does not have the format of this version of the"
            " collection",
            "Nothing was changed. Check who wrote it. Without the annotation"
            f" {NAME_ANNOTATION} the object is not managed, and colocation_volcano_adopt takes it over.",
        ) from error


def fingerprint(manifest: Object) -> str:
    """A digest of a manifest's content."""
    return _text_digest(json.dumps(comparable_fields(manifest), sort_keys=True))


def _text_digest(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def create_change(manifest: Object, name: str, *, dry: bool) -> ObjectChange:
    """The creation of an object."""
    sent = _with_annotations(manifest, ownership_annotations(manifest, name, adopted=False))
    return ObjectChange(
        Ref.of(manifest), Operation.CREATE, sent, None, _displayed_fields(manifest, comparable_fields(manifest)), dry
    )


def update_change(live: Object, manifest: Object, change: Object, name: str, *, adopted: bool) -> ObjectChange:
    """The update of an object. ``change`` is the merge patch of its comparable fields."""
    own = ownership_annotations(manifest, name, adopted=adopted)
    sent = merge_patch(live, _with_secret_values(manifest, change), {}, ref=Ref.of(manifest))
    sent = replace(sent, body=_with_annotations(sent.body, own))
    if not change:
        return replace(sent, before=_displayed_annotations(annotations_of(live)), after=_displayed_annotations(own))
    now = comparable_fields(live)
    before, after = project(now, change), project(apply_patch(now, change), change)
    return replace(sent, before=_displayed_fields(manifest, before), after=_displayed_fields(manifest, after, before))


def delete_change(live: Object) -> ObjectChange:
    """The deletion of an object."""
    return deletion_of(Ref.of(live), _displayed_fields(live, comparable_fields(live)))


def release_change(live: Object) -> ObjectChange:
    """The release of an adopted object: it stays, without the collection's annotations."""
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
    return {**change, "data": {key: value if value is None else values[key] for key, value in change["data"].items()}}


def _displayed_fields(manifest: Object, document: Object, before: Object | None = None) -> dict[str, Any]:
    fields = {name: value for name, value in document.items() if value not in ({}, None)}
    if manifest["kind"] == "Secret":
        fields = _mask_secret(fields, (before or {}).get("data") or {})
    if manifest["kind"] == "CustomResourceDefinition":
        fields = _shorten_schemas(fields)
    return {name: value for name, value in fields.items() if name != "metadata" or any(value.values())}


def _mask_secret(document: Object, before: Object) -> dict[str, Any]:
    """A Secret without its values and annotations: kubectl stores the values in an annotation too."""
    displayed: dict[str, Any] = {name: document[name] for name in ("type", "immutable") if name in document}
    labels = (document.get("metadata") or {}).get("labels")
    if labels:
        displayed["metadata"] = {"labels": labels}
    if "data" in document:
        displayed["data"] = {name: _masked_value(value, before.get(name)) for name, value in document["data"].items()}
    return displayed


def _masked_value(value: Any, before: Any) -> str:
    return MARK if before in (None, value) else f"{MARK}, another value"


def _shorten_schemas(value: Any) -> Any:
    """The document with digests in place of schemas."""
    if isinstance(value, Mapping):
        return {
            name: _schema_digest(item) if name == "openAPIV3Schema" else _shorten_schemas(item)
            for name, item in value.items()
        }
    return [_shorten_schemas(item) for item in value] if isinstance(value, list) else value


def _schema_digest(value: Any) -> str:
    return f"sha256:{hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()}"


def _displayed_annotations(annotations: Mapping[str, str]) -> dict[str, Any]:
    """The collection's annotations for a diff in which only they change."""
    own = {
        mark: _schema_digest(annotations[mark]) if mark == LAST_APPLIED else annotations[mark]
        for mark in OWN_ANNOTATIONS
        if mark in annotations
    }
    return {"metadata": {"annotations": own}}
