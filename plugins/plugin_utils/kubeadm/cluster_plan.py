# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changing the cluster's kubelet-config and restoring it: the plans, what they read, and the changes they result in."""

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
    """A value of kubelet-config that is to be another; None for one that is not there."""

    keys: FieldPath
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
    journal: KubeletConfigJournal | None = None
    reasons: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


def plan_cluster(hosts: Sequence[PlayHost], seen: KubeadmState, permission: ConfigMapPermission) -> ClusterPlan:
    """The plan for hosts that were looked at.

    ClusterError where it is not their cluster, UneditableFile where the text cannot be changed safely.
    """
    config_map = seen.config_map
    concerned = [host for host in hosts if host.kubeadm and host.fields is not None]
    owners = match_nodes(concerned, seen.nodes)
    if not any(host.main_file and host.fields for host in concerned):
        return ClusterPlan(config_map, reasons=("no host of this run gets its settings from it",))
    if config_map is None:
        return _plan_without_config_map(permission)
    wanted, left_out = common_fields(concerned)
    document = parse_kubelet_config(config_map)
    changes = tuple(FieldChange(keys, before, after) for keys, before, after in field_differences(document, wanted))
    findings = config_conflicting(config_map.place, left_out)
    if not changes:
        return ClusterPlan(config_map, findings=findings)
    reasons = permission.reasons(hosts, unmatched_nodes(seen.nodes, owners))
    if reasons:
        told = config_differs(config_map.place, tuple(map(str, changes)), reasons)
        return ClusterPlan(config_map, reasons=reasons, findings=(*told, *findings))
    values = {each.keys: each.after for each in changes}
    after = edit_kubelet_config(config_map, values)
    kept = record_fields(drop_unwritten(seen.journal, config_map), config_map, after, values)
    return ClusterPlan(config_map, after, changes, kept, findings=findings)


def _plan_without_config_map(permission: ConfigMapPermission) -> ClusterPlan:
    if permission is ConfigMapPermission.GIVEN:
        raise ClusterError(
            "colocation_kubeadm_edit_configmap is true, and the cluster has no kubelet-config in kube-system",
            "Nothing was changed. Set it to false where kubeadm did not make the cluster.",
        )
    return ClusterPlan(reasons=("the cluster has none",), findings=config_missing())


def parse_kubelet_config(config_map: ConfigMap) -> Mapping[str, Any]:
    """The configuration in a ConfigMap."""
    if CONFIG_KEY not in config_map.data:
        raise ClusterError(f"{config_map.place} has no key {CONFIG_KEY}", "Nothing was changed. kubeadm needs it too.")
    try:
        return read_kubelet(config_map.data[CONFIG_KEY])
    except ParseError as error:
        raise UneditableFile(f"{config_map.place}, key {CONFIG_KEY}", error) from error


def edit_kubelet_config(config_map: ConfigMap, changes: Mapping[FieldPath, Any]) -> str:
    """Its text with some values changed; UneditableFile names the line that cannot be."""
    try:
        return edit_kubelet(config_map.data[CONFIG_KEY], changes)
    except EditError as error:
        raise UneditableFile(f"{config_map.place}, key {CONFIG_KEY}", error) from error


@dataclass(frozen=True)
class ClusterRestorePlan:
    """``after`` is the text to put back; None where there is nothing of ours in it. ``forget``: the journal may go."""

    config_map: ConfigMap | None = None
    after: str | None = None
    changes: tuple[FieldChange, ...] = ()
    forget: bool = False
    reasons: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


def plan_cluster_restore(
    hosts: Sequence[PlayHost], seen: KubeadmState, permission: ConfigMapPermission
) -> ClusterRestorePlan:
    """What to put back once the hosts are; ClusterError where that is not for us to say."""
    config_map = seen.config_map
    owners = match_nodes([host for host in hosts if host.node_names], seen.nodes)
    if seen.journal is None:
        return ClusterRestorePlan(config_map)
    if config_map is None:
        return ClusterRestorePlan(forget=True)
    document = parse_kubelet_config(config_map)
    journal = drop_unwritten(seen.journal, config_map)
    changes = _restored_fields(config_map, document, journal) if journal else ()
    if journal is None or not changes:
        return ClusterRestorePlan(config_map, forget=True)
    reasons = permission.reasons(hosts, unmatched_nodes(seen.nodes, owners))
    if reasons:
        told = config_not_restored(config_map.place, tuple(map(str, changes)), reasons)
        return ClusterRestorePlan(config_map, reasons=reasons, findings=told)
    return ClusterRestorePlan(config_map, _restored_text(config_map, journal, changes), changes, forget=True)


def _restored_text(config_map: ConfigMap, journal: KubeletConfigJournal, changes: Sequence[FieldChange]) -> str:
    """The original byte for byte where nobody wrote since; else each field by itself."""
    untouched = config_map.name == journal.config_map and config_map.data[CONFIG_KEY] == journal.committed
    if untouched and journal.original is not None:
        return journal.original
    return edit_kubelet_config(
        config_map, {each.keys: REMOVE if each.after is None else each.after for each in changes}
    )


def _restored_fields(
    config_map: ConfigMap, document: Mapping[str, Any], journal: KubeletConfigJournal
) -> tuple[FieldChange, ...]:
    changes, foreign = [], []
    for each in journal.fields:
        now = value_at(document, each.keys)
        if now == each.after:
            changes.append(FieldChange(each.keys, now, each.before))
        elif now != each.before:
            foreign.append(_describe_conflict(each, now))
    if foreign:
        raise ClusterError(
            f"{config_map.place} was changed by somebody else since: {'; '.join(foreign)}",
            "Nothing of it was put back. Undo that change and run this again, or leave it as it is with"
            " colocation_kubeadm_edit_configmap: false.",
        )
    return tuple(change for change in changes if change.before != change.after)


def _describe_conflict(each: JournalField, now: object) -> str:
    before, after, found = ("unset" if value is None else value for value in (each.before, each.after, now))
    return f"{'.'.join(each.keys)} was {before}, the collection made it {after}, now it is {found}"


JOURNAL_REF = Ref("v1", "ConfigMap", kubelet_config_journal.JOURNAL_NAME, NAMESPACE)


@dataclass(frozen=True)
class KubeadmCluster:
    """A cluster that kubeadm may have made."""

    client: Client

    def seen(self) -> KubeadmState:
        """All that is read before anything is planned."""
        nodes = tuple(map(parse_node, self.client.list_all("v1", "Node")))
        kept = self._config_map(kubelet_config_journal.JOURNAL_NAME)
        version = kept.version if kept else None
        return KubeadmState(nodes, self._kubelet_config(nodes), kubelet_config_journal.parse_journal(kept), version)

    def _kubelet_config(self, nodes: tuple[ClusterNode, ...]) -> ConfigMap | None:
        """Before 1.24 there is one for each minor version, and that of the newest kubelet is the control plane's.

        cmd/kubeadm/app/constants/constants.go, GetKubeletConfigMapName.
        """
        versions = sorted({node.kubelet for node in nodes if node.kubelet}, reverse=True)
        for name in (CONFIG_MAP, *(f"{CONFIG_MAP}-{major}.{number}" for major, number in versions)):
            found = self._config_map(name)
            if found:
                return found
        return None

    def _config_map(self, name: str) -> ConfigMap | None:
        return ConfigMap.of(self.client.find(Ref("v1", "ConfigMap", name, NAMESPACE)))


def plan_changes(plan: ClusterPlan, version: str | None) -> tuple[ObjectChange, ...]:
    """The journal, which has this version, and then the kubelet-config."""
    if plan.config_map is None or plan.journal is None or plan.after is None:
        return ()
    record = record_change(JOURNAL_REF, kubelet_config_journal.render_journal(plan.journal), version)
    return record, text_change(plan.config_map, CONFIG_KEY, plan.after)


def restore_changes(found: ClusterRestorePlan) -> tuple[ObjectChange, ...]:
    """The kubelet-config, and then the journal, which is of no use any more."""
    changes = (
        [text_change(found.config_map, CONFIG_KEY, found.after)] if found.config_map and found.after is not None else []
    )
    return (*changes, *([deletion_of(JOURNAL_REF, None)] if found.forget else []))
