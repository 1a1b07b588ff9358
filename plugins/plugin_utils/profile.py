# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The desired state of a node, validated once, before any node is looked at."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..module_utils.cgroup.names import Driver
from .kubelet_options import MemoryEntry, parsed
from .profile_error import ProfileError


@dataclass(frozen=True)
class NriProfile:
    """None means: leave as found."""

    enabled: bool | None = None
    unsupported: str = "refuse"
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Profile:
    """None and empty mean: leave as found. kubelet's fields bear the names of their options (kubelet_fields.py)."""

    cgroup_driver: Driver | None = None
    cgroup_root: str | None = None
    cpu_manager_policy: str | None = None
    cpu_manager_policy_options: Mapping[str, str] = field(default_factory=dict)
    topology_manager_policy: str | None = None
    topology_manager_scope: str | None = None
    topology_manager_policy_options: Mapping[str, str] = field(default_factory=dict)
    memory_manager_policy: str | None = None
    reserved_memory: str | tuple[MemoryEntry, ...] = ()
    reserved_system_cpus: str | None = None
    system_reserved: Mapping[str, str] = field(default_factory=dict)
    kube_reserved: Mapping[str, str] = field(default_factory=dict)
    system_reserved_cgroup: str | None = None
    kube_reserved_cgroup: str | None = None
    enforce_node_allocatable: tuple[str, ...] = ()
    memory_throttling_factor: float | None = None
    fail_cgroup_v1: bool | None = None
    single_process_oom_kill: bool | None = None
    pod_pids_limit: int | None = None
    read_only_port: int | None = None
    feature_gates: Mapping[str, bool] = field(default_factory=dict)
    kubelet_strategy: str = "auto"
    kubeadm_patches: str | None = None
    nri: NriProfile = field(default_factory=NriProfile)
    containerd_strategy: str = "auto"


_DURATION = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?(?:ns|us|µs|ms|s|m|h))+")
"""Go's time.ParseDuration, without a sign."""

NRI_SETTINGS = (
    "socket_path",
    "plugin_path",
    "plugin_config_path",
    "plugin_registration_timeout",
    "plugin_request_timeout",
)


def _nri(value: Mapping[str, Any] | None) -> NriProfile:
    options = value or {}
    settings = {key: str(options[key]) for key in NRI_SETTINGS if options.get(key) is not None}
    for key in NRI_SETTINGS[:3]:
        if key in settings and not settings[key].startswith("/"):
            raise ProfileError(f"nri.{key}", f"{settings[key]!r} is not an absolute path")
        if not settings.get(key, "").isprintable():
            raise ProfileError(f"nri.{key}", f"{settings[key]!r} has characters that no path here has")
    for key in NRI_SETTINGS[3:]:
        if key in settings and not _DURATION.fullmatch(settings[key]):
            raise ProfileError(f"nri.{key}", f"{settings[key]!r} is not a time such as 5s or 1m30s")
    return NriProfile(options.get("enabled"), options.get("unsupported") or "refuse", settings)


def _patches(folder: str | None) -> str | None:
    if folder and not folder.startswith("/"):
        raise ProfileError("kubeadm_patches", f"{folder!r} is not an absolute path")
    return (folder.rstrip("/") or "/") if folder else None


def parse_profile(options: Mapping[str, Any]) -> Profile:
    """Profile of the module options of the ``profile`` documentation fragment; ProfileError names the option."""
    driver = options.get("cgroup_driver")
    return Profile(
        cgroup_driver=Driver(driver) if driver else None,
        kubelet_strategy=options.get("kubelet_strategy") or "auto",
        kubeadm_patches=_patches(options.get("kubeadm_patches")),
        nri=_nri(options.get("nri")),
        containerd_strategy=options.get("containerd_strategy") or "auto",
        **parsed(options),
    )
