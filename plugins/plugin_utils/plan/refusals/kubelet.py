# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why kubelet is not touched: where its settings cannot be written, and what it would not start with."""

from __future__ import annotations

from collections.abc import Iterator

from ....module_utils.snapshot.processes import option
from ...facts.model import NodeFacts
from ...profile import Profile
from ..kubelet_after import desired_fields
from ..model import Refusal
from . import fields, startup
from .model import Rule, unsafe_file


def _installed(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    if facts.layout.kubelet_inside:
        yield Refusal(
            "kubelet-inside",
            f"{facts.layout.kubelet_inside} runs kubelet inside its own process and gives it flags, no file",
            f"Set kubelet-arg in {facts.layout.kubelet_inside}'s own configuration; this release does not.",
        )
    elif not facts.kubelet.installed:
        yield Refusal(
            "kubelet-missing", "no kubelet program was found", "Install kubelet first; this collection does not."
        )


def _config(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    yield from unsafe_file(facts.kubelet.config)
    if facts.kubelet.installed and facts.kubelet.config.kind == "missing":
        yield Refusal(
            "kubelet-config-missing",
            "kubelet runs without this file",
            "Start kubelet with --config and move its flags there; flags are never added by this collection.",
            file=facts.kubelet.config.path,
        )


def _flags(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    argv = facts.kubelet.command_line
    for field in dict.fromkeys(field for field, _keys, _value in desired_fields(profile)):
        value = option(argv, field.flag) if field.flag else None
        if value is not None:
            yield Refusal(
                "flag-overrides-config",
                f"kubelet is started with {field.flag}={value}, which beats {field.key} in any file",
                "Take the flag out of kubelet's unit, its drop-ins or their environment files and restart kubelet.",
                file=facts.kubelet.config.path,
            )


RULES: tuple[Rule, ...] = (_installed, _config, _flags, *fields.RULES, *startup.RULES)
