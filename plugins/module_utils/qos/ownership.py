# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's table: which knob of which cgroup it writes itself, when, and what to do instead."""

from __future__ import annotations

from enum import Enum

from .knob import Knob


class Place(str, Enum):
    """Which cgroup: of kubelet's tree, or any other."""

    ROOT = "root"
    QOS_CLASS = "qos class"
    POD = "pod"
    CONTAINER = "container"
    OTHER = "other"


def refusal(
    knob: Knob,
    place: Place,
    qos: str | None,
    driver: str,
    version: tuple[int, int] | None,
    *,
    static_cpu: bool,
    memory_qos: bool | None,
) -> str:
    """Why the knob is not ours on that cgroup, with the way out; empty when it is."""
    return ""
