# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What writing an object is shown as, and what is sent: no diff has a secret, or thousands of lines of a schema."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..kube.changes import ObjectChange, Operation, deletion, patch_of
from ..kube.last_applied import annotations_of
from ..kube.objects import Object, Ref, patched, projected
from ..report.secrets import MARK
from .marks import APPLIED, MARKS, marks, said


def made(manifest: Object, name: str, *, dry: bool) -> ObjectChange:
    """An object that is not there."""
    sent = _marked(manifest, marks(manifest, name, adopted=False))
    return ObjectChange(Ref.of(manifest), Operation.CREATE, sent, None, _shown(manifest, said(manifest)), dry)


def altered(live: Object, manifest: Object, change: Object, name: str, *, adopted: bool) -> ObjectChange:
    """An object that is to say more, or something else. ``change`` is a merge patch of what is said."""
    own = marks(manifest, name, adopted=adopted)
    sent = patch_of(live, _plain(manifest, change), {}, ref=Ref.of(manifest))
    sent = replace(sent, body=_marked(sent.body, own))
    if not change:
        return replace(sent, before=_noted(annotations_of(live)), after=_noted(own))
    now = said(live)
    before, after = projected(now, change), projected(patched(now, change), change)
    return replace(sent, before=_shown(manifest, before), after=_shown(manifest, after, before))


def gone(live: Object) -> ObjectChange:
    """An object that is taken away."""
    return deletion(Ref.of(live), _shown(live, said(live)))


def released(live: Object) -> ObjectChange:
    """An object that was others' before, and is theirs again."""
    own = {mark: None for mark in MARKS if mark in annotations_of(live)}
    sent = patch_of(live, {"metadata": {"annotations": own}}, {})
    return replace(sent, before=_noted(annotations_of(live)), after={})


def _marked(manifest: Object, own: Mapping[str, str]) -> dict[str, Any]:
    metadata = manifest["metadata"]
    return {**manifest, "metadata": {**metadata, "annotations": {**(metadata.get("annotations") or {}), **own}}}


def _plain(manifest: Object, change: Object) -> dict[str, Any]:
    """The change with a Secret's values in place of their digests."""
    if manifest["kind"] != "Secret" or "data" not in change:
        return dict(change)
    values = manifest.get("data") or {}
    return {**change, "data": {key: each if each is None else values[key] for key, each in change["data"].items()}}


def _shown(manifest: Object, document: Object, before: Object | None = None) -> dict[str, Any]:
    found = {name: each for name, each in document.items() if each not in ({}, None)}
    if manifest["kind"] == "Secret":
        found = _covered(found, (before or {}).get("data") or {})
    if manifest["kind"] == "CustomResourceDefinition":
        found = _short(found)
    return {name: each for name, each in found.items() if name != "metadata" or any(each.values())}


def _covered(document: Object, before: Object) -> dict[str, Any]:
    """A Secret without its values. kubectl keeps them in an annotation, too."""
    shown: dict[str, Any] = {name: document[name] for name in ("type", "immutable") if name in document}
    labels = (document.get("metadata") or {}).get("labels")
    if labels:
        shown["metadata"] = {"labels": labels}
    if "data" in document:
        shown["data"] = {name: _hidden(each, before.get(name)) for name, each in document["data"].items()}
    return shown


def _hidden(value: Any, before: Any) -> str:
    return MARK if before in (None, value) else f"{MARK}, another value"


def _short(value: Any) -> Any:
    """Schemas by their digests."""
    if isinstance(value, Mapping):
        return {name: _digest(each) if name == "openAPIV3Schema" else _short(each) for name, each in value.items()}
    return [_short(each) for each in value] if isinstance(value, list) else value


def _digest(value: Any) -> str:
    return f"sha256:{hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()}"


def _noted(found: Mapping[str, str]) -> dict[str, Any]:
    """Where only what we note of an object changes."""
    own = {mark: _digest(found[mark]) if mark == APPLIED else found[mark] for mark in MARKS if mark in found}
    return {"metadata": {"annotations": own}}
