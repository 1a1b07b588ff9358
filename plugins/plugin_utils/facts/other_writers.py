# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Other programs that write to cgroups or to kubelet's configuration, detected by their processes and units.

Sources: koordinator-sh/koordinator cmd/koordlet; openeuler rubik; volcano cmd/agent (vc-agent); katalyst-core
cmd/katalyst-agent; gocrane cmd/crane-agent; openFuyao volcano-config-service.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .node_state import RubikConfig, WriterFacts

QOS_AGENTS = {
    "koordlet": "koordlet",
    "rubik": "rubik",
    "vc-agent": "volcano-agent",
    "katalyst-agent": "katalyst-agent",
    "crane-agent": "crane-agent",
}
"""They set CPU and memory of pods; two of them overwrite each other's values."""
CONFIG_WRITERS = {"volcano-config-": "volcano-config-service"}
"""The kernel truncates the name of a process to 15 bytes."""
UNITS = {
    "systemd-oomd.service": "systemd-oomd",
    "rubik.service": "rubik",
    "volcano-config-service.service": "volcano-config-service",
}


NRI_DIRECTORY = "/opt/nri/plugins"
RUBIK_UNIT = "rubik.service"
RUBIK_DRIVER = "cgroupfs"
"""rubik docs/config.md: the default of cgroupDriver."""
OVERRIDES = ("/etc/systemd/system.control", "/run/systemd/system.control")


def interpret_writers(evidence: Mapping[str, Any], units: Mapping[str, Mapping[str, str]]) -> WriterFacts:
    """WriterFacts of a snapshot's ``writers`` section and the units; a program that does not run is ignored."""
    commands, directories = evidence.get("commands", {}), evidence.get("folders", {})
    writers = {
        name: f"unit {unit}" for unit, name in UNITS.items() if units.get(unit, {}).get("ActiveState") == "active"
    }
    known = {**QOS_AGENTS, **CONFIG_WRITERS}
    writers.update(
        {known[command]: f"{count} process(es) {command}" for command, count in commands.items() if command in known}
    )
    return WriterFacts(
        evidence=dict(sorted(writers.items())),
        nri_plugins=tuple(directories.get(NRI_DIRECTORY, ())),
        overrides=tuple(
            f"{directory}/{name}"
            for directory in OVERRIDES
            for name in directories.get(directory, ())
            if name.startswith("kubepods")
        ),
        rubik=_rubik(evidence.get("rubik"), units.get(RUBIK_UNIT, {})),
    )


def _rubik(config: Mapping[str, Any] | None, unit: Mapping[str, str]) -> RubikConfig | None:
    """rubik reads the file on the node only if it runs as a service: in a pod it reads a ConfigMap at that path."""
    if config is None or unit.get("ActiveState") != "active":
        return None
    return RubikConfig(config["cgroup_driver"] or RUBIK_DRIVER, tuple(config["features"]))
