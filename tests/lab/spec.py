# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The specification of a node."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from .errors import LabError, SpecError
from .program_table import of_release

DEFAULT_KUBELET = "1.35"

DEBIAN_KUBELET = "debian"
"""kubelet 1.20 of Debian bookworm's source package."""

NO_KUBELET = "none"
"""No kubelet: a node with a container runtime only."""

DEBIAN_CONTAINERD = ""
"""The containerd of the suite."""


class Suite(str, Enum):
    """Debian release of the userland, and with it of containerd: 1.6 in bookworm, 1.7 in trixie, 2 in forky."""

    BOOKWORM = "bookworm"
    TRIXIE = "trixie"
    FORKY = "forky"

    @property
    def kernel(self) -> Suite:
        """Whose kernel boots it with cgroup v2: under QEMU 7.2, that of forky (7.2) ended one of three boots early."""
        return Suite.TRIXIE if self is Suite.FORKY else self


class CgroupMode(str, Enum):
    V1 = "v1"
    V2 = "v2"
    HYBRID = "hybrid"
    """v1 for resources, with an empty v2 hierarchy beside it for systemd."""


class Engine(str, Enum):
    """What runs a node: virtualization, user-mode Linux or emulation."""

    AUTO = "auto"
    """The first of the others that works here."""

    KVM = "kvm"
    UML = "uml"
    QEMU = "qemu"


class Driver(str, Enum):
    """The cgroup driver of kubelet or containerd."""

    SYSTEMD = "systemd"
    CGROUPFS = "cgroupfs"


class Layout(str, Enum):
    """The installer of kubelet, which determines the paths of its unit, configuration and flags."""

    STANDALONE = "standalone"
    KUBEADM = "kubeadm"
    KUBESPRAY = "kubespray"


class CpuManager(str, Enum):
    NONE = "none"
    STATIC = "static"


class Nri(str, Enum):
    ON = "on"
    OFF = "off"


@dataclass(frozen=True)
class NodeSpec:
    """One node; ``memory`` in MiB.

    ``kubelet`` is a path, a release (``1.35``), ``debian`` or ``none``; ``containerd`` a release (``2.4``), the path of
    a directory with its programs, or '' for that of the suite. ``kubelet_flags`` are additional flags; ``root`` is a
    directory to boot instead of an image.
    """

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
    kubelet: str = DEFAULT_KUBELET
    kernel_args: tuple[str, ...] = ()
    layout: Layout = Layout.STANDALONE
    kubelet_flags: tuple[str, ...] = ()
    root: str = ""
    engine: Engine = Engine.AUTO
    containerd: str = DEBIAN_CONTAINERD

    @property
    def kernel_suite(self) -> Suite:
        """Release of Debian's kernel: that of trixie (6.12) has no cpuset and memory controllers for cgroup v1."""
        return self.suite.kernel if self.cgroup is CgroupMode.V2 else Suite.BOOKWORM

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; ``from_dict`` reads them back."""
        return {
            name: list(value) if isinstance(value, tuple) else value.value if isinstance(value, Enum) else value
            for name, value in self.__dict__.items()
        }


def from_dict(values: dict[str, Any]) -> NodeSpec:
    """A specification from plain values; SpecError lists all problems."""
    enums = {
        "suite": Suite,
        "cgroup": CgroupMode,
        "kubelet_driver": Driver,
        "runtime_driver": Driver,
        "nri": Nri,
        "cpu_manager": CpuManager,
        "layout": Layout,
        "engine": Engine,
    }
    try:
        typed = {name: enums[name](value) if name in enums else value for name, value in values.items()}
        typed.update({name: tuple(typed.get(name, ())) for name in ("kernel_args", "kubelet_flags")})
        spec = NodeSpec(**typed)
    except (TypeError, ValueError) as error:
        raise SpecError(f"not a node specification: {error}") from error
    return validate(spec)


def validate(spec: NodeSpec) -> NodeSpec:
    """The same specification; SpecError lists all problems."""
    problems = list(_problems(spec))
    if problems:
        raise SpecError(f"node {spec.name}: " + "; ".join(problems))
    return spec


def _problems(spec: NodeSpec) -> Iterator[str]:
    if not re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?", spec.name):
        yield "the name must be a host name of at most 40 characters (a-z, 0-9, -)"
    yield from _suite_problems(spec)
    yield from _program_problems(spec)
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
    if any(not re.fullmatch(r"--[a-z][^\s\"'\\$%]*", flag) for flag in spec.kubelet_flags):
        yield "a flag of kubelet must be one word, --name or --name=value, without quotes, backslashes, $ and %"
    if spec.kubelet_flags and spec.root and spec.layout is Layout.STANDALONE:
        yield "flags of kubelet in an image need another layout: standalone writes their file at the first boot"


def _suite_problems(spec: NodeSpec) -> Iterator[str]:
    if spec.nri is Nri.ON and spec.suite is Suite.BOOKWORM and spec.containerd == DEBIAN_CONTAINERD:
        yield "containerd 1.6 of bookworm has no NRI: use trixie or --containerd"
    if spec.suite is Suite.FORKY and spec.cgroup is not CgroupMode.V2:
        yield "systemd of forky has no cgroup v1 (NEWS, 258): use bookworm or trixie"


def _program_problems(spec: NodeSpec) -> Iterator[str]:
    """kubelet 1.35 to 1.37 work with every containerd: without RuntimeConfig (before containerd 2.0) they use the
    driver of their configuration (getCgroupDriverFromCRI in cmd/kubelet/app/server.go)."""
    for project, choice, keywords in (
        ("kubernetes", spec.kubelet, (DEBIAN_KUBELET, NO_KUBELET)),
        ("containerd", spec.containerd, (DEBIAN_CONTAINERD,)),
    ):
        try:
            if choice not in keywords and not is_path(choice):
                of_release(project, choice)
        except LabError as error:
            yield str(error)
    if spec.kubelet == DEBIAN_KUBELET and is_containerd_2(spec.suite, spec.containerd):
        yield "containerd 2 serves no CRI v1alpha2, which Debian's kubelet 1.20 needs: use another kubelet"


def is_path(choice: str) -> bool:
    """True when the choice of a kubelet or containerd is a path, which has a slash, and not a release."""
    return "/" in choice


def is_containerd_2(suite: Suite, containerd: str) -> bool:
    """True when a node's containerd is known to be 2.0 or later; the version of a path is unknown before it runs."""
    if containerd == DEBIAN_CONTAINERD:
        return suite is Suite.FORKY
    return not is_path(containerd) and not containerd.startswith("1.")


def default_nri(suite: Suite, containerd: str) -> Nri:
    """Whether containerd enables NRI by itself, which it does since 2.0 (docs/containerd-2.0.md)."""
    return Nri.ON if is_containerd_2(suite, containerd) else Nri.OFF
