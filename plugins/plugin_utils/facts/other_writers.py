# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Other programs that write to cgroups or to kubelet's configuration, detected by their processes and units.

Sources: koordinator-sh/koordinator cmd/koordlet; openeuler rubik; volcano cmd/agent (vc-agent); katalyst-core
cmd/katalyst-agent; gocrane cmd/crane-agent; openFuyao volcano-config-service; TuneD's tuned.py; OpenShift's
cluster-node-tuning-operator assets/tuned/manifests/ds-tuned.yaml.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .node_state import RubikConfig, TunedFacts, WriterFacts

QOS_AGENTS = {
    "koordlet": "koordlet",
    "rubik": "rubik",
    "vc-agent": "volcano-agent",
    "katalyst-agent": "katalyst-agent",
    "crane-agent": "crane-agent",
}
"""They set CPU and memory of pods; two of them overwrite each other's values."""
CONFIG_WRITERS = {"volcano-config-": "volcano-config-service"}
TUNERS = {"tuned": "tuned", "cluster-node-tu": "node-tuning"}
"""They set sysctls, CPU affinities and kernel parameters. node-tuning runs TuneD in a pod on each node."""
PROGRAMS = {**QOS_AGENTS, **CONFIG_WRITERS, **TUNERS}
"""Writers by the name of their process, which the kernel truncates to 15 bytes."""
UNITS = {
    "systemd-oomd.service": "systemd-oomd",
    "tuned.service": "tuned",
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
    writers.update(
        {
            PROGRAMS[command]: f"{count} process(es) {command}"
            for command, count in commands.items()
            if command in PROGRAMS
        }
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
        tuned=_tuned(evidence.get("tuned")),
    )


def _rubik(config: Mapping[str, Any] | None, unit: Mapping[str, str]) -> RubikConfig | None:
    """rubik reads the file on the node only if it runs as a service: in a pod it reads a ConfigMap at that path."""
    if config is None or unit.get("ActiveState") != "active":
        return None
    return RubikConfig(config["cgroup_driver"] or RUBIK_DRIVER, tuple(config["features"]))


def _tuned(evidence: Mapping[str, Any] | None) -> TunedFacts | None:
    if evidence is None:
        return None
    return TunedFacts(tuple(evidence["profiles"]), evidence["cpu_affinity"], evidence["isolated_cores"])
