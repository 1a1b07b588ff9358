# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What kubelet does on this node that decides which settings are its own."""

from __future__ import annotations

import json
import re

from ..errors import ColocationError
from ..host import Host

CHECKPOINT = "cpu_manager_state"


def version(text: str | None) -> tuple[int, int] | None:
    """Major and minor of ``1.31``, ``v1.31.4`` and the like; None for nothing."""
    if text is None:
        return None
    found = re.match(r"v?(\d+)\.(\d+)", text)
    if found is None:
        raise ColocationError(f"kubelet_version: {text!r} is no version", "Write it like 1.31")
    return int(found.group(1)), int(found.group(2))


def static_cpu(host: Host, kubelet_root: str) -> bool | None:
    """Whether the CPU manager pins pods, from the checkpoint that kubelet writes at each start; None when unknown.

    Source: kubernetes pkg/kubelet/cm/cpumanager/state/checkpoint.go.
    """
    try:
        policy = json.loads(host.read(f"{kubelet_root.rstrip('/')}/{CHECKPOINT}"))["policyName"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return bool(policy == "static")
