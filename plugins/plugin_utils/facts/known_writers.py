# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that write to cgroups or to kubelet's configuration, by the name of their process and of their unit.

Sources: koordinator-sh/koordinator cmd/koordlet; openeuler rubik; volcano cmd/agent (vc-agent); katalyst-core
cmd/katalyst-agent; gocrane cmd/crane-agent; openFuyao volcano-config-service.
"""

from __future__ import annotations

QOS_AGENTS = {
    "koordlet": "koordlet",
    "rubik": "rubik",
    "vc-agent": "volcano-agent",
    "katalyst-agent": "katalyst-agent",
    "crane-agent": "crane-agent",
}
"""They set CPU and memory of pods; two of them undo each other."""
CONFIG_WRITERS = {"volcano-config-": "volcano-config-service"}
"""The kernel cuts a process's name to 15 bytes."""
UNITS = {
    "systemd-oomd.service": "systemd-oomd",
    "rubik.service": "rubik",
    "volcano-config-service.service": "volcano-config-service",
}
