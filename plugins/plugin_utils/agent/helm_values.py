# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values for upstream's Helm chart, for hosts that it supports: it has one DaemonSet, and no value for the driver.

Source: volcano installer/helm/chart/volcano/values.yaml and templates/agent.yaml.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from ..releases.minimum_versions import VOLCANO_BOTH_DRIVERS
from .module_options import DeployOptions
from .owned_objects import CNI_PLUGIN_DIRECTORY, POOL_LABEL
from .pools import Pool
from .probed_host import AgentHost

OWN_IMAGE_TAG_SINCE = (1, 15)
"""The first release with basic.agent_image_tag_version; before, the agent's image has the tag of all Volcano images."""


@dataclass(frozen=True)
class HelmValues:
    """``values`` as YAML, or the ``reason`` why the chart cannot be used; one of them is empty."""

    values: str = ""
    reason: str = ""


def render_helm_values(pools: Sequence[Pool], hosts: Sequence[AgentHost], options: DeployOptions) -> HelmValues:
    """The values for one pool. The chart selects its Nodes by the pool's label."""
    reason = "; ".join(_obstacles(pools, hosts, options))
    if reason:
        return HelmValues(reason=reason)
    return HelmValues(yaml.safe_dump(_chart_values(pools[0], options), sort_keys=False))


def _obstacles(pools: Sequence[Pool], hosts: Sequence[AgentHost], options: DeployOptions) -> list[str]:
    obstacles = []
    if len(pools) != 1:
        obstacles.append(f"the chart has one DaemonSet, and these hosts need {len(pools)}")
    if options.release < VOLCANO_BOTH_DRIVERS.minor and any(pool.kind.cgroup_root for pool in pools):
        obstacles.append("the chart has no agent_kube_cgroup_root before 1.14")
    for host in hosts:
        if host.hidden_driver:
            obstacles.append(
                f"{host.name}: the chart cannot set the driver, and the agent would detect a wrong one"
                f" ({host.hidden_driver})"
            )
        if host.paths.get(CNI_PLUGIN_DIRECTORY) == "missing":
            obstacles.append(f"{host.name}: the chart's pod does not start without {CNI_PLUGIN_DIRECTORY}")
        if host.kubelet_root_dir != "/var/lib/kubelet":
            obstacles.append(
                f"{host.name}: the chart mounts /var/lib/kubelet, and kubelet's directory is {host.kubelet_root_dir}"
            )
    return obstacles


def _chart_values(pool: Pool, options: DeployOptions) -> dict[str, Any]:
    name, _at, digest = options.image.partition("@")
    repository, _colon, tag = name.rpartition(":") if ":" in name.rpartition("/")[2] else (name, "", "")
    registry, _slash, image = repository.partition("/")
    tag_key = "agent_image_tag_version" if options.release >= OWN_IMAGE_TAG_SINCE else "image_tag_version"
    custom: dict[str, Any] = {
        "colocation_enable": True,
        "agent_supported_features": ",".join(feature.value for feature in pool.kind.features),
        "agent_tolerations": [dict(toleration) for toleration in options.tolerations],
        "agent_ns": {POOL_LABEL: pool.name},
        "agent_cni_config_path": options.cni_config,
    }
    if pool.kind.cgroup_root:
        custom["agent_kube_cgroup_root"] = pool.kind.cgroup_root
    if options.resources:
        custom["agent_resources"] = dict(options.resources)
    security: dict[str, Any] = {"seccompProfile": {"type": "RuntimeDefault"}}
    if pool.kind.selinux:
        security["seLinuxOptions"] = {"type": options.selinux_type}
    custom["agent_sc"] = security
    basic = {
        "image_registry": registry,
        "agent_image_name": image,
        tag_key: f"{tag}@{digest}" if digest else tag,
        "image_pull_policy": options.pull_policy,
    }
    return {"basic": basic, "custom": custom}
