# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cluster made by kubeadm and the hosts of a play say of themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

NAMESPACE = "kube-system"
CONFIG_MAP, KEY = "kubelet-config", "kubelet"
"""cmd/kubeadm/app/constants/constants.go: KubeletBaseConfigurationConfigMap, ...ConfigMapKey."""

Keys = tuple[str, ...]
Fields = Mapping[Keys, Any]


class ClusterError(Exception):
    """Why nothing was written to the cluster; ``remedy`` is a sentence that says what to do."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(f"{message.rstrip('.')}. {remedy}")


@dataclass(frozen=True)
class Host:
    """A host of the play. ``lacks`` says why it is not, and will not be, as the profile wants; None where it is.

    ``fields`` are all that the profile sets on it, by path of keys; ``main_file``: they are in the file that
    kubeadm makes anew.
    """

    name: str
    node_names: tuple[str, ...] = ()
    machine_id_sha256: str | None = None
    boot_id: str | None = None
    kubeadm: bool = False
    main_file: bool = False
    fields: Fields | None = None
    lacks: str | None = None


@dataclass(frozen=True)
class ClusterNode:
    """A Node of the API. The ids are those of its kubelet's last start."""

    name: str
    machine_id: str
    boot_id: str
    kubelet: tuple[int, int] | None


@dataclass(frozen=True)
class ConfigMap:
    """A ConfigMap as it was read; ``version`` is its resourceVersion."""

    name: str
    data: Mapping[str, str]
    version: str

    @property
    def place(self) -> str:
        """As messages name it."""
        return f"ConfigMap {NAMESPACE}/{self.name}"
