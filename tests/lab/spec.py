# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a node is asked to be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from .errors import SpecError

DEBIAN_KUBELET = "debian"
"""The kubelet of Debian bookworm's source package, in its current version."""


class Suite(str, Enum):
    """Debian release of the userland, and with it of containerd: 1.6 in bookworm, 1.7 in trixie."""

    BOOKWORM = "bookworm"
    TRIXIE = "trixie"


class CgroupMode(str, Enum):
    V1 = "v1"
    V2 = "v2"


class Driver(str, Enum):
    """How a program names and makes cgroups."""

    SYSTEMD = "systemd"
    CGROUPFS = "cgroupfs"


class CpuManager(str, Enum):
    NONE = "none"
    STATIC = "static"


class Nri(str, Enum):
    ON = "on"
    OFF = "off"


@dataclass(frozen=True)
class NodeSpec:
    """One node; ``memory`` in MiB, ``kubelet`` a path, a version of Debian's source package, or ``debian``."""

    name: str
    suite: Suite
    cgroup: CgroupMode
    kubelet_driver: Driver
    runtime_driver: Driver
    nri: Nri = Nri.OFF
    cpu_manager: CpuManager = CpuManager.NONE
    cpus: int = 2
    memory: int = 2048
    numa: int = 1
    kubelet: str = DEBIAN_KUBELET
    kernel_args: tuple[str, ...] = ()

    @property
    def kernel_suite(self) -> Suite:
        """Release of the kernel: that of trixie (6.12) has no cpuset and memory controllers for cgroup v1."""
        return Suite.BOOKWORM if self.cgroup is CgroupMode.V1 else self.suite

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; ``from_dict`` reads them back."""
        return {
            name: list(value) if isinstance(value, tuple) else value.value if isinstance(value, Enum) else value
            for name, value in self.__dict__.items()
        }


def from_dict(values: dict[str, Any]) -> NodeSpec:
    """A specification from plain values; SpecError lists everything that is wrong with it."""
    enums = {
        "suite": Suite,
        "cgroup": CgroupMode,
        "kubelet_driver": Driver,
        "runtime_driver": Driver,
        "nri": Nri,
        "cpu_manager": CpuManager,
    }
    try:
        typed = {name: enums[name](value) if name in enums else value for name, value in values.items()}
        typed["kernel_args"] = tuple(typed.get("kernel_args", ()))
        spec = NodeSpec(**typed)
    except (TypeError, ValueError) as error:
        raise SpecError(f"not a node: {error}") from error
    return checked(spec)


def checked(spec: NodeSpec) -> NodeSpec:
    """The specification itself; SpecError lists everything that is wrong with it."""
    problems = list(_problems(spec))
    if problems:
        raise SpecError(f"node {spec.name}: " + "; ".join(problems))
    return spec


def _problems(spec: NodeSpec) -> Iterator[str]:
    if not re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?", spec.name):
        yield "the name must be a host name of at most 40 characters (a-z, 0-9, -)"
    if spec.nri is Nri.ON and spec.suite is Suite.BOOKWORM:
        yield "containerd 1.6 of bookworm has no NRI: use trixie"
    if not 1 <= spec.cpus <= 64:
        yield "cpus must be 1 to 64"
    if spec.cpu_manager is CpuManager.STATIC and spec.cpus < 2:
        yield "the static CPU manager needs 2 CPUs: half a CPU is reserved for the system"
    if not 1024 <= spec.memory <= 65536:
        yield "memory must be 1024 to 65536 MiB"
    if spec.numa < 1 or spec.cpus % spec.numa or spec.memory % spec.numa:
        yield "numa must divide cpus and memory"
    if any(re.search(r"\s", argument) or not argument for argument in spec.kernel_args):
        yield "a kernel argument must be one word"
