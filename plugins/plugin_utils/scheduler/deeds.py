# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The requests that a plan comes to, in their order, and what they are shown as."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ..edit.library import library
from ..kube.client import Client
from ..kube.objects import ConfigMap, Object, Ref, body, projected
from ..kube.permissions import RequiredPermission


class Deed(str, Enum):
    CREATE = "create"
    CHANGE = "patch"
    DELETE = "delete"


@dataclass(frozen=True)
class ObjectChange:
    """``manifest`` is what is sent; ``before`` and ``after`` are the fields concerned, None where there is no object.

    ``dry``: a dry run of the request can be judged. It cannot where it needs an object that this run only makes.
    """

    ref: Ref
    deed: Deed
    manifest: Object
    before: Object | None
    after: Object | None
    dry: bool = True

    def diff(self) -> dict[str, str]:
        return {
            "before_header": self.ref.place,
            "after_header": self.ref.place,
            "before": shown(self.before),
            "after": shown(self.after),
        }


@dataclass(frozen=True)
class TextChange:
    """Another text of one key of a ConfigMap, if it is still as it was read."""

    ref: Ref
    found: ConfigMap
    key: str
    after: str

    @property
    def before(self) -> str:
        return self.found.data[self.key]

    def diff(self) -> dict[str, str]:
        place = f"{self.ref.place}, key {self.key}"
        return {"before_header": place, "after_header": place, "before": self.before, "after": self.after}


def required_permissions(
    objects: Iterable[ObjectChange], text: TextChange | None, journal: Ref, *deeds: Deed
) -> tuple[RequiredPermission, ...]:
    """All verbs that some changes take, and ``deeds`` on the journal, each once."""
    found = [RequiredPermission.of(deed.value, journal) for deed in deeds]
    if text:
        found.append(RequiredPermission.of(Deed.CHANGE.value, text.ref))
    for each in objects:
        found.append(RequiredPermission.of(each.deed.value, each.ref))
    return tuple(dict.fromkeys(found))


def carry_out(client: Client, change: ObjectChange) -> None:
    """One request; the server refuses a change of another version than was read."""
    if change.deed is Deed.CREATE:
        client.create(change.manifest)
    elif change.deed is Deed.CHANGE:
        client.patch(change.manifest)
    else:
        client.delete(change.ref)


def created(manifest: Object, *, dry: bool = True) -> ObjectChange:
    return ObjectChange(Ref.of(manifest), Deed.CREATE, manifest, None, body(manifest), dry)


def changed(ref: Ref, found: Object, change: Object, after: Object, *, dry: bool = True) -> ObjectChange:
    """A merge patch of the version that was read: the API server refuses it on another one."""
    version = found["metadata"].get("resourceVersion")
    header = ref.header(**({"resourceVersion": version} if version else {}))
    metadata = {**change.get("metadata", {}), **header["metadata"]}
    manifest = {**change, **header, "metadata": metadata}
    own = body(found)
    shape: dict[str, Any] = {**body({**change, "metadata": change.get("metadata", {})})}
    return ObjectChange(ref, Deed.CHANGE, manifest, projected(own, shape), projected(after, shape), dry)


def deleted(ref: Ref, found: Object, shape: Object) -> ObjectChange:
    return ObjectChange(ref, Deed.DELETE, ref.header(), projected(body(found), shape), None)


def shown(document: Object | None) -> str:
    """As a diff shows it."""
    if document is None:
        return ""
    text: str = library("yaml").safe_dump(_plain(document), sort_keys=True, allow_unicode=True, width=10_000)
    return text


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value
