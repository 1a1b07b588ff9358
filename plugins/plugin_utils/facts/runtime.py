# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which runtime kubelet uses, and its facts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...module_utils.snapshot.process_evidence import command_line_option
from ..containerd_schema import release
from .containerd import interpret_containerd
from .crio import interpret_crio
from .docker import interpret_other
from .model import Claim, RuntimeFacts

BY_SOCKET = (
    ("crio", "cri-o"),
    ("cri-dockerd", "docker"),
    ("dockershim", "docker"),
    ("isulad", "isulad"),
    ("containerd", "containerd"),
)
"""Words in the path of the CRI's socket, for a runtime that does not answer."""


def runtime_name(evidence: Mapping[str, Any], kubelet: Mapping[str, Any]) -> str:
    """The CRI's own name, else what kubelet's socket is called, else what is installed."""
    if evidence.get("docker") and _uses_dockershim(kubelet):
        return "docker"
    cri = evidence["cri"]
    if cri.get("name"):
        return str(cri["name"]).lower()
    named = next((name for word, name in BY_SOCKET if word in cri["endpoint"]), None)
    if named in (None, "containerd") and evidence["program"] is None and evidence.get("crio"):
        return "cri-o"
    return named or "containerd"


def _uses_dockershim(kubelet: Mapping[str, Any]) -> bool:
    """kubelet before 1.24 uses docker unless ``--container-runtime=remote`` (pkg/kubelet/dockershim)."""
    known = release((kubelet.get("version") or "").rpartition(" ")[2])
    if known is None or known >= (1, 24) or not kubelet["processes"]:
        return False
    return command_line_option(kubelet["processes"][0]["argv"], "--container-runtime") in (None, "docker")


def other_runtimes(snapshot: Mapping[str, Any], runtime: RuntimeFacts) -> tuple[str, ...]:
    """Runtimes that run beside the one kubelet uses."""
    programs = list(snapshot.get("other_runtimes", ()))
    if snapshot["runtime"]["processes"]:
        programs.append("containerd")
    # docker has its containers run by a containerd.
    own = {"cri-o": ("crio",), "docker": ("dockerd", "cri-dockerd", "containerd")}.get(
        runtime.name or "", (runtime.name,)
    )
    return tuple(sorted(set(programs) - set(own)))


def interpret_runtime(
    evidence: Mapping[str, Any], units: Mapping[str, Mapping[str, str]], kubelet: Mapping[str, Any]
) -> tuple[RuntimeFacts, list[Claim]]:
    """RuntimeFacts of a snapshot's ``runtime`` section, and every claim on its driver."""
    name = runtime_name(evidence, kubelet)
    if name == "cri-o":
        return interpret_crio(evidence, units)
    if name != "containerd":
        return interpret_other(name, evidence)
    facts = interpret_containerd(evidence, units)
    return facts, _claims(facts)


def _claims(facts: RuntimeFacts) -> list[Claim]:
    claims = []
    for handler in facts.handlers if facts.installed else ():
        setting = f"SystemdCgroup of handler {handler.name}"
        if handler.running:
            claims.append(Claim(setting, handler.running.value, "the CRI's Status, in force now"))
        if handler.configured:
            claims.append(Claim(setting, handler.configured.value, handler.source or "containerd's default"))
    return claims
