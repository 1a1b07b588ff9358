# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The audit: which pods of a cluster break the rules of their level, by the rules of the admission policy.

Where the API server has no admission policies, the audit takes their place; elsewhere it finds pods that are older than
the policy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..kube.dynamic_client import Client
from ..kube.objects import Object
from .admission_policies import GROUP, VALIDATING, VERSIONS, unsupported_policy
from .level_rules import LeveledPod, level_rules

NOT_ENDED = "status.phase!=Succeeded,status.phase!=Failed"
"""The field selector of pods that run or will run."""
ENDED = frozenset({"Succeeded", "Failed"})


@dataclass(frozen=True)
class LevelAudit:
    """``checked``: the number of pods with a level. ``broken``: the pods that break a rule, by its message."""

    checked: int
    broken: Mapping[str, tuple[str, ...]]

    def to_result(self) -> dict[str, object]:
        """The result of the module: every rule, in the policy's order."""
        rules = [{"message": message, "pods": list(pods)} for message, pods in self.broken.items()]
        return {"checked": self.checked, "rules": rules}


def audit_levels(pods: Iterable[Object], excluded: Sequence[str], resources: Sequence[str]) -> LevelAudit:
    """Check the pods outside the excluded namespaces; ``resources`` are the oversubscribed resources."""
    leveled = {
        f"{pod['metadata']['namespace']}/{pod['metadata']['name']}": LeveledPod.of(pod)
        for pod in pods
        if pod["metadata"]["namespace"] not in excluded and (pod.get("status") or {}).get("phase") not in ENDED
    }
    checked = {name: pod for name, pod in sorted(leveled.items()) if pod.level}
    broken = {
        rule.message: tuple(name for name, pod in checked.items() if not rule.is_followed(pod))
        for rule in level_rules(resources)
    }
    return LevelAudit(len(checked), broken)


def read_pods(client: Client) -> tuple[Object, ...]:
    """All pods of the cluster that have not ended."""
    return client.list_all("v1", "Pod", fields=NOT_ENDED)


def missing_policy(client: Client) -> tuple[str, ...]:
    """What the API server lacks to check pods when they are created; empty where it has it."""
    served = any(client.serves(f"{GROUP}/{version}", VALIDATING) for version in VERSIONS[VALIDATING])
    return () if served else (unsupported_policy(VALIDATING),)
