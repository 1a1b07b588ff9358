# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Permissions that the kubeconfig's user needs: all that are missing are named before the first change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace

from .api_errors import missing_permissions
from .dynamic_client import Client
from .objects import Ref

_NAMELESS = ("create", "list")
"""What is created has no name yet that a rule of RBAC could grant."""


@dataclass(frozen=True)
class RequiredPermission:
    """One verb; ``namespace`` and ``name`` are empty for all. ResourceAttributes of k8s.io/api authorization/v1."""

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
        """The same for objects of every name, as most rules grant it."""
        return replace(self, name="")

    def __str__(self) -> str:
        resource = f"{self.resource}/{self.subresource}" if self.subresource else self.resource
        told = f"{self.verb} {resource}.{self.group}" if self.group else f"{self.verb} {resource}"
        return told + (f" {self.name}" if self.name else "") + (f" in {self.namespace}" if self.namespace else "")


def require_permissions(client: Client, permissions: Iterable[RequiredPermission]) -> None:
    """ClusterError with every permission that the user does not have; a rule may grant them by name.

    Where several names would need the same permission, it is named without them.
    """
    by_resource: dict[RequiredPermission, list[RequiredPermission]] = {}
    for permission in dict.fromkeys(permissions):
        by_resource.setdefault(permission.without_name, []).append(permission)
    missing: list[RequiredPermission] = []
    for general, named in by_resource.items():
        if client.review(asdict(general)):
            continue
        lacking = [each for each in named if not each.name or not client.review(asdict(each))]
        missing += [general] if 1 < len(lacking) == len(named) else lacking
    if missing:
        raise missing_permissions("; ".join(map(str, missing)), client.context)
