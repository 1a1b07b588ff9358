# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts of the CPUs: which are offline or isolated, SMT, NUMA."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...module_utils.quantity import parse_cpu_list
from .model import CpuFacts


def _smt(evidence: Mapping[str, Any]) -> bool | None:
    """The kernel's word (4.19 and newer), else whether any core has two threads."""
    if evidence.get("smt_active") in ("0", "1"):
        return bool(evidence["smt_active"] == "1")
    siblings = evidence.get("siblings")
    return any("," in each or "-" in each for each in siblings) if siblings else None


def online(evidence: Mapping[str, Any]) -> frozenset[int]:
    """The online CPUs; none where the kernel's list was not recorded or is garbage."""
    try:
        return parse_cpu_list(evidence["online"] or "")
    except ValueError:
        return frozenset()


def sockets(evidence: Mapping[str, Any]) -> int | None:
    """How many sockets there are; None where the kernel does not tell, or has no number for one (-1)."""
    found = [str(each) for each in evidence.get("sockets", ())]
    return len(found) if found and all(each.isdigit() for each in found) else None


def interpret_cpus(evidence: Mapping[str, Any]) -> CpuFacts:
    """CpuFacts of a snapshot's ``cpus`` section; the online CPUs are NodeFacts' own."""
    return CpuFacts(
        offline=evidence.get("offline"),
        present=evidence.get("present"),
        isolated=evidence.get("isolated"),
        smt=_smt(evidence),
        siblings=tuple(evidence.get("siblings", ())),
        numa=dict(evidence.get("numa", {})),
    )
