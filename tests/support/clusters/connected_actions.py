# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugins that send their requests to an API server in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.api_errors import ErrorContext
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.dynamic_client import Client
from ansible_collections.volcano.colocation.plugins.plugin_utils.node.cluster_action import ClusterAction
from ansible_collections.volcano.colocation.tests.support.clusters.memory_api_server import Server


def connect_actions(server: Server, directory: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Connect all actions to the server; the path of a kubeconfig for their option."""
    kubeconfig = directory / "admin.conf"
    kubeconfig.write_text("apiVersion: v1\nkind: Config\n", encoding="utf-8")

    def connect(_action: ClusterAction, context: ErrorContext) -> Client:
        return server.client(context)

    monkeypatch.setattr(ClusterAction, "connect", connect)
    return str(kubeconfig)
