# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who cordoned a Node: what we closed we open again, and what somebody else closed stays closed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..kube.wait import is_true

OURS = "colocation.volcano.sh/cordoned"
"""An annotation of a Node that a rollout cordoned, with the time. It outlives a controller that is killed."""


def is_cordoned(node: Mapping[str, Any]) -> bool:
    return bool((node.get("spec") or {}).get("unschedulable"))


def is_ours(node: Mapping[str, Any]) -> bool:
    """True when a rollout cordoned it, this one or one that did not come to its end."""
    return OURS in (node["metadata"].get("annotations") or {})


def closing(node: Mapping[str, Any], now: str) -> dict[str, Any] | None:
    """The merge patch that cordons a Node; None where it is cordoned."""
    return None if is_cordoned(node) else _patch(node, {"annotations": {OURS: now}}, {"spec": {"unschedulable": True}})


def opening(node: Mapping[str, Any]) -> dict[str, Any] | None:
    """The merge patch that leaves a Node as it was before we cordoned it; None where we did not."""
    return _patch(node, {"annotations": {OURS: None}}, {"spec": {"unschedulable": None}}) if is_ours(node) else None


def _patch(node: Mapping[str, Any], metadata: dict[str, Any], rest: dict[str, Any]) -> dict[str, Any]:
    """Refused by the API server if the Node is no longer as it was read."""
    return {"metadata": {"resourceVersion": node["metadata"]["resourceVersion"], **metadata}, **rest}


def is_ready(node: Mapping[str, Any]) -> bool:
    return is_true(node, "Ready")
