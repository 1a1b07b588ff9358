# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pool groups hosts that can share one DaemonSet."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver, KubeletTree
from ..facts.node_state import CgroupMode
from ..kube.api_errors import ClusterError
from ..profile.validators import ProfileError
from ..releases.minimum_versions import VOLCANO_BOTH_DRIVERS
from .colocation_schema import ConfigValues
from .features import Feature, Release, UnsupportedFeature, split_supported
from .probed_host import AgentHost

UNCHANGED = "Nothing was changed."
POOLS_VARIABLE = "colocation_agent_pools"
_NAME = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,18}[a-z0-9])?")


@dataclass(frozen=True)
class NamedPool:
    """A pool of the user: hosts with common settings."""

    name: str
    hosts: tuple[str, ...]
    leaves: ConfigValues = field(default_factory=dict)


@dataclass(frozen=True)
class NodeKind:
    """The properties of nodes that a DaemonSet depends on. ``cgroup_root`` has no leading or trailing slash."""

    v2: bool
    driver: Driver
    cgroup_root: str
    sys_fs: str
    kubelet_root_dir: str
    features: tuple[Feature, ...]
    selinux: bool
    network_paths: bool

    @property
    def name(self) -> str:
        """A readable name that is unique for the kind, and does not depend on other kinds."""
        fields = json.dumps(
            [self.cgroup_root, self.sys_fs, self.kubelet_root_dir, self.features, self.selinux, self.network_paths]
        )
        digest = hashlib.sha256(fields.encode()).hexdigest()[:6]
        return f"{'v2' if self.v2 else 'v1'}-{self.driver.value}-{digest}"

    @property
    def pods(self) -> str:
        """The cgroup of all pods in the agent, below the root of a hierarchy: cgroup.go GetRootCgroupPath."""
        return KubeletTree(self.driver, f"/{self.cgroup_root}").pods()


@dataclass(frozen=True)
class Pool:
    """Nodes of one kind; ``hosts`` are inventory names."""

    name: str
    kind: NodeKind
    hosts: tuple[str, ...]
    unsupported: tuple[UnsupportedFeature, ...] = ()
    leaves: ConfigValues = field(default_factory=dict)


def parse_pools(
    entries: Sequence[Mapping[str, Any]], leaves: Sequence[ConfigValues], groups: Mapping[str, Sequence[str]]
) -> tuple[NamedPool, ...]:
    """The user's pools with groups resolved; ProfileError for an invalid or duplicate name, or an unknown host."""
    pools: list[NamedPool] = []
    for entry, settings in zip(entries, leaves, strict=True):
        name = entry["name"]
        if not _NAME.fullmatch(name):
            raise ProfileError(
                POOLS_VARIABLE,
                f"{name!r} is not a valid name: use 1 to 20 characters of a-z, 0-9 and -, with no - at the ends",
            )
        if name in (pool.name for pool in pools):
            raise ProfileError(POOLS_VARIABLE, f"two pools have the name {name}")
        pools.append(NamedPool(name, tuple(_resolve_hosts(name, entry["nodes"], groups)), settings))
    duplicates = [
        f"{host} ({first.name} and {second.name})"
        for index, first in enumerate(pools)
        for second in pools[index + 1 :]
        for host in first.hosts
        if host in second.hosts
    ]
    if duplicates:
        raise ProfileError(
            POOLS_VARIABLE, f"hosts are in two pools: {', '.join(duplicates)}; keep each host in only one of them"
        )
    return tuple(pools)


def _resolve_hosts(pool: str, names: Iterable[str], groups: Mapping[str, Sequence[str]]) -> Iterator[str]:
    known = set(groups.get("all", ()))
    resolved: set[str] = set()
    for name in names:
        if name not in known and name not in groups:
            raise ProfileError(POOLS_VARIABLE, f"{pool}: the inventory has no host or group {name!r}")
        for host in [name] if name in known else groups[name]:
            if host not in resolved:
                resolved.add(host)
                yield host


def make_pools(
    hosts: Sequence[AgentHost], named: Sequence[NamedPool], requested: Iterable[Feature], release: Release
) -> tuple[Pool, ...]:
    """The pools, sorted by name. ClusterError lists hosts that an agent of this release does not support, and why."""
    refused = [f"{host.name}: {why}" for host in hosts for why in [unsupported_reason(host, release)] if why]
    if refused:
        raise ClusterError(
            f"The Volcano agent cannot work on {len(refused)} of the hosts: {'; '.join(refused)}",
            f"{UNCHANGED} Fix the causes, or exclude these hosts from the run.",
        )
    owners = {host: pool for pool in named for host in pool.hosts}
    members: dict[tuple[str, NodeKind], list[str]] = {}
    left_off: dict[tuple[str, NodeKind], tuple[UnsupportedFeature, ...]] = {}
    asked = tuple(requested)
    for host in hosts:
        features, off = split_supported(host, asked, release)
        owner = owners.get(host.name)
        key = (owner.name if owner else "", node_kind(host, features))
        members.setdefault(key, []).append(host.name)
        # Hosts of one kind may lack a feature for different reasons: those of the first host are reported.
        left_off.setdefault(key, off)
    settings = {pool.name: pool.leaves for pool in named}
    pools = [
        Pool("-".join(filter(None, key)), kind, tuple(names), left_off[owner, kind], settings.get(owner, {}))
        for (owner, kind), names in members.items()
        for key in [(owner, kind.name)]
    ]
    return tuple(sorted(pools, key=lambda pool: pool.name))


def node_kind(host: AgentHost, features: tuple[Feature, ...]) -> NodeKind:
    """The kind of a host that the agent supports."""
    if host.driver is None:
        raise ValueError(f"{host.name} has no driver")
    return NodeKind(
        v2=host.mode is CgroupMode.V2,
        driver=host.driver,
        cgroup_root=host.cgroup_root.strip("/"),
        sys_fs=sys_fs_directory(host) or "",
        kubelet_root_dir=host.kubelet_root_dir,
        features=features,
        selinux=host.selinux == "enforcing",
        network_paths=Feature.NETWORK_QOS in features,
    )


def sys_fs_directory(host: AgentHost) -> str | None:
    """The directory for SYS_FS_PATH: its subdirectory cgroup has all hierarchies. None if no directory has."""
    tops = {
        point if host.mode is CgroupMode.V2 else point.rpartition("/")[0]
        for controller, point in host.mountpoints.items()
        if controller in ("cpu", "memory")
    }
    top = tops.pop() if len(tops) == 1 else ""
    return top.removesuffix("/cgroup") if top.endswith("/cgroup") else None


def unsupported_reason(host: AgentHost, release: Release) -> str:
    """Why an agent of this release does not support a host; empty if it does."""
    if host.mode is CgroupMode.UNKNOWN:
        return f"its cgroup version is unknown ({host.mode_reason})"
    if host.driver is None:
        return "kubelet's cgroup driver is unknown; run the playbook assess to find out why"
    if host.runtime_driver and host.runtime_driver != host.driver.value:
        return (
            f"kubelet uses the {host.driver.value} driver and {host.runtime} {host.runtime_driver}, so pods are not in"
            " the cgroups that the agent expects; run the playbook provision to align the drivers"
        )
    return (
        _too_old(host, release)
        or _two_agents(host)
        or _root_problem(host)
        or (
            ""
            if sys_fs_directory(host)
            else "its cgroup hierarchies are not mounted in one directory named cgroup, where the agent expects them"
        )
        or _tree_mismatch(host)
    )


def _too_old(host: AgentHost, release: Release) -> str:
    needs = "cgroup v2" if host.mode is CgroupMode.V2 else "the systemd driver"
    if release >= VOLCANO_BOTH_DRIVERS.minor or (host.mode is not CgroupMode.V2 and host.driver is Driver.CGROUPFS):
        return ""
    return (
        f"it has {needs}, which the agent supports from {VOLCANO_BOTH_DRIVERS.text};"
        f" {release[0]}.{release[1]} assumes v1 with cgroupfs on every node, and would write to cgroups that do not"
        " exist"
    )


def _two_agents(host: AgentHost) -> str:
    if not host.agents:
        return ""
    agents = ", ".join(host.agents)
    return f"{agents} sets CPU and memory of its pods; two agents undo each other's changes: remove it"


def _root_problem(host: AgentHost) -> str:
    if host.driver is Driver.SYSTEMD and "/" in host.cgroup_root.strip("/"):
        return (
            f"kubelet's cgroupRoot is {host.cgroup_root}, and with the systemd driver, the agent's --kube-cgroup-root"
            " must be one name without a slash (pkg/agent/utils/cgroup/cgroup.go)"
        )
    return ""


def _tree_mismatch(host: AgentHost) -> str:
    """Compare the agent's path with the live tree: if they differ, the agent has no effect and hardly logs anything."""
    driver = host.driver or Driver.CGROUPFS
    expected = KubeletTree(driver, f"/{host.cgroup_root.strip('/')}").pods()
    if any(tree.endswith(f"/{expected}") for tree in host.trees):
        return ""
    return f"the agent expects pods in {expected}, and the node has {', '.join(host.trees) or 'no cgroup of pods'}"
