# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's directory of drop-ins: what it does not start with, and which drop-in wins."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts.config_file import advice, value_at
from ..facts.kubelet_layers import DROPINS_SINCE, dropins_read
from ..facts.node_state import NodeFacts
from ..plan.change_set import Refusal
from ..plan.draft import PlanDraft
from ..plan.kubelet_changes import is_as_desired
from ..plan.kubelet_location import merge_layers, reads_config_dir, with_values
from ..profile.validators import AUTO
from ..releases.versions import minor
from .config_files import describe_problem, unsafe_file
from .rule_types import Effect, Finding, Severity


def dropins_refused(facts: NodeFacts) -> Iterator[Finding]:
    """mergeKubeletConfigurations: one drop-in that kubelet cannot take stops it."""
    problems = [each.problem for each in facts.kubelet.dropins if each.problem]
    if problems:
        yield Finding(
            "dropin-refused",
            Severity.ERROR,
            Effect.LATENT,
            f"kubelet does not start with {len(problems)} of the files in its --config-dir.",
            tuple(map(describe_problem, problems)),
            advice("Correct the file or take it out of the folder; each needs apiVersion and kind.", *problems),
        )


def config_dir_refused(facts: NodeFacts) -> Iterator[Finding]:
    start, version = facts.kubelet.start, minor(facts.kubelet.version)
    if start.config_dir is None:
        return
    if not dropins_read(version, start):
        known = version is not None and version >= DROPINS_SINCE
        reason = "KUBELET_CONFIG_DROPIN_DIR_ALPHA is not set" if known else "it has no such flag"
    elif start.config_dir_exists is False:
        reason = "there is no such folder"
    else:
        return
    yield Finding(
        "config-dir-refused",
        Severity.ERROR,
        Effect.LATENT,
        f"kubelet {facts.kubelet.version or ''} does not start with its --config-dir: {reason}.".replace("  ", " "),
        (f"--config-dir {start.config_dir}",),
        "Take the flag away, make the folder, or on 1.28 and 1.29 set the variable in kubelet's unit.",
    )


def refuse_dropin_directory(draft: PlanDraft) -> Iterator[Refusal]:
    """The folder of today and of the next start have to be one, and all in it has to be known."""
    start = draft.kubelet.start
    if not draft.desired:
        return
    for dropin in draft.kubelet.dropins if reads_config_dir(draft.kubelet) else ():
        yield from unsafe_file(dropin)
    then = next((flag.value for flag in reversed(start.following or ()) if flag.name == "--config-dir"), None)
    if start.following is not None and then != start.config_dir:
        yield Refusal(
            "config-dir-changes",
            f"kubelet runs with --config-dir {start.config_dir or 'unset'}, and its unit would start it with"
            f" {then or 'none'}",
            "Restart kubelet (systemctl daemon-reload, systemctl restart kubelet), then run again.",
        )
    if start.incomplete_reason and reads_config_dir(draft.kubelet):
        yield Refusal(
            "dropins-not-read",
            f"not all drop-ins are known: {start.incomplete_reason}",
            "Keep at most 64 readable drop-ins in this folder; one that is not known could beat every setting.",
            file=start.config_dir,
        )


def refuse_overridden_dropin(draft: PlanDraft) -> Iterator[Refusal]:
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
