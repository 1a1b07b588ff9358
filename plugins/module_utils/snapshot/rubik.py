# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about rubik's configuration where rubik runs on the node itself: its driver and its features."""

from __future__ import annotations

import json
from typing import Any

from ..host import Host
from .files import capture

CONFIG = "/var/lib/rubik/config.json"
"""The one place that rubik reads, rubik docs/config.md; in a pod it is a mounted ConfigMap."""
FEATURE_LIMIT = 32


def rubik(host: Host) -> dict[str, Any] | None:
    """``{cgroup_driver, features}`` of the file on the node, nothing else of it; None when there is none to read."""
    text = capture(host, CONFIG).get("text")
    try:
        document = json.loads(text) if text is not None else None
    except (ValueError, RecursionError):
        return None
    agent = document.get("agent", {}) if isinstance(document, dict) else None
    if not isinstance(agent, dict):
        return None
    driver, features = agent.get("cgroupDriver"), agent.get("enabledFeatures")
    listed = features if isinstance(features, list) else []
    return {
        "cgroup_driver": driver if isinstance(driver, str) else None,
        "features": [each for each in listed[:FEATURE_LIMIT] if isinstance(each, str)],
    }
