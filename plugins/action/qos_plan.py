# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""qos_plan, which runs only on the controller: plan the data of the role's tasks from a profile and facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..module_utils.cgroup.kubelet_names import Driver
from ..plugin_utils.node.action_base import ColocationAction
from ..plugin_utils.node.transport import Node
from ..plugin_utils.profile.argspec import QOS_PLAN
from ..plugin_utils.profile.kubelet_fields import KUBE_RESERVED_CGROUP, SYSTEM_RESERVED_CGROUP
from ..plugin_utils.profile.validators import cgroup
from ..plugin_utils.settings.node_support import parse_node
from ..plugin_utils.settings.qos_profile import parse_qos_profile
from ..plugin_utils.settings.task_plan import plan_tasks, qos_plan_result


class ActionModule(ColocationAction):
    ARGUMENTS = QOS_PLAN

    def execute(self, node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
        named = {
            field.key: cgroup(field.option, arguments[field.option])
            for field in (SYSTEM_RESERVED_CGROUP, KUBE_RESERVED_CGROUP)
        }
        desired = {key: path for key, path in named.items() if path}
        qos_node = parse_node(arguments["facts"])
        if arguments["cgroup_driver"]:
            qos_node = replace(qos_node, kubelet=replace(qos_node.kubelet, driver=Driver(arguments["cgroup_driver"])))
        plan = plan_tasks(qos_node, parse_qos_profile(arguments["profile"]), desired)
        return {"changed": False, **qos_plan_result(plan)}
