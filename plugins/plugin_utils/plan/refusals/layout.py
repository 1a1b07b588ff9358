# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why kubelet's settings cannot be written where this node keeps them."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.config_file import value_at
from ...facts.kubelet_state import Flag
from ...facts.node_layout import RANCHER
from ...facts.node_state import NodeFacts
from ...profile.validators import AUTO
from ...releases.versions import minor
from ..change_set import Impact, Refusal
from ..draft import PlanDraft
from ..kubelet_changes import Override, changed_entries, fields_of, find_overrides, is_as_desired
from ..kubelet_location import SUPERVISORS, kubelet_unit, merge_layers, reads_folder, why_no_folder, with_values
from ..owner_instructions import kubelet_arguments
from .model import Rule, unsafe_file


def _installed(draft: PlanDraft) -> Iterator[Refusal]:
    inside = draft.facts.layout.kubelet_inside
    if inside and why_no_folder(draft.facts):
        yield Refusal(
            "kubelet-inside-other-process",
            f"{inside} runs kubelet inside its own process and gives it flags, no file",
            f"Upgrade {inside} to 1.32 or later, which reads drop-ins, or set in its own configuration, kubelet-arg:"
            f" {kubelet_arguments(draft.desired) or 'NAME=VALUE'}.",
        )
    elif not inside and not draft.kubelet.installed:
        yield Refusal(
            "kubelet-missing", "no kubelet program was found", "Install kubelet first; this collection does not."
        )


def _config(draft: PlanDraft) -> Iterator[Refusal]:
    if draft.kubelet.config.kind != "missing":
        yield from unsafe_file(draft.kubelet.config)
    place = draft.kubelet_location
    if not isinstance(place, Refusal) or not draft.kubelet.installed or draft.facts.layout.kubelet_inside:
        return
    if place.variable and not draft.desired:
        return
    if draft.facts.layout.name in RANCHER and place.code == "kubelet-config-missing":
        yield Refusal(
            "kubelet-arguments-only",
            f"{draft.facts.layout.name} starts kubelet with flags alone; it reads drop-ins from 1.32 on",
            "Upgrade it, or set in its own configuration, kubelet-arg:"
            f" {kubelet_arguments(draft.desired) or 'NAME=VALUE'}.",
        )
    else:
        yield place


def _folder(draft: PlanDraft) -> Iterator[Refusal]:
    """The folder of today and of the next start have to be one, and all in it has to be known."""
    start = draft.kubelet.start
    if not draft.desired:
        return
    for dropin in draft.kubelet.dropins if reads_folder(draft.kubelet) else ():
        yield from unsafe_file(dropin)
    then = next((flag.value for flag in reversed(start.following or ()) if flag.name == "--config-dir"), None)
    if start.following is not None and then != start.config_dir:
        yield Refusal(
            "config-dir-changes",
            f"kubelet runs with --config-dir {start.config_dir or 'unset'}, and its unit would start it with"
            f" {then or 'none'}",
            "Restart kubelet (systemctl daemon-reload, systemctl restart kubelet), then run again.",
        )
    if start.unseen and reads_folder(draft.kubelet):
        yield Refusal(
            "dropins-not-read",
            f"not all drop-ins are known: {start.unseen}",
            "Keep at most 64 readable drop-ins in this folder; one that is not known could beat every setting.",
            file=start.config_dir,
        )


def _outranked(draft: PlanDraft) -> Iterator[Refusal]:
    """A later drop-in that sets the same: of kubelet's files the last one wins."""
    place = draft.kubelet_location
    if isinstance(place, Refusal):
        return
    version = minor(draft.kubelet.version)
    found, now = draft.kubelet_layers, draft.kubelet_document
    missing = {
        keys: wanted
        for field, keys, wanted in draft.desired
        if not is_as_desired(field, value_at(now, keys), wanted, version)
    }
    after = merge_layers(with_values(found, place.path, missing), version)
    paths = [path for path, _values in found]
    for field, keys, wanted in draft.desired:
        if keys not in missing or is_as_desired(field, value_at(after, keys), wanted, version) or wanted == AUTO:
            continue  # what cannot be computed has a reason of its own
        later = [path for path, values in found[paths.index(place.path) + 1 :] if keys[0] in values]
        if later:
            yield Refusal(
                "dropin-overrides",
                f"{later[-1]} sets {'.'.join(keys)} too, and kubelet reads it after {place.path}",
                f"Take {keys[0]} out of it, or let it agree with the profile.",
                file=later[-1],
            )
        else:
            yield Refusal(
                "dropin-cannot-clear-value",
                f"kubelet {draft.kubelet.version} lets no drop-in set {'.'.join(keys)} to {wanted!r}: an empty value"
                " overrides nothing before 1.29",
                "Set kubelet_strategy (colocation_kubelet_strategy) to main-file.",
                file=place.path,
                variable="kubelet_strategy",
            )


def _where(facts: NodeFacts, override: Override) -> tuple[str, str]:
    """The file that a refused flag is in as far as it is known, and how to be rid of it."""
    start = facts.kubelet.start
    path = override.flag.source.partition(" in ")[2] or override.flag.source
    if facts.layout.name in RANCHER:
        own = f"/etc/rancher/{facts.layout.name}/config.yaml"
        return own, f"Take it out of kubelet-arg in {own}, its config.yaml.d or the unit of {facts.layout.name}."
    if start.following is None or not path.startswith("/"):
        return (
            facts.kubelet.config.path,
            "Take the flag out of kubelet's unit, its drop-ins or their environment files.",
        )
    if path in start.environment_files:
        return path, "This file is a link or no regular file: take the flag out of the file behind it."
    return path, "Take the flag out of this unit file, then systemctl daemon-reload."


def _flags(draft: PlanDraft) -> Iterator[Refusal]:
    if draft.facts.layout.name in RANCHER and isinstance(draft.kubelet_location, Refusal):
        return
    found = find_overrides(draft.kubelet, draft.desired)
    for field in fields_of(draft.desired):
        stuck = [each for each in found if each.field is field and each.path is None]
        if stuck:
            file, remedy = _where(draft.facts, stuck[-1])
            yield Refusal(
                "flag-overrides-config",
                f"kubelet is started with {stuck[-1]}, which beats {field.key} in any file",
                f"{remedy} Then restart kubelet.",
                file=file,
            )
    yield from _flags_that_hold_more(draft, found)
    unit = draft.facts.systemd.units.get("kubelet.service", {})
    if found and unit.get("NeedDaemonReload") == "yes":
        yield Refusal(
            "unit-not-reloaded",
            f"kubelet's unit changed after systemd read it, so what its next start does with {found[-1]} is not known",
            "Run systemctl daemon-reload, then run again.",
            file=unit.get("FragmentPath"),
        )


def _flags_that_hold_more(draft: PlanDraft, found: tuple[Override, ...]) -> Iterator[Refusal]:
    whole = draft.kubelet_document
    for field, paths in fields_of(draft.desired).items():
        members = [each for each in found if each.field is field and each.path is not None]
        flags: tuple[Flag, ...] = tuple(each.flag for each in members)
        more = changed_entries(field, flags, whole.get(field.key), paths) if flags else ""
        if more:
            yield Refusal(
                "flag-has-other-entries",
                f"{members[-1].flag.name} gives entries of {field.key} that the profile does not name and that would"
                f" change without the flag: {more}",
                "Name them in the profile too, or write them to kubelet's file yourself.",
                file=members[-1].path,
            )


def _embedded(draft: PlanDraft) -> Iterator[Refusal]:
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


RULES: tuple[Rule, ...] = (_installed, _config, _folder, _outranked, _flags, _embedded)
