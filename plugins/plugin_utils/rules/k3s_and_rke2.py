# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""k3s and RKE2: kubelet inside their process, and containerd's file, which they render at each start."""

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
            f"{facts.layout.kubelet_inside} runs kubelet inside its own process; its effective values cannot be read.",
            facts.layout.evidence,
            f"Set kubelet's values as kubelet-arg in {facts.layout.kubelet_inside}'s configuration,"
            " or upgrade it to 1.32, which reads drop-ins.",
        )


def config_regenerated(facts: NodeFacts) -> Iterator[Finding]:
    for path, template in facts.layout.regenerated.items():
        state = "exists" if template in facts.layout.templates else "does not exist yet"
        yield Finding(
            "config-regenerated",
            Severity.INFO,
            Effect.NONE,
            f"{facts.layout.name} regenerates {path} at each start.",
            (*facts.layout.evidence, f"{template} {state}"),
            _template_remedy(facts, template),
        )


def _template_remedy(facts: NodeFacts, template: str) -> str:
    directory = f"{template.removesuffix('.tmpl')}.d"
    if f"{directory}/*.toml" in facts.runtime.imports:
        return f"Write a drop-in in {directory} instead, which the file imports."
    return f"Change {template} instead; begin it with the base template so that upgrades still reach the node."


def refuse_kubelet_inside(draft: PlanDraft) -> Iterator[Refusal]:
    inside = draft.facts.layout.kubelet_inside
    if inside and config_dir_obstacle(draft.facts):
        yield Refusal(
            "kubelet-inside-other-process",
            f"{inside} runs kubelet inside its own process and configures it with flags, without a file",
            f"Upgrade {inside} to 1.32 or later, which reads drop-ins, or set kubelet-arg in its own configuration:"
            f" {kubelet_arguments(draft.desired) or 'NAME=VALUE'}.",
        )


def explain_location(draft: PlanDraft, refusal: Refusal) -> Refusal:
    """On k3s and RKE2, a more precise refusal for a missing kubelet file; otherwise ``refusal`` itself."""
    if draft.facts.layout.name not in RANCHER or refusal.code != "kubelet-config-missing":
        return refusal
    return Refusal(
        "kubelet-arguments-only",
        f"{draft.facts.layout.name} starts kubelet with flags only; it reads drop-ins from 1.32 on",
        f"Upgrade it, or set kubelet-arg in its own configuration: {kubelet_arguments(draft.desired) or 'NAME=VALUE'}.",
    )


def refuse_embedded_kubelet(draft: PlanDraft) -> Iterator[Refusal]:
    """k3s and RKE2 stop containerd when they stop, so no sandbox can be stopped while kubelet is stopped."""
    name = draft.facts.layout.name
    if name not in RANCHER:
        return
    own = draft.facts.systemd.units.get("kubelet.service", {}).get("ActiveState")
    if draft.kubelet.running and own != "active" and kubelet_unit(draft.facts) == "kubelet.service":
        yield Refusal(
            "supervisor-unit-unknown",
            f"{name} starts kubelet on this node, but none of its units is active",
            f"Run {name} as its installer sets it up, by one of the units {', '.join(SUPERVISORS)}.",
        )
    if not draft.facts.pods.sandboxes or isinstance(draft.kubelet_location, Refusal):
        return
    disruptive = [change for change in draft.kubelet_changes if Impact.DRAIN in change.needs]
    if disruptive:
        yield Refusal(
            "embedded-needs-empty-node",
            f"{name} starts kubelet and containerd itself, so these changes cannot be made while pods run:"
            f" {'; '.join(map(str, disruptive))}",
            f"Drain the node, stop all processes with {name}-killall.sh, write the settings with kubelet_config,"
            f" move the checkpoint away and start {name} again.",
        )


def refuse_embedded_containerd(draft: PlanDraft) -> Iterator[Refusal]:
    """k3s and RKE2 stop together with the containerd that they started, so no CRI can stop a sandbox then."""
    if not draft.facts.layout.regenerated or not draft.facts.pods.sandboxes:
        return
    changes = [change for change in draft.runtime_changes if not location_obstacle(draft.facts, change)]
    disruptive = [change for change in changes if Impact.DRAIN in change.needs]
    if disruptive:
        name = draft.facts.layout.name
        yield Refusal(
            "embedded-needs-empty-node",
            f"{name} starts kubelet and containerd itself, so these changes cannot be made while pods run:"
            f" {'; '.join(map(str, disruptive))}",
            f"Write the settings with containerd_config, drain the node, stop all processes with {name}-killall.sh and"
            f" start {name} again.",
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
    if template is not None and template.path in {change.path for change in changes} & own_paths(draft.facts):
        yield from unsafe_file(template)


def _regenerated_refusal(facts: NodeFacts, how: Rendering, reason: str, changes: tuple[Change, ...]) -> Refusal:
    differing = "; ".join(map(str, changes))
    name = facts.layout.name
    lines = tuple(change for change in changes if NRI_ID in change.keys)
    if lines:
        remedy = _lines_remedy(facts, how, lines)
    elif all(is_another_driver(facts, how, change) for change in changes):
        remedy = _driver_remedy(facts, how)
    else:
        remedy = _tables_remedy(facts, how, changes)
    message = f"{name} regenerates this file at each start; planned changes: {differing}; {reason}"
    return Refusal("config-regenerated", message, f"{remedy} Then drain the node and restart {name}.", file=how.path)


def _tables_remedy(facts: NodeFacts, how: Rendering, changes: tuple[Change, ...]) -> str:
    settings = "; ".join(f"{change.setting} = {_literal(change.after)}" for change in changes)
    return (
        f"Upgrade {facts.layout.name} to a release that imports a drop-in directory (k3s#13680), where this works, or"
        f" write a {how.template} that does not extend the base template and sets {settings}."
    )


def _driver_remedy(facts: NodeFacts, how: Rendering) -> str:
    """k3s pkg/agent/containerd/config_linux.go: ``Systemd = cpuset && INVOCATION_ID``, for containerd and kubelet."""
    name = facts.layout.name
    remedy = (
        f"{name} gives containerd and kubelet the same driver: systemd if systemd started {name} as a service and the"
        " cpuset controller exists, otherwise cgroupfs. Start it accordingly"
    )
    if how.template in facts.layout.templates:
        remedy += f", and set SystemdCgroup = {{{{ .SystemdCgroup }}}} for every handler in {how.template}"
    return remedy + "."


def _lines_remedy(facts: NodeFacts, how: Rendering, changes: tuple[Change, ...]) -> str:
    lines = [f"[plugins.'{NRI_ID}']", *(f"{change.keys[-1]} = {_literal(change.after)}" for change in changes)]
    if how.drop_in or how.template in facts.layout.templates:
        file = how.drop_in or f"the end of {how.template}"
    else:
        # k3s#7991, from v1.24.17, v1.25.13, v1.26.8, v1.27.5 and v1.28.1 on.
        file, lines = how.template, ['{{ template "base" . }}', *lines]
    return f"Write these lines (separated by /) to {file}: {' / '.join(lines)}."


def _literal(value: Any) -> str:
    return json.dumps(value)
