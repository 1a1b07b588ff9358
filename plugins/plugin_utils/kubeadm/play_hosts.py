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
    """A host of the play. ``lacks`` says why it does not get the state of the profile; None where it does.

    ``fields`` are all fields that the profile sets on it, by path of keys; ``main_file``: they are in the file that
    kubeadm writes again.
    """

    kubeadm: bool = False
    main_file: bool = False
    fields: FieldValues | None = None
    lacks: str | None = None


class ConfigMapPermission(Enum):
    """The user's choice: not set, write only if all nodes agree; true, always write; false, never write."""

    WHERE_ALL_AGREE = None
    GRANTED = True
    DENIED = False

    def reasons(self, hosts: Sequence[PlayHost], unmatched: Sequence[str]) -> tuple[str, ...]:
        """Why nothing is written; ``unmatched`` are the Nodes that are not hosts of the play."""
        if self is ConfigMapPermission.GRANTED:
            return ()
        if self is ConfigMapPermission.DENIED:
            return ("colocation_kubeadm_edit_configmap is false",)
        foreign = tuple(f"{name}: not a host of this run" for name in unmatched)
        return foreign + tuple(f"{host.name}: {host.lacks}" for host in hosts if host.lacks)


_FIELDS_BY_KEY = {field.key: field for field in FIELDS}


def common_fields(hosts: Sequence[PlayHost]) -> tuple[dict[FieldPath, Any], tuple[FieldPath, ...]]:
    """(fields with the same value on all hosts, paths of the other fields, which depend on the node)."""
    alike: dict[FieldPath, Any] = {}
    paths = dict.fromkeys(keys for host in hosts for keys in host.fields or {})
    for keys in paths:
        values = [(host.fields or {}).get(keys) for host in hosts]
        if all(differing_path(values[0], value) is None for value in values):
            alike[keys] = values[0]
    return alike, tuple(keys for keys in paths if keys not in alike)


def field_differences(document: Mapping[str, Any], desired: FieldValues) -> Iterator[tuple[FieldPath, Any, Any]]:
    """(keys, current value or None, desired value) of the fields in which a document differs.

    A missing field differs even from kubelet's default: kubeadm has other defaults (componentconfigs/kubelet.go).
    """
    for keys, value in desired.items():
        current = value_at(document, keys)
        if not _FIELDS_BY_KEY[keys[0]].means(current, value):
            yield keys, current, value


def describe_node(facts: NodeFacts, snapshot: Mapping[str, Any], profile: Profile) -> dict[str, Any]:
    """What node_align reports about a node for the plan of kubelet-config."""
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
    """The host from the registered results of observe and align. ``planned``: a host with a plan counts as aligned."""
    description = (observed or {}).get("kubeadm")
    if observed is None or description is None:
        return PlayHost(name, lacks=NOT_OBSERVED)
    return PlayHost(
        **vars(parse_identity(name, description)),
        kubeadm=description["kubeadm"],
        main_file=description["main_file"],
        fields={tuple(entry["keys"]): entry["value"] for entry in description["fields"]},
        lacks=_misalignment(observed, aligned or {}, planned=planned),
    )


def parse_restored_host(name: str, restored: Mapping[str, Any] | None) -> PlayHost:
    """The host from the registered result of restore."""
    description = (restored or {}).get("node")
    if restored is None or description is None or restored.get("failed"):
        return PlayHost(name, lacks="it was not restored in this run")
    pending = len(restored.get("pending", ()))
    return PlayHost(
        **vars(parse_identity(name, description)),
        lacks=f"{pending} setting(s) of it are not restored yet" if pending else None,
    )


def _misalignment(observed: Mapping[str, Any], aligned: Mapping[str, Any], *, planned: bool) -> str | None:
    plan = observed["plan"]
    if plan["refusals"]:
        return "the profile cannot be applied to it"
    if plan["pending"]:
        return f"{len(plan['pending'])} setting(s) of it are pending"
    if "observation" not in observed:
        return None if observed["verdict"] == "aligned" else f"it is {observed['verdict']}"
    if planned:
        return None
    committed = (aligned.get("transaction") or {}).get("state") == "committed" and not aligned.get("failed")
    return None if committed else "its plan was not applied"
