# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The requests that a plan comes to, in their order, and what they are shown as."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ..edit.library import library
from ..kubeadm.model import ConfigMap
from .objects import Manifest, Ref, body, projected


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
    manifest: Manifest
    before: Manifest | None
    after: Manifest | None
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


@dataclass(frozen=True)
class Need:
    """A verb that the kubeconfig's user has to have."""

    verb: str
    group: str
    resource: str
    namespace: str | None
    name: str | None

    def __str__(self) -> str:
        resource = f"{self.resource}.{self.group}" if self.group else self.resource
        name = f" {self.name}" if self.name else ""
        return f"{self.verb} {resource}{name}" + (f" in {self.namespace}" if self.namespace else "")


def needs(objects: Iterable[ObjectChange], text: TextChange | None, journal: Ref, *deeds: Deed) -> tuple[Need, ...]:
    """All verbs that some changes take, and ``deeds`` on the journal, each once; creating cannot be granted by name."""
    found = [_need(deed, journal) for deed in deeds]
    if text:
        found.append(_need(Deed.CHANGE, text.ref))
    for each in objects:
        found.append(_need(each.deed, each.ref))
    return tuple(dict.fromkeys(found))


def _need(deed: Deed, ref: Ref) -> Need:
    return Need(deed.value, ref.group, ref.resource, ref.namespace, None if deed is Deed.CREATE else ref.name)


def created(manifest: Manifest, *, dry: bool = True) -> ObjectChange:
    return ObjectChange(Ref.of(manifest), Deed.CREATE, manifest, None, body(manifest), dry)


def changed(ref: Ref, found: Manifest, change: Manifest, after: Manifest, *, dry: bool = True) -> ObjectChange:
    """A merge patch of the version that was read: the API server refuses it on another one."""
    version = found["metadata"].get("resourceVersion")
    header = ref.header(**({"resourceVersion": version} if version else {}))
    metadata = {**change.get("metadata", {}), **header["metadata"]}
    manifest = {**change, **header, "metadata": metadata}
    own = body(found)
    shape: dict[str, Any] = {**body({**change, "metadata": change.get("metadata", {})})}
    return ObjectChange(ref, Deed.CHANGE, manifest, projected(own, shape), projected(after, shape), dry)


def deleted(ref: Ref, found: Manifest, shape: Manifest) -> ObjectChange:
    return ObjectChange(ref, Deed.DELETE, ref.header(), projected(body(found), shape), None)


def shown(document: Manifest | None) -> str:
    """As a diff shows it."""
    if document is None:
        return ""
    text: str = library("yaml").safe_dump(_plain(document), sort_keys=True, allow_unicode=True, width=10_000)
    return text


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value
