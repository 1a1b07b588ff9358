# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plan changes of a cluster's kubelet-config and their restore, from the observed state to changes of objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..edit.document_changes import REMOVE
from ..edit.kubelet_text import edit_kubelet, read_kubelet
from ..edit.text_errors import EditError, ParseError, UneditableFile
from ..facts.config_file import value_at
from ..kube.api_errors import ClusterError
from ..kube.dynamic_client import Client
from ..kube.identity import ClusterNode, match_nodes, parse_node, unmatched_nodes
from ..kube.last_applied import record_change
from ..kube.object_changes import ObjectChange, deletion_of, text_change
from ..kube.objects import ConfigMap, Ref
from ..rules.kubeadm_upgrade import config_conflicting, config_differs, config_missing, config_not_restored
from ..rules.rule_types import Finding
from . import kubelet_config_journal
from .kubelet_config_journal import JournalField, KubeadmState, KubeletConfigJournal, drop_unwritten, record_fields
from .play_hosts import (
    CONFIG_KEY,
    CONFIG_MAP,
    NAMESPACE,
    ConfigMapPermission,
    FieldPath,
    PlayHost,
    common_fields,
    field_differences,
)


@dataclass(frozen=True)
class FieldChange:
    """A change of one value of kubelet-config; None where the value is unset."""

    keys: FieldPath
    before: Any
    after: Any

    def to_result(self) -> dict[str, Any]:
        return {"setting": ".".join(self.keys), "before": self.before, "after": self.after}

    def __str__(self) -> str:
        before, after = ("unset" if value is None else value for value in (self.before, self.after))
        return f"{'.'.join(self.keys)}: {before} -> {after}"


@dataclass(frozen=True)
class ClusterPlan:
    """``after`` is the new text of the key kubelet; None where nothing is written, for the ``reasons`` if any."""

    config_map: ConfigMap | None = None
    after: str | None = None
    changes: tuple[FieldChange, ...] = ()
    journal: KubeletConfigJournal | None = None
    reasons: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


def plan_cluster(hosts: Sequence[PlayHost], state: KubeadmState, permission: ConfigMapPermission) -> ClusterPlan:
    """The plan for observed hosts.

    ClusterError where they are not Nodes of the cluster, UneditableFile where the text cannot be changed safely.
    """
    config_map = state.config_map
    kubeadm_hosts = [host for host in hosts if host.kubeadm and host.fields is not None]
    owners = match_nodes(kubeadm_hosts, state.nodes)
    if not any(host.main_file and host.fields for host in kubeadm_hosts):
        return ClusterPlan(config_map, reasons=("no host of this run gets its settings from kubelet-config",))
    if config_map is None:
        return _plan_without_config_map(permission)
    desired, differing = common_fields(kubeadm_hosts)
    document = parse_kubelet_config(config_map)
    changes = tuple(FieldChange(keys, before, after) for keys, before, after in field_differences(document, desired))
    findings = config_conflicting(config_map.place, differing)
    if not changes:
        return ClusterPlan(config_map, findings=findings)
    reasons = permission.reasons(hosts, unmatched_nodes(state.nodes, owners))
    if reasons:
        differs = config_differs(config_map.place, tuple(map(str, changes)), reasons)
        return ClusterPlan(config_map, reasons=reasons, findings=(*differs, *findings))
    values = {change.keys: change.after for change in changes}
    after = edit_kubelet_config(config_map, values)
    journal = record_fields(drop_unwritten(state.journal, config_map), config_map, after, values)
    return ClusterPlan(config_map, after, changes, journal, findings=findings)


def _plan_without_config_map(permission: ConfigMapPermission) -> ClusterPlan:
    if permission is ConfigMapPermission.GRANTED:
        raise ClusterError(
            "colocation_kubeadm_edit_configmap is true, and the cluster has no kubelet-config in kube-system",
            "Nothing was changed. Set it to false if kubeadm did not create the cluster.",
        )
    return ClusterPlan(reasons=("the cluster has no kubelet-config",), findings=config_missing())


def parse_kubelet_config(config_map: ConfigMap) -> Mapping[str, Any]:
    """Kubelet's configuration in a ConfigMap."""
    if CONFIG_KEY not in config_map.data:
        raise ClusterError(
            f"{config_map.place} has no key {CONFIG_KEY}", "Nothing was changed. Restore the key, kubeadm needs it."
        )
    try:
        return read_kubelet(config_map.data[CONFIG_KEY])
    except ParseError as error:
        raise UneditableFile(f"{config_map.place}, key {CONFIG_KEY}", error) from error


def edit_kubelet_config(config_map: ConfigMap, changes: Mapping[FieldPath, Any]) -> str:
    """The ConfigMap's text with changed values; UneditableFile names the line that cannot be edited."""
    try:
        return edit_kubelet(config_map.data[CONFIG_KEY], changes)
    except EditError as error:
        raise UneditableFile(f"{config_map.place}, key {CONFIG_KEY}", error) from error


@dataclass(frozen=True)
class ClusterRestorePlan:
    """``after`` is the restored text; None without values of the collection. ``forget``: the journal is deleted."""

    config_map: ConfigMap | None = None
    after: str | None = None
    changes: tuple[FieldChange, ...] = ()
    forget: bool = False
    reasons: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


def plan_cluster_restore(
    hosts: Sequence[PlayHost], state: KubeadmState, permission: ConfigMapPermission
) -> ClusterRestorePlan:
    """The restore after that of the hosts; ClusterError for another cluster, or fields that other clients changed."""
    config_map = state.config_map
    owners = match_nodes([host for host in hosts if host.node_names], state.nodes)
    if state.journal is None:
        return ClusterRestorePlan(config_map)
    if config_map is None:
        return ClusterRestorePlan(forget=True)
    document = parse_kubelet_config(config_map)
    journal = drop_unwritten(state.journal, config_map)
    changes = _restored_fields(config_map, document, journal) if journal else ()
    if journal is None or not changes:
        return ClusterRestorePlan(config_map, forget=True)
    reasons = permission.reasons(hosts, unmatched_nodes(state.nodes, owners))
    if reasons:
        findings = config_not_restored(config_map.place, tuple(map(str, changes)), reasons)
        return ClusterRestorePlan(config_map, reasons=reasons, findings=findings)
    return ClusterRestorePlan(config_map, _restored_text(config_map, journal, changes), changes, forget=True)


def _restored_text(config_map: ConfigMap, journal: KubeletConfigJournal, changes: Sequence[FieldChange]) -> str:
    """The original text, if no other client changed it since; otherwise the current text with each field restored."""
    untouched = config_map.name == journal.config_map and config_map.data[CONFIG_KEY] == journal.committed
    if untouched and journal.original is not None:
        return journal.original
    return edit_kubelet_config(
        config_map, {change.keys: REMOVE if change.after is None else change.after for change in changes}
    )


def _restored_fields(
    config_map: ConfigMap, document: Mapping[str, Any], journal: KubeletConfigJournal
) -> tuple[FieldChange, ...]:
    changes, foreign = [], []
    for field in journal.fields:
        current = value_at(document, field.keys)
        if current == field.after:
            changes.append(FieldChange(field.keys, current, field.before))
        elif current != field.before:
            foreign.append(_describe_conflict(field, current))
    if foreign:
        raise ClusterError(
            f"Another client changed {config_map.place} since the last run: {'; '.join(foreign)}",
            "Nothing in it was restored. Undo that change and run again, or set colocation_kubeadm_edit_configmap:"
            " false to leave it as it is.",
        )
    return tuple(change for change in changes if change.before != change.after)


def _describe_conflict(field: JournalField, value_now: object) -> str:
    before, after, current = ("unset" if value is None else value for value in (field.before, field.after, value_now))
    return f"{'.'.join(field.keys)} was {before}, the collection set {after}, now it is {current}"


JOURNAL_REF = Ref("v1", "ConfigMap", kubelet_config_journal.JOURNAL_NAME, NAMESPACE)


@dataclass(frozen=True)
class KubeadmCluster:
    """Reads the state of a cluster that kubeadm may have created."""

    client: Client

    def read_state(self) -> KubeadmState:
        """The Nodes, kubelet-config and the journal: the input of the plans."""
        nodes = tuple(map(parse_node, self.client.list_all("v1", "Node")))
        record = self._config_map(kubelet_config_journal.JOURNAL_NAME)
        version = record.version if record else None
        return KubeadmState(nodes, self._kubelet_config(nodes), kubelet_config_journal.parse_journal(record), version)

    def _kubelet_config(self, nodes: tuple[ClusterNode, ...]) -> ConfigMap | None:
        """Before 1.24 each minor version has its own; that of the newest kubelet belongs to the control plane.

        cmd/kubeadm/app/constants/constants.go, GetKubeletConfigMapName.
        """
        versions = sorted({node.kubelet for node in nodes if node.kubelet}, reverse=True)
        for name in (CONFIG_MAP, *(f"{CONFIG_MAP}-{major}.{number}" for major, number in versions)):
            config_map = self._config_map(name)
            if config_map:
                return config_map
        return None

    def _config_map(self, name: str) -> ConfigMap | None:
        return ConfigMap.of(self.client.find(Ref("v1", "ConfigMap", name, NAMESPACE)))


def plan_changes(plan: ClusterPlan, version: str | None) -> tuple[ObjectChange, ...]:
    """The change of the journal, which has this version, and then that of kubelet-config."""
    if plan.config_map is None or plan.journal is None or plan.after is None:
        return ()
    record = record_change(JOURNAL_REF, kubelet_config_journal.render_journal(plan.journal), version)
    return record, text_change(plan.config_map, CONFIG_KEY, plan.after)


def restore_changes(plan: ClusterRestorePlan) -> tuple[ObjectChange, ...]:
    """The change of kubelet-config, and then the deletion of the journal, which is not needed any more."""
    changes = (
        [text_change(plan.config_map, CONFIG_KEY, plan.after)] if plan.config_map and plan.after is not None else []
    )
    return (*changes, *([deletion_of(JOURNAL_REF, None)] if plan.forget else []))
