# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""scheduler_usage_info, which runs only on the controller: read the load of Nodes as Volcano's scheduler does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..plugin_utils.edit.readers import read_yaml
from ..plugin_utils.edit.text_errors import EditError, UneditableFile
from ..plugin_utils.kube.dynamic_client import Client
from ..plugin_utils.kube.objects import ConfigMap, Object, Ref
from ..plugin_utils.node.cluster_action import ClusterAction
from ..plugin_utils.node.prometheus_client import PrometheusClient, find_source
from ..plugin_utils.node.transport import Node
from ..plugin_utils.profile.argspec import SCHEDULER_USAGE_INFO
from ..plugin_utils.report.facts_document import render_findings, to_builtins
from ..plugin_utils.scheduler.usage_data import NoUsageData, read_usage
from ..plugin_utils.scheduler.usage_findings import NodeNames, lint_usage, render_usage, unreachable


class ActionModule(ClusterAction):
    ARGUMENTS = SCHEDULER_USAGE_INFO

    UNNAMED = "colocation_kubeconfig is not set, and Nodes are listed by an API server"
    PAGE = "docs/scheduler.md"

    def on_cluster(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        client = self.client(arguments)
        source = find_source(arguments["metrics"], _configuration(client, arguments))
        nodes = [NodeNames.of(item) for item in client.list_all("v1", "Node")]
        result = {"changed": False, "address": source.public_address}
        try:
            data = read_usage(PrometheusClient(source, client).ask)
        except NoUsageData as error:
            return {
                **result,
                "usage": [],
                "findings": render_findings([unreachable(source.public_address, str(error))]),
            }
        findings = render_findings(lint_usage(data, nodes))
        return dict(to_builtins({**result, "usage": render_usage(data, nodes), "findings": findings}))


def _configuration(client: Client, arguments: Mapping[str, Any]) -> Object:
    """The scheduler's configuration; empty where Volcano is not installed yet."""
    name, key = arguments["configmap"], arguments["configmap_key"]
    conf = ConfigMap.of(client.find(Ref("v1", "ConfigMap", name, arguments["namespace"])))
    try:
        document: Object = read_yaml(conf.data.get(key, "")) if conf else {}
    except EditError as error:
        raise UneditableFile(f"ConfigMap {arguments['namespace']}/{name}, key {key}", error) from error
    return document
