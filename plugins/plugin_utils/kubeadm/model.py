# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cluster made by kubeadm and the hosts of a play say of themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..kube.identity import HostIdentity

NAMESPACE = "kube-system"
CONFIG_MAP, KEY = "kubelet-config", "kubelet"
"""cmd/kubeadm/app/constants/constants.go: KubeletBaseConfigurationConfigMap, ...ConfigMapKey."""

Keys = tuple[str, ...]
Fields = Mapping[Keys, Any]


@dataclass(frozen=True)
class Host(HostIdentity):
    """A host of the play. ``lacks`` says why it is not, and will not be, as the profile wants; None where it is.

    ``fields`` are all that the profile sets on it, by path of keys; ``main_file``: they are in the file that
    kubeadm makes anew.
    """

    kubeadm: bool = False
    main_file: bool = False
    fields: Fields | None = None
    lacks: str | None = None
