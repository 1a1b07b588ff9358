# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refuse variables that no role or playbook knows: a misspelled one would leave its default in force."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches

from ..variable_names import VARIABLES

PREFIX = "colocation_"
COLLECTION = "volcano.colocation."
RENAMED = {
    "colocation_agent_label": "colocation_agent_label_nodes",
    "colocation_agent_probe": "colocation_agent_smoke_test",
    "colocation_kubeadm_configmap": "colocation_kubeadm_edit_configmap",
    "colocation_report_folder": "colocation_report_directory",
    "colocation_rollout": "colocation_rollout_batches",
    "colocation_scheduler_edit": "colocation_scheduler_edit_configmap",
    "colocation_scheduler_key": "colocation_scheduler_configmap_key",
    "colocation_snapshot_folder": "colocation_snapshot_directory",
}
"""Variables by their names of before the first release: docs/names.md."""


class UnknownVariable(ValueError):
    """Names of variables with our prefix that are not ours."""


def require_known(names: Iterable[object], known: Collection[str] = VARIABLES) -> None:
    """UnknownVariable if one of ``names`` begins as ours do and is not in ``known``; names the nearest."""
    unknown = sorted(name for name in names if isinstance(name, str) and name.startswith(PREFIX) and name not in known)
    if unknown:
        raise UnknownVariable(
            f"{' '.join(_sentence(name, known) for name in unknown)} The node was not read."
            " Correct the name; names that begin with colocation_ are reserved for this collection."
            " 'ansible-doc -t role volcano.colocation.node' and the other roles list all variables."
        )


def _sentence(name: str, known: Collection[str]) -> str:
    if name in RENAMED:
        return f"Variable {name} has a new name: {RENAMED[name]}."
    endings = [variable.removeprefix(PREFIX) for variable in known]
    nearest = get_close_matches(name.removeprefix(PREFIX), endings, n=1)
    return f"Unknown variable {name}: did you mean {PREFIX}{nearest[0]}?" if nearest else f"Unknown variable {name}."
