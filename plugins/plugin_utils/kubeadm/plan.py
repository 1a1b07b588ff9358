# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the cluster's kubelet-config is written, with what, and what is said of it otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..edit.kubelet_text import edit_kubelet, read_kubelet
from ..edit.text_errors import EditError, ParseError, UneditableFile
from ..findings.kubeadm import differs, missing, uneven
from ..findings.model import Finding
from ..kube.errors import ClusterError
from ..kube.identity import match_nodes, other_nodes
from ..kube.objects import ConfigMap
from .fields import common, differing
from .journal import Journal, noted, settled
from .model import KEY, Host, Keys
from .permission import Permission
from .seen import Seen


@dataclass(frozen=True)
class FieldChange:
    """A value of kubelet-config that is to be another; None for one that is not there."""

    keys: Keys
    before: Any
    after: Any

    def published(self) -> dict[str, Any]:
        return {"setting": ".".join(self.keys), "before": self.before, "after": self.after}

    def __str__(self) -> str:
        before, after = ("unset" if value is None else value for value in (self.before, self.after))
        return f"{'.'.join(self.keys)}: {before} -> {after}"


@dataclass(frozen=True)
class ClusterPlan:
    """``after`` is the new text of the key kubelet; None where nothing is written, ``reasons`` may say why."""

    config_map: ConfigMap | None = None
    after: str | None = None
    changes: tuple[FieldChange, ...] = ()
    journal: Journal | None = None
    reasons: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


def make_cluster_plan(hosts: Sequence[Host], seen: Seen, permission: Permission) -> ClusterPlan:
    """The plan for hosts that were looked at.

    ClusterError where it is not their cluster, UneditableFile where the text cannot be changed safely.
    """
    config_map = seen.config_map
    concerned = [host for host in hosts if host.kubeadm and host.fields is not None]
    owners = match_nodes(concerned, seen.nodes)
    if not any(host.main_file and host.fields for host in concerned):
        return ClusterPlan(config_map, reasons=("no host of this run gets its settings from it",))
    if config_map is None:
        return _nowhere(permission)
    wanted, left_out = common(concerned)
    document = parsed(config_map)
    changes = tuple(FieldChange(keys, before, after) for keys, before, after in differing(document, wanted))
    findings = uneven(config_map.place, left_out)
    if not changes:
        return ClusterPlan(config_map, findings=findings)
    reasons = permission.reasons(hosts, other_nodes(seen.nodes, owners))
    if reasons:
        told = differs(config_map.place, tuple(map(str, changes)), reasons)
        return ClusterPlan(config_map, reasons=reasons, findings=(*told, *findings))
    values = {each.keys: each.after for each in changes}
    after = edited(config_map, values)
    kept = noted(settled(seen.journal, config_map), config_map, after, values)
    return ClusterPlan(config_map, after, changes, kept, findings=findings)


def _nowhere(permission: Permission) -> ClusterPlan:
    if permission is Permission.GIVEN:
        raise ClusterError(
            "colocation_kubeadm_edit_configmap is true, and the cluster has no kubelet-config in kube-system",
            "Nothing was changed. Set it to false where kubeadm did not make the cluster.",
        )
    return ClusterPlan(reasons=("the cluster has none",), findings=missing())


def parsed(config_map: ConfigMap) -> Mapping[str, Any]:
    """The configuration in a ConfigMap."""
    if KEY not in config_map.data:
        raise ClusterError(f"{config_map.place} has no key {KEY}", "Nothing was changed. kubeadm needs it too.")
    try:
        return read_kubelet(config_map.data[KEY])
    except ParseError as error:
        raise UneditableFile(f"{config_map.place}, key {KEY}", error) from error


def edited(config_map: ConfigMap, changes: Mapping[Keys, Any]) -> str:
    """Its text with some values changed; UneditableFile names the line that cannot be."""
    try:
        return edit_kubelet(config_map.data[KEY], changes)
    except EditError as error:
        raise UneditableFile(f"{config_map.place}, key {KEY}", error) from error
