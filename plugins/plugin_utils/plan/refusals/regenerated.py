# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""k3s and RKE2 render containerd's file anew at each start: what has no place that lasts, and what to do by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ...facts.node_state import NodeFacts
from ...releases.containerd_schema import NRI_ID
from ..change_set import Change, Refusal
from ..containerd_location import (
    Rendering,
    find_rendering,
    is_another_driver,
    location_obstacle,
    own_paths,
    template_of,
)
from ..draft import PlanDraft
from .model import Rule, unsafe_file


def _regenerated(draft: PlanDraft) -> Iterator[Refusal]:
    how = find_rendering(draft.facts)
    if how is None:
        return
    changes = draft.runtime_changes
    by_reason: dict[str, list[Change]] = {}
    for change in changes:
        reason = location_obstacle(draft.facts, change)
        if reason:
            by_reason.setdefault(reason, []).append(change)
    for reason, stuck in by_reason.items():
        yield _refusal(draft.facts, how, reason, tuple(stuck))
    template = template_of(draft.facts, how)
    if template is not None and template.path in {each.path for each in changes} & own_paths(draft.facts):
        yield from unsafe_file(template)


def _refusal(facts: NodeFacts, how: Rendering, reason: str, changes: tuple[Change, ...]) -> Refusal:
    wanted = "; ".join(map(str, changes))
    name = facts.layout.name
    lines = tuple(change for change in changes if NRI_ID in change.keys)
    if lines:
        remedy = _lines_remedy(facts, how, lines)
    elif all(is_another_driver(facts, how, change) for change in changes):
        remedy = _driver_remedy(facts, how)
    else:
        remedy = _tables_remedy(facts, how, changes)
    message = f"{name} makes this file anew at each start; wanted is {wanted}; {reason}"
    return Refusal("config-regenerated", message, f"{remedy} Then drain the node and restart {name}.", file=how.path)


def _tables_remedy(facts: NodeFacts, how: Rendering, changes: tuple[Change, ...]) -> str:
    wanted = "; ".join(f"{change.setting} = {_literal(change.after)}" for change in changes)
    return (
        f"Upgrade {facts.layout.name} to a release that imports a folder of drop-ins (k3s#13680), which takes this, or"
        f" write a {how.template} that does not extend the base template and says {wanted}."
    )


def _driver_remedy(facts: NodeFacts, how: Rendering) -> str:
    """k3s pkg/agent/containerd/config_linux.go: ``Systemd = cpuset && INVOCATION_ID``, for containerd and kubelet."""
    name = facts.layout.name
    remedy = (
        f"{name} gives containerd and kubelet one driver: systemd when systemd started {name} as a service and the"
        " cpuset controller is there, else cgroupfs. Start it so"
    )
    if how.template in facts.layout.templates:
        remedy += f", and let {how.template} say SystemdCgroup = {{{{ .SystemdCgroup }}}} for every handler"
    return remedy + "."


def _lines_remedy(facts: NodeFacts, how: Rendering, changes: tuple[Change, ...]) -> str:
    lines = [f"[plugins.'{NRI_ID}']", *(f"{change.keys[-1]} = {_literal(change.after)}" for change in changes)]
    if how.drop_in or how.template in facts.layout.templates:
        place = how.drop_in or f"the end of {how.template}"
    else:
        # k3s#7991, from v1.24.17, v1.25.13, v1.26.8, v1.27.5 and v1.28.1 on.
        place, lines = how.template, ['{{ template "base" . }}', *lines]
    return f"Write these lines (parted by /) into {place}: {' / '.join(lines)}."


def _literal(value: Any) -> str:
    return json.dumps(value)


RULES: tuple[Rule, ...] = (_regenerated,)
