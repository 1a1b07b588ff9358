# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Permissions that the kubeconfig's user needs: one error names all missing ones before the first change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace

from .api_errors import missing_permissions
from .dynamic_client import Client
from .objects import Ref

_NAMELESS = ("create", "list")
"""RBAC rules cannot grant these verbs by name: an object has no name before it is created."""


@dataclass(frozen=True)
class RequiredPermission:
    """One verb; an empty ``namespace`` or ``name`` means all. ResourceAttributes of k8s.io/api authorization/v1."""

    verb: str
    group: str
    resource: str
    subresource: str = ""
    namespace: str = ""
    name: str = ""

    @classmethod
    def of(cls, verb: str, ref: Ref, subresource: str = "") -> RequiredPermission:
        name = "" if verb in _NAMELESS else ref.name
        return cls(verb, ref.group, ref.resource, subresource, ref.namespace or "", name)

    @property
    def without_name(self) -> RequiredPermission:
        """The same permission for all names, as most rules grant it."""
        return replace(self, name="")

    def __str__(self) -> str:
        resource = f"{self.resource}/{self.subresource}" if self.subresource else self.resource
        description = f"{self.verb} {resource}.{self.group}" if self.group else f"{self.verb} {resource}"
        return (
            description + (f" {self.name}" if self.name else "") + (f" in {self.namespace}" if self.namespace else "")
        )


def require_permissions(client: Client, permissions: Iterable[RequiredPermission]) -> None:
    """Raise ClusterError with every permission that the user does not have; a rule may grant them by name.

    If the same permission is missing for several names, the error lists it once, without names.
    """
    by_resource: dict[RequiredPermission, list[RequiredPermission]] = {}
    for permission in dict.fromkeys(permissions):
        by_resource.setdefault(permission.without_name, []).append(permission)
    missing: list[RequiredPermission] = []
    for general, named in by_resource.items():
        if client.review(asdict(general)):
            continue
        lacking = [candidate for candidate in named if not candidate.name or not client.review(asdict(candidate))]
        missing += [general] if 1 < len(lacking) == len(named) else lacking
    if missing:
        raise missing_permissions("; ".join(map(str, missing)), client.context)
