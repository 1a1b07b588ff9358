# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""TuneD, on the node or in a pod of node-tuning: it sets sysctls, and keeps processes on some of the CPUs.

TuneD's plugins sysctl, scheduler (isolated_cores, by sched_setaffinity) and systemd (cpu_affinity, by a drop-in).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...module_utils.snapshot.tuned_evidence import SYSTEMD_DROP_IN
from ..facts.node_state import NodeFacts
from ..facts.other_writers import TUNERS
from .evidence import quote_writers
from .rule_types import Effect, Finding, Severity

_CPU_PARAMETERS = ("isolcpus", "nohz_full")


def tuned_runs(facts: NodeFacts) -> Iterator[Finding]:
    running = quote_writers(facts, *TUNERS.values())
    if running and facts.kubelet.installed:
        profiles = facts.writers.tuned.profiles if facts.writers.tuned else ()
        yield Finding(
            "tuned-runs",
            Severity.INFO,
            Effect.NONE,
            "TuneD sets kernel parameters and sysctls of this node.",
            (*running, *(f"active profile: {name}" for name in profiles)),
            "Set each sysctl and each kernel parameter in one place: in TuneD's profile, or outside it.",
        )


def tuned_places_processes(facts: NodeFacts) -> Iterator[Finding]:
    placed = tuple(_placements(facts))
    if placed and facts.kubelet.installed:
        parameters = facts.kernel_facts.parameters
        yield Finding(
            "tuned-places-processes",
            Severity.WARNING,
            Effect.NONE,
            "TuneD keeps processes away from CPUs that kubelet assigns to pods.",
            (*placed, *(f"{name}={value}" for name in _CPU_PARAMETERS for value in parameters.get(name, ()))),
            "Let kubelet's static CPU manager isolate CPUs with colocation_reserved_system_cpus, and remove"
            " isolated_cores and cpu_affinity from TuneD's profile.",
        )


def _placements(facts: NodeFacts) -> Iterator[str]:
    tuned = facts.writers.tuned
    if tuned is None:
        return
    if tuned.cpu_affinity:
        yield f"CPUAffinity={tuned.cpu_affinity} ({SYSTEMD_DROP_IN})"
    if quote_writers(facts, *TUNERS.values()):
        yield from (f"isolated_cores={value} ({path})" for path, value in tuned.isolated_cores.items())
