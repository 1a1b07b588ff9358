# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's drop-in directory: drop-ins that it does not start with, and drop-ins that override others."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ..facts.config_file import Cause, advice, value_at
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
    """mergeKubeletConfigurations: kubelet does not start with an invalid drop-in."""
    known = [dropin.problem for dropin in facts.kubelet.dropins if dropin.problem]
    problems = [problem for problem in known if problem.cause is not Cause.NOT_READ]
    if problems:
        yield Finding(
            "dropin-refused",
            Severity.ERROR,
            Effect.LATENT,
            f"kubelet does not start with {len(problems)} of the files in its --config-dir.",
            tuple(map(describe_problem, problems)),
            advice("kubelet starts when the file is correct, or moved out of the directory.", *problems),
        )


def config_dir_refused(facts: NodeFacts) -> Iterator[Finding]:
    start, version = facts.kubelet.start, minor(facts.kubelet.version)
    if start.config_dir is None:
        return
    if not dropins_read(version, start):
        known = version is not None and version >= DROPINS_SINCE
        reason = "KUBELET_CONFIG_DROPIN_DIR_ALPHA is not set" if known else "this version does not have the flag"
    elif start.config_dir_exists is False:
        reason = "the directory does not exist"
    else:
        return
    yield Finding(
        "config-dir-refused",
        Severity.ERROR,
        Effect.LATENT,
        f"kubelet {facts.kubelet.version or ''} does not start with its --config-dir: {reason}.".replace("  ", " "),
        (f"--config-dir {start.config_dir}",),
        "Remove the flag, create the directory, or on 1.28 and 1.29 set the variable in kubelet's unit.",
    )


def refuse_dropin_directory(draft: PlanDraft) -> Iterator[Refusal]:
    """The drop-in directory must be the same now and at the next start, and all its files must be known."""
    start = draft.kubelet.start
    if not draft.desired:
        return
    for dropin in draft.kubelet.dropins if reads_config_dir(draft.kubelet) else ():
        yield from unsafe_file(dropin)
    then = next((flag.value for flag in reversed(start.following or ()) if flag.name == "--config-dir"), None)
    if start.following is not None and then != start.config_dir:
        yield Refusal(
            "config-dir-changes",
            f"kubelet runs with --config-dir {start.config_dir or 'unset'}, but its unit would start it with"
            f" {then or 'none'}",
            "Restart kubelet (systemctl daemon-reload, systemctl restart kubelet), then run again.",
        )
    if start.unread_dropins and reads_config_dir(draft.kubelet):
        yield Refusal(
            "dropins-not-read",
            f"not all drop-ins are known: the directory {start.unread_dropins.message}",
            advice("An unknown drop-in could override any setting.", start.unread_dropins),
            file=start.config_dir,
        )


def refuse_overridden_dropin(draft: PlanDraft) -> Iterator[Refusal]:
    """A later drop-in sets the same field: kubelet uses the value of the last file."""
    location = draft.kubelet_location
    if isinstance(location, Refusal):
        return
    version = minor(draft.kubelet.version)
    layers, now = draft.kubelet_layers, draft.kubelet_document
    missing = {
        keys: desired
        for field, keys, desired in draft.desired
        if not is_as_desired(field, value_at(now, keys), desired, version)
    }
    after = merge_layers(with_values(layers, location.path, missing), version)
    paths = [path for path, _values in layers]
    for field, keys, desired in draft.desired:
        if keys not in missing or is_as_desired(field, value_at(after, keys), desired, version) or desired == AUTO:
            continue  # a value that cannot be computed has a separate refusal
        later = [path for path, values in layers[paths.index(location.path) + 1 :] if keys[0] in values]
        if later:
            yield Refusal(
                "dropin-overrides",
                f"sets {'.'.join(keys)} too, and kubelet reads it after {location.path}",
                f"Remove {keys[0]} from it, or set it to the value of the profile.",
                file=later[-1],
            )
        else:
            yield Refusal(
                "dropin-cannot-clear-value",
                f"kubelet {draft.kubelet.version} does not let a drop-in set {'.'.join(keys)} to"
                f" {json.dumps(desired)}: before 1.29 an empty value overrides nothing",
                "Set colocation_kubelet_strategy to main-file.",
                file=location.path,
                variable="kubelet_strategy",
            )
