# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of the profile may stand in a configuration that every node of the cluster gets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..edit.document_changes import differing_path
from ..facts.config_file import value_at
from ..profile.kubelet_fields import FIELDS
from .model import Fields, Host, Keys

_FIELDS = {field.key: field for field in FIELDS}


def common(hosts: Sequence[Host]) -> tuple[dict[Keys, Any], tuple[Keys, ...]]:
    """(fields that all hosts want alike, paths of the others): what depends on a node is no cluster's business."""
    alike: dict[Keys, Any] = {}
    paths = dict.fromkeys(keys for host in hosts for keys in host.fields or {})
    for keys in paths:
        wanted = [(host.fields or {}).get(keys) for host in hosts]
        if all(differing_path(wanted[0], each) is None for each in wanted):
            alike[keys] = wanted[0]
    return alike, tuple(keys for keys in paths if keys not in alike)


def differing(document: Mapping[str, Any], wanted: Fields) -> Iterator[tuple[Keys, Any, Any]]:
    """(keys, value there or None, wanted) of what a document says otherwise or not at all.

    A default is no answer: kubeadm has some of its own (componentconfigs/kubelet.go), which kubelet has not.
    """
    for keys, value in wanted.items():
        found = value_at(document, keys)
        if not _FIELDS[keys[0]].means(found, value):
            yield keys, found, value
