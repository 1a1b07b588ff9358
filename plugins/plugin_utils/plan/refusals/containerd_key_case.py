# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys in another letter case that containerd would let count instead of those that a plan writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...edit.containerd_text import other_spelling
from ...facts.config_file import ConfigFile, value_at
from ...facts.containerd_layers import Layers, Merge, own_table
from ...facts.containerd_tables import nri_values
from ...releases.containerd_schema import CRI_V1, CRI_V2, CRI_V3
from ..change_set import Change, Refusal
from ..draft import PlanDraft
from .model import Rule

CRI_NAMES = (CRI_V1, CRI_V2, CRI_V3)


def _key_case(draft: PlanDraft) -> Iterator[Refusal]:
    """In the file that is changed, the key that is there is changed, if it counts. No second one is added anywhere."""
    changes = [each for each in draft.runtime_changes if each.path and each.keys]
    layers, after = draft.runtime.merged, draft.containerd_after
    for config in layers.files:
        found = [key for change in changes if (key := _in_the_way(config, change, layers, after))]
        for key in dict.fromkeys(found):
            yield Refusal(
                "containerd-key-case",
                f"it has the key {key} in another letter case than the one to be written, and one of them is ignored",
                "Write the key as containerd's documentation does, and keep only one of several.",
                file=config.path,
            )


def _in_the_way(config: ConfigFile, change: Change, layers: Layers, after: Layers) -> str | None:
    if config.path != change.path and (layers.merge is Merge.REPLACING or change.keys[0] != "plugins"):
        return None
    key = next((found for path in _paths(change) if (found := other_spelling(config.values, path))), None)
    return None if key is None or (config.path == change.path and _counts(change, after)) else key


def _paths(change: Change) -> Iterator[tuple[str, ...]]:
    """Where the setting may stand in the files of any schema."""
    names = CRI_NAMES if change.keys[1:2] and change.keys[1] in CRI_NAMES else change.keys[1:2]
    yield from [(change.keys[0], name, *change.keys[2:]) for name in names] or [change.keys]


def _counts(change: Change, after: Layers) -> bool:
    """Whether containerd finds the written value in that file."""
    config = next((each for each in after.files if each.path == change.path), None)
    if config is None:
        return False
    if change.keys[0] != "plugins":
        return bool(config.values.get(change.keys[0]) == change.after)
    if change.keys[1] in CRI_NAMES:
        return bool(value_at(own_table(after, config), change.keys[2:]) == change.after)
    table = value_at(config.values, change.keys[:2])
    found = nri_values(table, after.letter_case) if isinstance(table, Mapping) else {}
    return bool(value_at(found, change.keys[2:]) == change.after)


RULES: tuple[Rule, ...] = (_key_case,)
