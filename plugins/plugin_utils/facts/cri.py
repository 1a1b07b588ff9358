# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a runtime's CRI says of the driver it wants of kubelet (KEP-4033)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver


def runtime_config(cri: Mapping[str, Any]) -> tuple[Driver | None, bool | None]:
    """(driver, whether the call is known at all); None for what was not asked or not said."""
    answer = cri.get("runtime_config")
    if not isinstance(answer, Mapping):
        return None, None
    if answer.get("error"):
        return None, False if answer["error"] == "unimplemented" else None
    named = answer.get("cgroup_driver")
    return (Driver(named) if named in ("systemd", "cgroupfs") else None), True
