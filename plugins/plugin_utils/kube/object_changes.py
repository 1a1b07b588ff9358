# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes of objects of an API server: what is sent and shown, what permissions it takes, and how it is applied."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ..edit.text_errors import library
from .api_errors import CONFLICT, ApiError
from .dynamic_client import Client
from .objects import ConfigMap, Object, Ref, body, project
from .permissions import RequiredPermission, require_permissions
from .wait import WaitOptions, delete_and_wait

PATCH_ATTEMPTS = 5
"""Controllers and kubelets write the status of objects every few seconds, each time as another version."""


class Operation(str, Enum):
    """UPDATE is a patch of an object that is wholly ours, STATUS one of the subresource status."""

    CREATE = "create"
    UPDATE = "update"
    PATCH = "patch"
    DELETE = "delete"
    STATUS = "patch the status of"


@dataclass(frozen=True)
class ObjectChange:
    """``body`` is what is sent; ``before`` and ``after`` are what a diff shows, None where there is no object.

    ``dry``: a dry run of the request can be judged. It cannot where it needs an object that this run only creates.
    ``part`` is the only part of the object that changes, for the diff. ``found`` is the object as it was read.
    """

    ref: Ref
    operation: Operation
    body: Object
    before: Any
    after: Any
    dry: bool = True
    part: str = ""
    found: Object | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return f"{self.operation.value} {self.ref.place}"

    def to_result(self) -> dict[str, str]:
        return {"object": self.ref.place, "action": self.operation.value}

    def diff(self) -> dict[str, str]:
        place = f"{self.ref.place}, {self.part}" if self.part else self.ref.place
        return {
            "before_header": place,
            "after_header": place,
            "before": render(self.before),
            "after": render(self.after),
        }


def creation_of(desired: Object, *, dry: bool = True) -> ObjectChange:
    return ObjectChange(Ref.of(desired), Operation.CREATE, desired, None, body(desired), dry)


def merge_patch(
    found: Object, change: Object, after: Object, *, ref: Ref | None = None, dry: bool = True
) -> ObjectChange:
    """A merge patch of the version that was read: lists in it are whole, with the items of others."""
    ref = ref or Ref.of(found)
    version = found["metadata"].get("resourceVersion")
    header = ref.header(**({"resourceVersion": version} if version else {}))
    metadata = {**change.get("metadata", {}), **header["metadata"]}
    shape = body({**change, "metadata": change.get("metadata", {})})
    sent = {**change, **header, "metadata": metadata}
    before, after = project(body(found), shape), project(after, shape)
    return ObjectChange(ref, Operation.PATCH, sent, before, after, dry, found=found)


def text_change(found: ConfigMap, key: str, after: str) -> ObjectChange:
    """Another text of one key of a ConfigMap, if it is still as it was read."""
    sent = {**found.ref.header(resourceVersion=found.version), "data": {key: after}}
    return ObjectChange(found.ref, Operation.PATCH, sent, found.data.get(key, ""), after, part=f"key {key}")


def deletion_of(ref: Ref, before: Any) -> ObjectChange:
    return ObjectChange(ref, Operation.DELETE, ref.header(), before, None)


def required_permissions(changes: Iterable[ObjectChange]) -> tuple[RequiredPermission, ...]:
    """All permissions that some changes take, each once."""
    return tuple(dict.fromkeys(_permission(change) for change in changes))


def _permission(change: ObjectChange) -> RequiredPermission:
    if change.operation in (Operation.CREATE, Operation.DELETE):
        return RequiredPermission.of(change.operation.value, change.ref)
    return RequiredPermission.of("patch", change.ref, _subresource(change))


def _subresource(change: ObjectChange) -> str:
    return "status" if change.operation is Operation.STATUS else ""


def apply_change(client: Client, change: ObjectChange, wait: WaitOptions | None = None) -> Object:
    """Send one request; the object as it is then. ``wait``: for a deletion, until all that it owns is deleted too."""
    if change.operation is Operation.CREATE:
        return client.create(change.body)
    if change.operation is not Operation.DELETE:
        return _patch(client, change)
    if wait:
        delete_and_wait(client, change.ref, wait)
    else:
        client.delete(change.ref)
    return {}


def _patch(client: Client, change: ObjectChange) -> Object:
    """A patch of a version is sent again on a later one, as long as only the status differs in it."""
    sent = change.body
    for _attempt in range(PATCH_ATTEMPTS - 1):
        try:
            return client.patch(sent, subresource=_subresource(change))
        except ApiError as error:
            now = _read_again(client, change) if error.status == CONFLICT else None
            if now is None:
                raise
            sent = {**sent, "metadata": {**sent["metadata"], "resourceVersion": now["metadata"]["resourceVersion"]}}
    return client.patch(sent, subresource=_subresource(change))


def _read_again(client: Client, change: ObjectChange) -> Object | None:
    """The object, where no more than its status differs from what was read; None also where it may not be read."""
    try:
        now = client.find(change.ref) if change.found is not None else None
    except ApiError:
        return None
    return now if now is not None and change.found is not None and body(now) == body(change.found) else None


def wait_for_nothing(_change: ObjectChange | None) -> None:
    """No change is waited for."""


def apply_changes(
    client: Client,
    changes: Sequence[ObjectChange],
    wait: Callable[[ObjectChange], WaitOptions | None] = wait_for_nothing,
    settle: Callable[[ObjectChange | None], None] = wait_for_nothing,
) -> None:
    """Apply changes in their order; ClusterError says how many were applied before the one that failed.

    ``settle`` waits for what the next change needs, and at the end, for None, for all that is left. A dry run does not
    call it, and leaves out changes that it could not judge.
    """
    for number, change in enumerate((*changes, None)):
        if client.dry_run and not (change and change.dry):
            continue
        try:
            if not client.dry_run:
                settle(change)
            if change:
                apply_change(client, change, wait(change))
        except ApiError as error:
            if not number or client.dry_run:
                raise
            done = f"{number} of {len(changes)} steps were done before it, and a further run goes on"
            raise error.after(done) from error


def apply_permitted(client: Client, changes: Sequence[ObjectChange]) -> None:
    """Apply changes, if the user has the permissions for all of them."""
    require_permissions(client, required_permissions(changes))
    apply_changes(client, changes)


def render(value: Any) -> str:
    """One side of a diff: a text as it is, anything else as YAML."""
    if value is None or isinstance(value, str):
        return value or ""
    text: str = library("yaml").safe_dump(_plain(value), sort_keys=True, allow_unicode=True, width=10_000)
    return text


def _plain(value: Any) -> Any:
    """Without tuples, and without parts that stand twice, which would become aliases."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value
