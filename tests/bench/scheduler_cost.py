# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the role ``scheduler`` costs in a large cluster, and what its configuration costs the scheduler."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .cost import Cost
from .figures import Spread, ratios, spread
from .reaches import Target
from .table import markdown

NODES, PODS, ROUNDS = 500, 5000, 3
SHARE = 0.95
"""Pods bound per second with the role's configuration, at least, as a share of those with upstream's."""


@dataclass(frozen=True)
class RoleCost:
    """One run of the role: its cost, its requests to the API server, and whether it changed something."""

    what: str
    cost: Cost
    requests: int
    changed: bool


@dataclass(frozen=True)
class SchedulerCost:
    """``upstream``, ``configured``: pods bound per second in each round, without and with the role's configuration."""

    nodes: int
    pods: int
    roles: tuple[RoleCost, ...]
    upstream: tuple[float, ...]
    configured: tuple[float, ...]

    @property
    def share(self) -> Spread:
        return ratios(self.configured, self.upstream)


def count_requests(audit_log: Iterable[str]) -> int:
    """The requests in an audit log, without those of Kubernetes' own programs."""
    events = (json.loads(line) for line in audit_log)
    return sum(not event["user"]["username"].startswith("system:") for event in events)


def scheduler_targets(cost: SchedulerCost) -> tuple[Target, ...]:
    """The second run of the role must not change anything; the share depends on the machine."""
    again = [role for role in cost.roles if role.what.endswith("again")]
    unchanged = not any(role.changed for role in again)
    share = cost.share
    return (
        Target(
            "runs of the role for the second time that changed something",
            str(sum(role.changed for role in again)),
            "0",
            unchanged,
            counted=True,
        ),
        Target(
            "pods bound per second, with the role's configuration as a share of those without it",
            str(share),
            f"≥ {SHARE}",
            share.median >= SHARE,
        ),
    )


def scheduler_tables(cost: SchedulerCost) -> str:
    """The tables of the role's runs, and of the scheduler's rounds."""
    roles = markdown(
        ("role `scheduler`", "wall, s", "controller CPU, s", "requests to the API server"),
        [(role.what, f"{role.cost.wall:.1f}", f"{role.cost.cpu:.1f}", str(role.requests)) for role in cost.roles],
    )
    rates: Mapping[str, Sequence[float]] = {"upstream's": cost.upstream, "the role's": cost.configured}
    rounds = markdown(
        (f"configuration, {cost.pods:,} pods on {cost.nodes:,} Nodes", "pods bound per second"),
        [(name, str(spread(values))) for name, values in rates.items()],
    )
    return f"{roles}\n\n{rounds}"
