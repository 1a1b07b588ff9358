# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""k3s and RKE2: kubelet inside their process, and containerd's file that they render at each start."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..facts.node_layout import RANCHER
from ..facts.node_state import NodeFacts
from ..plan.change_set import Change, Impact, Refusal
from ..plan.containerd_location import (
    Rendering,
    find_rendering,
    is_another_driver,
    location_obstacle,
    own_paths,
    template_of,
)
from ..plan.draft import PlanDraft
from ..plan.kubelet_location import SUPERVISORS, config_dir_obstacle, kubelet_unit
from ..plan.owner_instructions import kubelet_arguments
from ..releases.containerd_schema import NRI_ID
from .config_files import unsafe_file
from .rule_types import Effect, Finding, Severity


def kubelet_inside(facts: NodeFacts) -> Iterator[Finding]:
    if facts.layout.kubelet_inside and facts.kubelet.start.config_dir is None:
        yield Finding(
            "kubelet-inside-other-process",
            Severity.INFO,
            Effect.UNSUPPORTED,
            f"{facts.layout.kubelet_inside} runs kubelet inside its own process; its values in force cannot be read.",
            facts.layout.evidence,
            f"Set kubelet's values as kubelet-arg in {facts.layout.kubelet_inside}'s configuration,"
            " or upgrade it to 1.32, which reads drop-ins.",
        )


def config_regenerated(facts: NodeFacts) -> Iterator[Finding]:
    for path, template in facts.layout.regenerated.items():
        state = "is there" if template in facts.layout.templates else "is not there yet"
        yield Finding(
            "config-regenerated",
            Severity.INFO,
            Effect.NONE,
            f"{facts.layout.name} makes {path} anew at each start.",
            (*facts.layout.evidence, f"{template} {state}"),
            _template_remedy(facts, template),
        )


def _template_remedy(facts: NodeFacts, template: str) -> str:
    folder = f"{template.removesuffix('.tmpl')}.d"
    if f"{folder}/*.toml" in facts.runtime.imports:
        return f"Write a drop-in of {folder} instead, which it imports."
    return f"Change {template} instead; begin it with the base template so that upgrades still reach the node."


def refuse_kubelet_inside(draft: PlanDraft) -> Iterator[Refusal]:
    inside = draft.facts.layout.kubelet_inside
    if inside and config_dir_obstacle(draft.facts):
        yield Refusal(
            "kubelet-inside-other-process",
            f"{inside} runs kubelet inside its own process and gives it flags, no file",
            f"Upgrade {inside} to 1.32 or later, which reads drop-ins, or set in its own configuration, kubelet-arg:"
            f" {kubelet_arguments(draft.desired) or 'NAME=VALUE'}.",
        )


def explain_location(draft: PlanDraft, place: Refusal) -> Refusal:
    """``place`` says why kubelet's settings have no place; of k3s and RKE2 more is known where the file is missing."""
    if draft.facts.layout.name not in RANCHER or place.code != "kubelet-config-missing":
        return place
    return Refusal(
        "kubelet-arguments-only",
        f"{draft.facts.layout.name} starts kubelet with flags alone; it reads drop-ins from 1.32 on",
        "Upgrade it, or set in its own configuration, kubelet-arg:"
        f" {kubelet_arguments(draft.desired) or 'NAME=VALUE'}.",
    )


def refuse_embedded_kubelet(draft: PlanDraft) -> Iterator[Refusal]:
    """k3s and RKE2 take containerd down with them, so no sandbox can be stopped under a stopped kubelet."""
    name = draft.facts.layout.name
    if name not in RANCHER:
        return
    own = draft.facts.systemd.units.get("kubelet.service", {}).get("ActiveState")
    if draft.kubelet.running and own != "active" and kubelet_unit(draft.facts) == "kubelet.service":
        yield Refusal(
            "supervisor-unit-unknown",
            f"{name} starts kubelet here, and no unit of it is active",
            f"Run {name} as its installer sets it up: one of {', '.join(SUPERVISORS)}.",
        )
    if not draft.facts.pods.sandboxes or isinstance(draft.kubelet_location, Refusal):
        return
    disruptive = [change for change in draft.kubelet_changes if Impact.DRAIN in change.needs]
    if disruptive:
        yield Refusal(
            "embedded-needs-empty-node",
            f"{name} starts kubelet and containerd itself, and with pods on the node this cannot be done:"
            f" {'; '.join(map(str, disruptive))}",
            f"Drain the node, stop all with {name}-killall.sh, write the settings with kubelet_config,"
            " move the checkpoint away and start it again.",
        )


def refuse_embedded_containerd(draft: PlanDraft) -> Iterator[Refusal]:
    """k3s and RKE2 end with the containerd that they started, so nobody is left to stop a sandbox over CRI."""
    if not draft.facts.layout.regenerated or not draft.facts.pods.sandboxes:
        return
    found = [each for each in draft.runtime_changes if not location_obstacle(draft.facts, each)]
    disruptive = [each for each in found if Impact.DRAIN in each.needs]
    if disruptive:
        name = draft.facts.layout.name
        yield Refusal(
            "embedded-needs-empty-node",
            f"{name} starts kubelet and containerd itself, and with pods on the node this cannot be done:"
            f" {'; '.join(map(str, disruptive))}",
            f"Write the settings with containerd_config, drain the node, stop all with {name}-killall.sh and start"
            f" {name} again.",
        )


def refuse_regenerated_file(draft: PlanDraft) -> Iterator[Refusal]:
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
        yield _regenerated_refusal(draft.facts, how, reason, tuple(stuck))
    template = template_of(draft.facts, how)
    if template is not None and template.path in {each.path for each in changes} & own_paths(draft.facts):
        yield from unsafe_file(template)


def _regenerated_refusal(facts: NodeFacts, how: Rendering, reason: str, changes: tuple[Change, ...]) -> Refusal:
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
