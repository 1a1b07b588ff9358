# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hosts of a play: results of earlier phases, fields they agree on, and whether kubelet-config may change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ..edit.document_changes import differing_path
from ..facts.config_file import value_at
from ..facts.node_state import NodeFacts
from ..kube.identity import NOT_OBSERVED, HostIdentity, describe_host, parse_identity
from ..plan.desired_state import PlanInputs, resolve_profile
from ..plan.kubeadm_patch import keeps_main_file
from ..plan.kubelet_location import flag_text
from ..profile.kubelet_fields import FIELDS
from ..profile.node_profile import Profile

NAMESPACE = "kube-system"
CONFIG_MAP, CONFIG_KEY = "kubelet-config", "kubelet"
"""cmd/kubeadm/app/constants/constants.go: KubeletBaseConfigurationConfigMap, ...ConfigMapKey."""

FieldPath = tuple[str, ...]
FieldValues = Mapping[FieldPath, Any]


@dataclass(frozen=True)
class PlayHost(HostIdentity):
    """A host of the play. ``lacks`` says why it is not, and will not be, as the profile wants; None where it is.

    ``fields`` are all that the profile sets on it, by path of keys; ``main_file``: they are in the file that
    kubeadm makes anew.
    """

    kubeadm: bool = False
    main_file: bool = False
    fields: FieldValues | None = None
    lacks: str | None = None


class ConfigMapPermission(Enum):
    """What the user says: nothing, which takes every node's agreement; write it all the same; leave it."""

    WHERE_ALL_AGREE = None
    GIVEN = True
    DENIED = False

    def reasons(self, hosts: Sequence[PlayHost], others: Sequence[str]) -> tuple[str, ...]:
        """Why nothing is written; ``others`` are the Nodes that are no host of the play."""
        if self is ConfigMapPermission.GIVEN:
            return ()
        if self is ConfigMapPermission.DENIED:
            return ("colocation_kubeadm_edit_configmap is false",)
        strangers = tuple(f"{name}: not a host of this run" for name in others)
        return strangers + tuple(f"{host.name}: {host.lacks}" for host in hosts if host.lacks)


_FIELDS_BY_KEY = {field.key: field for field in FIELDS}


def common_fields(hosts: Sequence[PlayHost]) -> tuple[dict[FieldPath, Any], tuple[FieldPath, ...]]:
    """(fields that all hosts want alike, paths of the others): what depends on a node is no cluster's business."""
    alike: dict[FieldPath, Any] = {}
    paths = dict.fromkeys(keys for host in hosts for keys in host.fields or {})
    for keys in paths:
        wanted = [(host.fields or {}).get(keys) for host in hosts]
        if all(differing_path(wanted[0], each) is None for each in wanted):
            alike[keys] = wanted[0]
    return alike, tuple(keys for keys in paths if keys not in alike)


def field_differences(document: Mapping[str, Any], wanted: FieldValues) -> Iterator[tuple[FieldPath, Any, Any]]:
    """(keys, value there or None, wanted) of what a document says otherwise or not at all.

    A default is no answer: kubeadm has some of its own (componentconfigs/kubelet.go), which kubelet has not.
    """
    for keys, value in wanted.items():
        found = value_at(document, keys)
        if not _FIELDS_BY_KEY[keys[0]].means(found, value):
            yield keys, found, value


def describe_node(facts: NodeFacts, snapshot: Mapping[str, Any], profile: Profile) -> dict[str, Any]:
    """What node_align tells of a node for the cluster's sake."""
    inputs = PlanInputs(facts, resolve_profile(facts, profile))
    running = facts.kubelet.start.running
    return {
        **describe_host(snapshot["system"], flag_text(running, "--hostname-override")),
        "kubeadm": facts.layout.name == "kubeadm",
        "main_file": keeps_main_file(inputs),
        "fields": [{"keys": list(keys), "value": value} for _field, keys, value in inputs.desired],
    }


def parse_host(
    name: str, observed: Mapping[str, Any] | None, aligned: Mapping[str, Any] | None, *, planned: bool
) -> PlayHost:
    """The host of the results that observe and align registered. ``planned``: what has a plan counts as aligned."""
    said = (observed or {}).get("kubeadm")
    if observed is None or said is None:
        return PlayHost(name, lacks=NOT_OBSERVED)
    return PlayHost(
        **vars(parse_identity(name, said)),
        kubeadm=said["kubeadm"],
        main_file=said["main_file"],
        fields={tuple(each["keys"]): each["value"] for each in said["fields"]},
        lacks=_misalignment(observed, aligned or {}, planned=planned),
    )


def parse_restored_host(name: str, restored: Mapping[str, Any] | None) -> PlayHost:
    """The host of the result that restore registered."""
    said = (restored or {}).get("node")
    if restored is None or said is None or restored.get("failed"):
        return PlayHost(name, lacks="it was not put back in this run")
    pending = len(restored.get("pending", ()))
    return PlayHost(
        **vars(parse_identity(name, said)),
        lacks=f"{pending} setting(s) of it are still to be put back" if pending else None,
    )


def _misalignment(observed: Mapping[str, Any], aligned: Mapping[str, Any], *, planned: bool) -> str | None:
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
