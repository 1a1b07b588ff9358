# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes that the kernel refuses whatever the order of writes."""

from __future__ import annotations

from .knob import Knob, Value


def problem(knob: Knob, before: Value, after: Value) -> str:
    """Why the kernel will not make this change; empty when it may."""
    if knob.name != "cpu_qos_level" or not isinstance(before, int) or not isinstance(after, int):
        return ""
    if before < 0 and after > before:
        return (
            "a cgroup that is offline stays offline: the kernel answers EINVAL to cpu.qos_level %d after %d "
            "(openEuler kernel/sched/core.c cpu_qos_write). Start the pod anew, then its cgroup is a new one"
            % (after, before)
        )
    return ""
