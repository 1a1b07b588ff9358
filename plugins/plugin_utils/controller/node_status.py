# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The subresource status of a Node, which kubernetes.core has no way to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..kubeadm.model import ClusterError


def patch_node_status(kubeconfig: str, name: str, body: Mapping[str, Any], *, dry_run: bool) -> None:
    """Merge into a Node's status; the client's own exceptions, and ClusterError without its library."""
    try:
        from kubernetes import client, config
    except ImportError as error:
        raise ClusterError(
            "The Python library kubernetes is needed on the controller to clean a Node's status",
            "Install it for the Python that runs ansible, and run again.",
        ) from error
    api = client.CoreV1Api(config.new_client_from_config(kubeconfig))
    # The answer is not read: the client refuses Nodes that lack what it takes for required.
    api.patch_node_status(name, dict(body), _preload_content=False, **({"dry_run": "All"} if dry_run else {}))
