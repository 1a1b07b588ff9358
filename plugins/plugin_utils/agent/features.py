# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The release of the Volcano agent in an image, and which of its features a node supports.

Sources: volcano pkg/agent/features/feature_gate.go and the handlers in pkg/agent/events/handlers. docs/agent.md lists
the files that each feature writes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from ...module_utils.cgroup.kubelet_names import Driver
from ..facts.node_state import CgroupMode
from ..profile.validators import ProfileError
from ..releases.minimum_versions import OPEN_EULER_NETWORK, OPEN_EULER_RUBIK, VOLCANO, Minimum
from .probed_host import AgentHost

Release = tuple[int, int]

_TAG = re.compile(r"v?(\d+)\.(\d+)(?:\.\d+)?(?:[-+.].*)?")


def parse_release(image: str, version: str) -> Release:
    """(major, minor) of ``version``, or of the image's tag if that is empty; ProfileError if neither has a version."""
    if version:
        match = _TAG.fullmatch(version)
        if not match:
            raise ProfileError("colocation_agent_version", f"{version!r} is not a version such as v1.14.0")
    else:
        match = _TAG.fullmatch(image_tag(image))
        if not match:
            raise ProfileError(
                "colocation_agent_image",
                f"the tag of {image!r} does not contain a release, and the settings of a node depend on the release;"
                " set colocation_agent_version, such as v1.14.0",
            )
    release = int(match[1]), int(match[2])
    if release < VOLCANO.minor:
        raise ProfileError(
            "colocation_agent_version" if version else "colocation_agent_image",
            f"Volcano {release[0]}.{release[1]} has no agent; the first release with an agent is {VOLCANO.text}",
        )
    return release


def image_tag(image: str) -> str:
    """The tag of an image, without a digest; empty if it has none."""
    return image.partition("@")[0].rpartition("/")[2].partition(":")[2]


class Feature(str, Enum):
    """A feature of the agent: pkg/agent/features/feature.go."""

    OVERSUBSCRIPTION = "OverSubscription"
    EVICTION = "Eviction"
    RESOURCES = "Resources"
    CPU_QOS = "CPUQoS"
    CPU_BURST = "CPUBurst"
    CPU_THROTTLE = "CPUThrottle"
    MEMORY_QOS = "MemoryQoS"
    MEMORY_QOS_V2 = "MemoryQoSV2"
    NETWORK_QOS = "NetworkQoS"


WITHOUT_CGROUP_WRITES = frozenset({Feature.OVERSUBSCRIPTION, Feature.EVICTION})
"""Features that only read cgroups: they change the Node, or evict pods."""


@dataclass(frozen=True)
class UnsupportedFeature:
    """A requested feature that the node does not support."""

    feature: Feature
    reason: str


NEW_IN_1_14 = (1, 14)
_OPEN_EULER_VERSION = re.compile(r"(\d+)\.(\d+)(?:.*SP(\d+))?")


def split_supported(
    host: AgentHost, requested: Iterable[Feature], release: Release
) -> tuple[tuple[Feature, ...], tuple[UnsupportedFeature, ...]]:
    """(features that the node supports, the others with the reason), in the order of the Enum."""
    on, off = [], []
    asked = set(requested)
    for feature in (member for member in Feature if member in asked):
        reason = OBSTACLES[feature](host, release) if feature in OBSTACLES else ""
        if reason:
            off.append(UnsupportedFeature(feature, reason))
        else:
            on.append(feature)
    return tuple(on), tuple(off)


def _since(release: Release, name: str) -> str:
    if release >= NEW_IN_1_14:
        return ""
    return f"{name} is available from 1.14, and the image's release is {release[0]}.{release[1]}"


def _kernel_file_reason(host: AgentHost, feature: str) -> str:
    """Why a feature of the kernel cannot be used; empty if its file exists."""
    supported = host.features.get(feature)
    if supported:
        return ""
    probed = host.probed.get(feature, feature)
    return f"{probed} does not exist" if supported is False else f"it is unknown whether the kernel has it ({probed})"


def _container_paths(host: AgentHost) -> str:
    """pkg/agent/utils/cgroup/cgroup.go BuildContainerCgroupName: under cgroupfs only the id, while CRI-O adds crio-."""
    if host.runtime == "cri-o" and host.driver is Driver.CGROUPFS:
        return "the agent does not find the containers of CRI-O under the cgroupfs driver"
    return ""


def _resources(host: AgentHost, _release: Release) -> str:
    return _container_paths(host)


def _cpu_qos(host: AgentHost, _release: Release) -> str:
    if host.mode is CgroupMode.V2:
        return "cpu.qos_level exists on cgroup v1 only, and this node has v2"
    return _kernel_file_reason(host, "cpu_qos_level")


def _cpu_burst(host: AgentHost, _release: Release) -> str:
    return _kernel_file_reason(host, "cpu_burst") or _container_paths(host)


def _cpu_throttle(_host: AgentHost, release: Release) -> str:
    return _since(release, "CPUThrottle")


def _memory_qos(host: AgentHost, _release: Release) -> str:
    if host.mode is CgroupMode.V2:
        return "memory.qos_level exists on cgroup v1 only, and this node has v2; MemoryQoSV2 is for v2"
    return _kernel_file_reason(host, "memory_qos_level")


def _memory_qos_v2(host: AgentHost, release: Release) -> str:
    if host.mode is not CgroupMode.V2:
        return f"it writes memory.high, memory.low and memory.min of cgroup v2, and this node has {host.mode.value}"
    if host.kubelet_memory_qos:
        return "kubelet's own MemoryQoS writes the same files (KEP-2570); disable its feature gate first"
    return _since(release, "MemoryQoSV2") or _kernel_file_reason(host, "memory_high") or _container_paths(host)


def _another_system(host: AgentHost, minimum: Minimum) -> str:
    """The required distribution and that of the host; empty if the host has it in this version or newer."""
    match = _OPEN_EULER_VERSION.match(host.os_version)
    version = (int(match[1]), int(match[2]), int(match[3] or 0)) if match else (0, 0, 0)
    if host.os_name == minimum.program and version >= minimum.version:
        return ""
    distribution = f"{host.os_name} {host.os_version}".strip() or "an unknown distribution"
    return f"{minimum.program} {minimum.text} and newer, and this node has {distribution}"


def no_rubik(host: AgentHost) -> str:
    """Why rubik does not run on the host; empty if it does."""
    return _another_system(host, OPEN_EULER_RUBIK)


def _network_qos(host: AgentHost, _release: Release) -> str:
    if host.mode is CgroupMode.V2:
        return "it classifies packets by net_cls.classid of cgroup v1, and this node has v2"
    unsupported = _another_system(host, OPEN_EULER_NETWORK)
    if unsupported:
        return f"the agent supports it only on {unsupported}"
    if host.paths.get(host.cni_config) == "missing":
        return (
            f"{host.cni_config} does not exist, and the agent adds its plugin to that file; set"
            " colocation_agent_cni_config to the path of this node's CNI configuration"
        )
    return ""


OBSTACLES: Mapping[Feature, Callable[[AgentHost, Release], str]] = {
    Feature.RESOURCES: _resources,
    Feature.CPU_QOS: _cpu_qos,
    Feature.CPU_BURST: _cpu_burst,
    Feature.CPU_THROTTLE: _cpu_throttle,
    Feature.MEMORY_QOS: _memory_qos,
    Feature.MEMORY_QOS_V2: _memory_qos_v2,
    Feature.NETWORK_QOS: _network_qos,
}
