# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The way back of the cluster's kubelet-config: what the collection changed, and not what somebody else did since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..edit.document_changes import REMOVE
from ..facts.config_file import value_at
from ..findings.kubeadm import kept
from ..findings.model import Finding
from ..kube.errors import ClusterError
from ..kube.identity import match_nodes, other_nodes
from ..kube.objects import ConfigMap
from .journal import Field, Journal, settled
from .model import KEY, Host
from .permission import Permission
from .plan import FieldChange, edited, parsed
from .seen import Seen


@dataclass(frozen=True)
class Return:
    """``after`` is the text to put back; None where there is nothing of ours in it. ``forget``: the journal may go."""

    config_map: ConfigMap | None = None
    after: str | None = None
    changes: tuple[FieldChange, ...] = ()
    forget: bool = False
    reasons: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


def make_return(hosts: Sequence[Host], seen: Seen, permission: Permission) -> Return:
    """What to put back once the hosts are; ClusterError where that is not for us to say."""
    config_map = seen.config_map
    owners = match_nodes([host for host in hosts if host.node_names], seen.nodes)
    if seen.journal is None:
        return Return(config_map)
    if config_map is None:
        return Return(forget=True)
    document = parsed(config_map)
    journal = settled(seen.journal, config_map)
    changes = _changes(config_map, document, journal) if journal else ()
    if journal is None or not changes:
        return Return(config_map, forget=True)
    reasons = permission.reasons(hosts, other_nodes(seen.nodes, owners))
    if reasons:
        told = kept(config_map.place, tuple(map(str, changes)), reasons)
        return Return(config_map, reasons=reasons, findings=told)
    return Return(config_map, _text(config_map, journal, changes), changes, forget=True)


def _text(config_map: ConfigMap, journal: Journal, changes: Sequence[FieldChange]) -> str:
    """The original byte for byte where nobody wrote since; else each field by itself."""
    untouched = config_map.name == journal.config_map and config_map.data[KEY] == journal.committed
    if untouched and journal.original is not None:
        return journal.original
    return edited(config_map, {each.keys: REMOVE if each.after is None else each.after for each in changes})


def _changes(config_map: ConfigMap, document: Mapping[str, Any], journal: Journal) -> tuple[FieldChange, ...]:
    changes, foreign = [], []
    for each in journal.fields:
        now = value_at(document, each.keys)
        if now == each.after:
            changes.append(FieldChange(each.keys, now, each.before))
        elif now != each.before:
            foreign.append(_conflict(each, now))
    if foreign:
        raise ClusterError(
            f"{config_map.place} was changed by somebody else since: {'; '.join(foreign)}",
            "Nothing of it was put back. Undo that change and run this again, or leave it as it is with"
            " colocation_kubeadm_edit_configmap: false.",
        )
    return tuple(change for change in changes if change.before != change.after)


def _conflict(each: Field, now: object) -> str:
    before, after, found = ("unset" if value is None else value for value in (each.before, each.after, now))
    return f"{'.'.join(each.keys)} was {before}, the collection made it {after}, now it is {found}"
