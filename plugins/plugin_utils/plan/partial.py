# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is left of a profile while some of its changes are pending, and whether kubelet starts with that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..kubelet_fields import FIELDS
from ..profile import Profile, with_fields
from .draft import PlanDraft
from .model import Change
from .refusals import startup
from .refusals.catalogue import refusals

KUBELETS = ("kubelet", "kubelet flag")


def _without(profile: Profile, option: str, keys: tuple[str, ...]) -> Profile:
    value = profile.kubelet.get(option)
    left: dict[str, Any] | None = None
    if len(keys) == 2 and isinstance(value, Mapping):
        left = {name: each for name, each in value.items() if name != keys[1]}
    return with_fields(profile, {option: left})


def _less(profile: Profile, pending: Iterable[Change]) -> Profile:
    options = {field.key: field.option for field in FIELDS}
    for change in pending:
        if change.target in KUBELETS and change.keys:
            profile = _without(profile, options[change.keys[0]], change.keys)
    return profile


def held_back(draft: PlanDraft, quiet: tuple[Change, ...], pending: tuple[Change, ...]) -> tuple[Change, ...]:
    """Those of the quiet changes that have to wait for the pending ones: kubelet would not start with them alone."""
    left = PlanDraft(draft.facts, _less(draft.profile, pending))
    if not refusals(left, startup.RULES):
        return ()
    return tuple(change for change in quiet if change.target in KUBELETS)
