# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes of objects of an API server: requests, diffs, required permissions, and how changes are applied."""

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
"""Controllers and kubelets write the status of objects every few seconds, each time with a new resourceVersion."""


class Operation(str, Enum):
    """UPDATE patches an object that the collection manages completely, STATUS patches the subresource status."""

    CREATE = "create"
    UPDATE = "update"
    PATCH = "patch"
    DELETE = "delete"
    STATUS = "patch the status of"


@dataclass(frozen=True)
class ObjectChange:
    """``body`` is the request's body; ``before`` and ``after`` are the sides of the diff, None where no object exists.

    ``dry``: the request can be sent as a dry run. It cannot if it needs an object that the same run creates.
    ``part`` is the only part of the object that changes, for the diff. ``observed`` is the object as it was read.
    """

    ref: Ref
    operation: Operation
    body: Object
    before: Any
    after: Any
    dry: bool = True
    part: str = ""
    observed: Object | None = field(default=None, repr=False)

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
    live: Object, change: Object, after: Object, *, ref: Ref | None = None, dry: bool = True
) -> ObjectChange:
    """A merge patch of the version that was read. Its lists are complete, with the items of other clients."""
    ref = ref or Ref.of(live)
    version = live["metadata"].get("resourceVersion")
    header = ref.header(**({"resourceVersion": version} if version else {}))
    metadata = {**change.get("metadata", {}), **header["metadata"]}
    shape = body({**change, "metadata": change.get("metadata", {})})
    sent = {**change, **header, "metadata": metadata}
    before, after = project(body(live), shape), project(after, shape)
    return ObjectChange(ref, Operation.PATCH, sent, before, after, dry, observed=live)


def text_change(config_map: ConfigMap, key: str, after: str) -> ObjectChange:
    """Replace the text of one key of a ConfigMap, if the ConfigMap is still as it was read."""
    sent = {**config_map.ref.header(resourceVersion=config_map.version), "data": {key: after}}
    return ObjectChange(config_map.ref, Operation.PATCH, sent, config_map.data.get(key, ""), after, part=f"key {key}")


def deletion_of(ref: Ref, before: Any) -> ObjectChange:
    return ObjectChange(ref, Operation.DELETE, ref.header(), before, None)


def required_permissions(changes: Iterable[ObjectChange]) -> tuple[RequiredPermission, ...]:
    """The permissions that the changes need, each once."""
    return tuple(dict.fromkeys(_permission(change) for change in changes))


def _permission(change: ObjectChange) -> RequiredPermission:
    if change.operation in (Operation.CREATE, Operation.DELETE):
        return RequiredPermission.of(change.operation.value, change.ref)
    return RequiredPermission.of("patch", change.ref, _subresource(change))


def _subresource(change: ObjectChange) -> str:
    return "status" if change.operation is Operation.STATUS else ""


def apply_change(client: Client, change: ObjectChange, wait: WaitOptions | None = None) -> Object:
    """Send one request and return the new object. ``wait``: a deletion waits for the deletion of dependents too."""
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
    """Send a patch; after a conflict send it again for the newer version, if only the status differs in that one."""
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
    """The object, if only its status differs from what was read; None otherwise, and where it cannot be read."""
    try:
        now = client.find(change.ref) if change.observed is not None else None
    except ApiError:
        return None
    return now if now is not None and change.observed is not None and body(now) == body(change.observed) else None


def wait_for_nothing(_change: ObjectChange | None) -> None:
    """Do not wait for any change."""


def apply_changes(
    client: Client,
    changes: Sequence[ObjectChange],
    wait: Callable[[ObjectChange], WaitOptions | None] = wait_for_nothing,
    before_change: Callable[[ObjectChange | None], None] = wait_for_nothing,
) -> None:
    """Apply changes in their order; ClusterError says how many were applied before the one that failed.

    ``before_change`` waits for what the next change needs; at the end it is called with None and waits for everything
    else. A dry run does not call it, and skips changes that it cannot check.
    """
    for number, change in enumerate((*changes, None)):
        if client.dry_run and not (change and change.dry):
            continue
        try:
            if not client.dry_run:
                before_change(change)
            if change:
                apply_change(client, change, wait(change))
        except ApiError as error:
            if not number or client.dry_run:
                raise
            done = f"{number} of {len(changes)} steps were done before it, and another run continues"
            raise error.after(done) from error


def apply_permitted(client: Client, changes: Sequence[ObjectChange]) -> None:
    """Apply changes, if the user has the permissions for all of them."""
    require_permissions(client, required_permissions(changes))
    apply_changes(client, changes)


def render(value: Any) -> str:
    """One side of a diff: a text unchanged, anything else as YAML."""
    if value is None or isinstance(value, str):
        return value or ""
    text: str = library("yaml").safe_dump(_plain(value), sort_keys=True, allow_unicode=True, width=10_000)
    return text


def _plain(value: Any) -> Any:
    """A copy without tuples, and without shared parts, which YAML would write as aliases."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value
