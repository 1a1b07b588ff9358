# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The desired state of a node, and the target versions of an upgrade: validated before any node is read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver
from ..releases.versions import minor
from .field_schema import KubeletField
from .kubelet_fields import (
    CGROUP_DRIVER,
    CGROUP_ROOT,
    CPU_MANAGER_POLICY,
    FEATURE_GATES,
    FIELDS,
    KUBE_RESERVED_CGROUP,
    MEMORY_MANAGER_POLICY,
    RESERVED_MEMORY,
    SYSTEM_RESERVED_CGROUP,
)
from .validators import MemoryEntry, ProfileError

UNSET: tuple[Any, ...] = (None, {}, ())


@dataclass(frozen=True)
class NriProfile:
    """None: the setting is not changed."""

    enabled: bool | None = None
    unsupported: str = "refuse"
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Profile:
    """A setting that is None, empty or missing is not changed."""

    kubelet: Mapping[str, Any] = field(default_factory=dict)
    """Validated values of kubelet's fields by option, without those that are not set."""
    kubelet_strategy: str = "auto"
    kubeadm_patches: str | None = None
    nri: NriProfile = field(default_factory=NriProfile)
    containerd_strategy: str = "auto"

    @property
    def cgroup_driver(self) -> Driver | None:
        return self.kubelet.get(CGROUP_DRIVER.option)

    @property
    def sets_runtime(self) -> bool:
        """Whether it sets something of the container runtime."""
        return self.cgroup_driver is not None or self.nri.enabled is not None

    @property
    def cgroup_root(self) -> str | None:
        return self.kubelet.get(CGROUP_ROOT.option)

    @property
    def cpu_manager_policy(self) -> str | None:
        return self.kubelet.get(CPU_MANAGER_POLICY.option)

    @property
    def memory_manager_policy(self) -> str | None:
        return self.kubelet.get(MEMORY_MANAGER_POLICY.option)

    @property
    def reserved_memory(self) -> str | tuple[MemoryEntry, ...]:
        """AUTO, or kubelet's own list."""
        return self.kubelet.get(RESERVED_MEMORY.option, ())

    @property
    def reserved_cgroups(self) -> tuple[str, ...]:
        """The cgroups that reservations are enforced on."""
        options = (SYSTEM_RESERVED_CGROUP.option, KUBE_RESERVED_CGROUP.option)
        return tuple(self.kubelet[option] for option in options if option in self.kubelet)

    @property
    def feature_gates(self) -> Mapping[str, bool]:
        return self.kubelet.get(FEATURE_GATES.option, {})


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
            raise ProfileError(f"nri.{key}", f"{settings[key]!r} has characters that are not allowed in a path")
    for key in NRI_SETTINGS[3:]:
        if key in settings and not _DURATION.fullmatch(settings[key]):
            raise ProfileError(f"nri.{key}", f"{settings[key]!r} is not a time such as 5s or 1m30s")
    return NriProfile(options.get("enabled"), options.get("unsupported") or "refuse", settings)


def _patches(directory: str | None) -> str | None:
    if directory and not directory.startswith("/"):
        raise ProfileError("kubeadm_patches", f"{directory!r} is not an absolute path")
    return (directory.rstrip("/") or "/") if directory else None


def with_fields(profile: Profile, values: Mapping[str, Any]) -> Profile:
    """The profile with other values of kubelet's fields, by option; None and empty remove a field from it."""
    merged = {**profile.kubelet, **values}
    return replace(profile, kubelet={option: value for option, value in merged.items() if value not in UNSET})


def parse_profile(options: Mapping[str, Any]) -> Profile:
    """Profile of the module options of the ``profile`` documentation fragment; ProfileError names the option."""
    profile = Profile(
        kubelet_strategy=options.get("kubelet_strategy") or "auto",
        kubeadm_patches=_patches(options.get("kubeadm_patches")),
        nri=_nri(options.get("nri")),
        containerd_strategy=options.get("containerd_strategy") or "auto",
    )
    return with_fields(
        profile,
        {
            kubelet_field.option: kubelet_field.check(kubelet_field.option, options.get(kubelet_field.option))
            for kubelet_field in FIELDS
        },
    )


@dataclass(frozen=True)
class Targets:
    """None: the version does not change."""

    kubernetes: tuple[int, int] | None = None
    containerd: tuple[int, int] | None = None
    systemd: int | None = None


def _release(options: Mapping[str, Any], option: str) -> tuple[int, int] | None:
    text = str(options.get(option) or "")
    if text and not re.fullmatch(r"v?\d{1,4}\.\d{1,4}(?:\.\d{1,6})?(?:[-+~].*)?", text):
        raise ProfileError(option, f"{text!r} is not a version such as 1.36")
    return minor(text)


def parse_targets(options: Mapping[str, Any]) -> Targets:
    """Targets of module options; ProfileError names the option that is not a version."""
    systemd = str(options.get("target_systemd") or "")
    if systemd and not re.fullmatch(r"v?\d{1,4}(?:[.~-].*)?", systemd):
        raise ProfileError("target_systemd", f"{systemd!r} is not a version such as 258")
    return Targets(
        kubernetes=_release(options, "target_kubernetes"),
        containerd=_release(options, "target_containerd"),
        systemd=int(re.findall(r"\d+", systemd)[0]) if systemd else None,
    )


Desired = tuple[KubeletField, tuple[str, ...], Any]


def desired_fields(profile: Profile) -> Iterator[Desired]:
    """(field, path of keys in KubeletConfiguration, value) of each setting in the profile; tables entry by entry."""
    for setting in FIELDS:
        value = profile.kubelet.get(setting.option)
        if isinstance(value, Mapping):
            for name, entry in value.items():
                yield setting, (setting.key, name), entry
        elif isinstance(value, tuple):
            if value:
                yield setting, (setting.key,), list(value)
        elif value is not None:
            yield setting, (setting.key,), value.value if isinstance(value, Enum) else value
