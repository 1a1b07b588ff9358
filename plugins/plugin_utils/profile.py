# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The desired state of a node, validated once, before any node is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .facts.model import Driver
from .quantity import parse_cpu_list, parse_quantity

RESERVABLE = ("cpu", "memory", "ephemeral-storage", "pid")


class ProfileError(ValueError):
    """A desired value that no node can have; ``variable`` is the option that holds it."""

    def __init__(self, variable: str, message: str) -> None:
        super().__init__(f"{variable}: {message}")
        self.variable = variable


@dataclass(frozen=True)
class NriProfile:
    """None means: leave as found."""

    enabled: bool | None = None
    unsupported: str = "refuse"
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Profile:
    """None and empty mean: leave as found."""

    cgroup_driver: Driver | None = None
    cpu_manager_policy: str | None = None
    topology_manager_policy: str | None = None
    system_reserved: Mapping[str, str] = field(default_factory=dict)
    kube_reserved: Mapping[str, str] = field(default_factory=dict)
    reserved_system_cpus: str | None = None
    read_only_port: int | None = None
    kubelet_strategy: str = "auto"
    nri: NriProfile = field(default_factory=NriProfile)
    containerd_strategy: str = "auto"


NRI_SETTINGS = (
    "socket_path",
    "plugin_path",
    "plugin_config_path",
    "plugin_registration_timeout",
    "plugin_request_timeout",
)


def _reservation(variable: str, value: Mapping[str, Any] | None) -> dict[str, str]:
    reserved = {}
    for resource, amount in (value or {}).items():
        if resource not in RESERVABLE:
            raise ProfileError(variable, f"{resource!r} cannot be reserved; kubelet knows {', '.join(RESERVABLE)}")
        try:
            parsed = parse_quantity(str(amount))
        except ValueError as error:
            raise ProfileError(f"{variable}.{resource}", str(error)) from None
        if parsed < 0:
            raise ProfileError(f"{variable}.{resource}", f"{amount} is negative")
        reserved[str(resource)] = str(amount)
    return reserved


def _reserved_cpus(value: str | None) -> str | None:
    if not value:
        return None
    try:
        parse_cpu_list(value)
    except ValueError as error:
        raise ProfileError("reserved_system_cpus", str(error)) from None
    return value


def _port(value: int | None) -> int | None:
    if value is not None and not 0 <= value <= 65535:
        raise ProfileError("read_only_port", f"{value} is not a port: 0 closes it, 1 to 65535 open it")
    return value


def _nri(value: Mapping[str, Any] | None) -> NriProfile:
    options = value or {}
    settings = {key: str(options[key]) for key in NRI_SETTINGS if options.get(key) is not None}
    for key in NRI_SETTINGS[:3]:
        if key in settings and not settings[key].startswith("/"):
            raise ProfileError(f"nri.{key}", f"{settings[key]!r} is not an absolute path")
    return NriProfile(options.get("enabled"), options.get("unsupported") or "refuse", settings)


def parse_profile(options: Mapping[str, Any]) -> Profile:
    """Profile of the module options of the ``profile`` documentation fragment; ProfileError names the option."""
    driver = options.get("cgroup_driver")
    return Profile(
        cgroup_driver=Driver(driver) if driver else None,
        cpu_manager_policy=options.get("cpu_manager_policy"),
        topology_manager_policy=options.get("topology_manager_policy"),
        system_reserved=_reservation("system_reserved", options.get("system_reserved")),
        kube_reserved=_reservation("kube_reserved", options.get("kube_reserved")),
        reserved_system_cpus=_reserved_cpus(options.get("reserved_system_cpus")),
        read_only_port=_port(options.get("read_only_port")),
        kubelet_strategy=options.get("kubelet_strategy") or "auto",
        nri=_nri(options.get("nri")),
        containerd_strategy=options.get("containerd_strategy") or "auto",
    )
