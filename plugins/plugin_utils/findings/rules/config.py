# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about configuration files that nobody can read, or that nobody has read yet."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.config_file import Problem, advice
from ...facts.kubelet_layers import DROPINS_SINCE, dropins_read
from ...facts.node_state import NodeFacts
from ...releases.versions import minor
from ..model import Effect, Finding, Rule, Severity


def place(problem: Problem) -> str:
    """``file:line: message``."""
    line = f":{problem.line}" if problem.line is not None else ""
    return f"{problem.file}{line}: {problem.message}"


def unreadable_config(facts: NodeFacts) -> Iterator[Finding]:
    for config in (facts.kubelet.config, facts.runtime.config):
        if config.problem:
            yield Finding(
                "config-unreadable",
                Severity.ERROR,
                Effect.UNKNOWN,
                f"{config.path} cannot be read.",
                (place(config.problem),),
                advice("Correct the file; its owner would not start with it.", config.problem),
            )


def refused_dropins(facts: NodeFacts) -> Iterator[Finding]:
    """mergeKubeletConfigurations: one drop-in that kubelet cannot take stops it."""
    problems = [each.problem for each in facts.kubelet.dropins if each.problem]
    if problems:
        yield Finding(
            "dropin-refused",
            Severity.ERROR,
            Effect.LATENT,
            f"kubelet does not start with {len(problems)} of the files in its --config-dir.",
            tuple(map(place, problems)),
            advice("Correct the file or take it out of the folder; each needs apiVersion and kind.", *problems),
        )


def refused_config_dir(facts: NodeFacts) -> Iterator[Finding]:
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


def next_restart_of_kubelet(facts: NodeFacts) -> Iterator[Finding]:
    newer = [each.path for each in (facts.kubelet.config, *facts.kubelet.dropins) if each.changed_after_start]
    if facts.kubelet.running and newer:
        yield Finding(
            "kubelet-config-changed-after-start",
            Severity.WARNING,
            Effect.LATENT,
            "kubelet's file changed after kubelet started.",
            tuple(newer),
            "What it runs with may differ from the file; the next restart takes the file.",
        )


RULES: tuple[Rule, ...] = (
    unreadable_config,
    refused_dropins,
    refused_config_dir,
    next_restart_of_kubelet,
)
