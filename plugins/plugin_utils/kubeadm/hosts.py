# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hosts of a play as the role's earlier phases left their results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..facts.node_state import NodeFacts
from ..kube.identity import NOT_OBSERVED, describe_host, read_identity
from ..plan.desired_state import PlanInputs, resolve_profile
from ..plan.kubeadm_patch import keeps_main_file
from ..plan.kubelet_location import flag_text
from ..profile.node_profile import Profile
from .model import Host


def described(facts: NodeFacts, snapshot: Mapping[str, Any], profile: Profile) -> dict[str, Any]:
    """What node_align tells of a node for the cluster's sake."""
    inputs = PlanInputs(facts, resolve_profile(facts, profile))
    running = facts.kubelet.start.running
    return {
        **describe_host(snapshot["system"], flag_text(running, "--hostname-override")),
        "kubeadm": facts.layout.name == "kubeadm",
        "main_file": keeps_main_file(inputs),
        "fields": [{"keys": list(keys), "value": value} for _field, keys, value in inputs.desired],
    }


def read_host(
    name: str, observed: Mapping[str, Any] | None, aligned: Mapping[str, Any] | None, *, planned: bool
) -> Host:
    """The host of the results that observe and align registered. ``planned``: what has a plan counts as aligned."""
    said = (observed or {}).get("kubeadm")
    if observed is None or said is None:
        return Host(name, lacks=NOT_OBSERVED)
    return Host(
        **vars(read_identity(name, said)),
        kubeadm=said["kubeadm"],
        main_file=said["main_file"],
        fields={tuple(each["keys"]): each["value"] for each in said["fields"]},
        lacks=_lack(observed, aligned or {}, planned=planned),
    )


def read_restored(name: str, restored: Mapping[str, Any] | None) -> Host:
    """The host of the result that restore registered."""
    said = (restored or {}).get("node")
    if restored is None or said is None or restored.get("failed"):
        return Host(name, lacks="it was not put back in this run")
    pending = len(restored.get("pending", ()))
    return Host(
        **vars(read_identity(name, said)),
        lacks=f"{pending} setting(s) of it are still to be put back" if pending else None,
    )


def _lack(observed: Mapping[str, Any], aligned: Mapping[str, Any], *, planned: bool) -> str | None:
    plan = observed["plan"]
    if plan["refusals"]:
        return "it cannot have the profile"
    if plan["pending"]:
        return f"{len(plan['pending'])} setting(s) of it are pending"
    if "observation" not in observed:
        return None if observed["verdict"] == "aligned" else f"it is {observed['verdict']}"
    if planned:
        return None
    committed = (aligned.get("transaction") or {}).get("state") == "committed" and not aligned.get("failed")
    return None if committed else "its plan was not carried out"
