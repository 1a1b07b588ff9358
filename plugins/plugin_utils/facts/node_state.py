# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The typed reading of a snapshot. Unknown is None or UNKNOWN; nothing defaults to v1 or cgroupfs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from ...module_utils.cgroup.hierarchy import Hierarchy
from ...module_utils.cgroup.kubelet_names import Driver
from ...module_utils.snapshot.immutable_systems import OperatingSystem
from .config_file import ConfigFile
from .kubelet_state import KubeletFacts
from .runtime_state import RuntimeFacts


class CgroupMode(str, Enum):
    """How cgroups are mounted, systemd's CGROUP_DELEGATION terms. HYBRID: resource control is v1's."""

    V1 = "v1"
    V2 = "v2"
    HYBRID = "hybrid"
    UNKNOWN = "unknown"


RUNTIME_SETTINGS = ("SystemdCgroup", "cgroup_manager", "native.cgroupdriver")
"""Beginnings of the settings that are the runtime's word on the driver."""


Parameters = Mapping[str, tuple[str, ...]]
"""Kernel parameters with their values in order; a bare word has the empty text as its value."""


@dataclass(frozen=True)
class Claim:
    """One source's word on one setting."""

    setting: str
    value: str
    source: str


@dataclass(frozen=True)
class DriverFacts:
    """The cgroup drivers of both sides, as facts/cgroup_driver.py decides them."""

    kubelet: Driver | None = None
    """What kubelet runs with."""
    source: str | None = None
    """Who gives kubelet's."""
    authority: str | None = None
    """Who decides kubelet's: cri, config, flag, default; None where that is open."""
    in_configz: str | None = None
    """The word that kubelet's /configz should have; None: the one of its configuration."""
    runtime: Driver | None = None
    """What the runtime's files result in."""
    live: Driver | None = None
    """What the runtime says that it runs with."""
    cri: Driver | None = None
    """What the runtime answers to RuntimeConfig."""
    cri_supported: bool | None = None
    """Whether the runtime knows that call; None where nobody asked."""

    @property
    def runtime_now(self) -> Driver | None:
        """The runtime's driver in force, as far as it is known."""
        return self.live or self.runtime

    @property
    def common(self) -> Driver | None:
        """The driver that kubelet and the runtime's files have; None where they differ, or one is unknown."""
        return self.kubelet if self.kubelet is self.runtime else None

    def with_both(self, driver: Driver | None) -> DriverFacts:
        """Both sides with this driver; None leaves them as found."""
        return replace(self, kubelet=driver, runtime=driver) if driver else self


@dataclass(frozen=True)
class Level:
    """A cgroup of a v2 tree: what it is offered, what it hands down, and what of the needed it does not."""

    path: str
    controllers: tuple[str, ...]
    enabled: tuple[str, ...]
    missing: tuple[str, ...]
    kind: str | None


@dataclass(frozen=True)
class RealtimeThread:
    """A thread under a real-time policy outside the root cgroup."""

    pid: int
    tid: int
    comm: str | None
    policy: str
    priority: int
    cgroup: str


@dataclass(frozen=True)
class CgroupFacts:
    """``controllers`` and ``mountpoints`` are those in force; ``split`` those bound to the hierarchy that is not.

    ``reserved``: in which hierarchies each cgroup exists that kubelet or the profile names, and, on v2,
    ``reserved_controllers``: which controllers it is offered. ``pods``: folders of pods by tree.
    """

    mode: CgroupMode
    reason: str
    controllers: tuple[str, ...]
    mountpoints: Mapping[str, str]
    trees: tuple[str, ...]
    hierarchies: tuple[Hierarchy, ...]
    missing: tuple[str, ...]
    split: Mapping[str, str]
    levels: tuple[Level, ...]
    idle: tuple[str, ...]
    nested: str | None
    links: Mapping[str, str]
    realtime: tuple[RealtimeThread, ...]
    group_scheduling: str | None
    reserved: Mapping[str, Sequence[str]] | None
    pods: Mapping[str, int]
    reserved_controllers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class LayoutFacts:
    """Who installed the node and keeps its files; ``evidence`` is what tells. ``regenerated`` files are rewritten.

    ``template_files``: the templates that are there, whose text is none of TOML until it is rendered.
    """

    name: str = "unknown"
    evidence: tuple[str, ...] = ()
    kubelet_inside: str | None = None
    regenerated: Mapping[str, str] = field(default_factory=dict)
    templates: tuple[str, ...] = ()
    template_files: tuple[ConfigFile, ...] = ()


@dataclass(frozen=True)
class PodFacts:
    """What runs: ready sandboxes, running containers, and the shape of the cgroup paths their processes are in."""

    sandboxes: int
    containers: int
    systemd_paths: int
    cgroupfs_paths: int
    misplaced_paths: tuple[str, ...]


@dataclass(frozen=True)
class CpuFacts:
    """CPU lists as the kernel prints them; None where it does not say. ``numa`` is a list a node."""

    offline: str | None
    present: str | None
    isolated: str | None
    smt: bool | None
    siblings: tuple[str, ...]
    numa: Mapping[str, str | None]


@dataclass(frozen=True)
class KernelFacts:
    """``features`` are True, False or None for what cannot be told; ``probed`` says by which file.

    ``boot``: the parameters that each file of the boot loader would give next; None when nobody looked.
    """

    parameters: Parameters
    features: Mapping[str, bool | None]
    probed: Mapping[str, str]
    sysctls: Mapping[str, str]
    swaps: tuple[str, ...] | None
    boot: Mapping[str, Parameters] | None = None


@dataclass(frozen=True)
class SystemdFacts:
    """``installed`` is the version that the next boot starts; ``next_mode`` what it will make of cgroups, and why."""

    running: str | None
    installed: str | None
    next_mode: CgroupMode | None
    next_mode_reason: str | None
    units: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class RubikConfig:
    """The configuration of a rubik that runs as a service of the node."""

    cgroup_driver: str
    features: tuple[str, ...]


@dataclass(frozen=True)
class WriterFacts:
    """Others who write to cgroups or to kubelet's files: who, and by what they were seen."""

    evidence: Mapping[str, str]
    nri_plugins: tuple[str, ...]
    overrides: tuple[str, ...]
    rubik: RubikConfig | None = None


@dataclass(frozen=True)
class LedgerProblem:
    """Why the ledger of our own earlier work cannot be read, and what to do about it."""

    file: str
    message: str
    remedy: str


@dataclass(frozen=True)
class RecordProblem:
    """The same of another record of ours; ``record``: one of module_utils/snapshot/record_evidence.py."""

    record: str
    file: str
    message: str
    remedy: str


@dataclass(frozen=True)
class NodeFacts:
    hostname: str | None
    kernel: str | None
    pid1: str | None
    systemd_version: str | None
    online_cpus: frozenset[int]
    cgroup: CgroupFacts
    kubelet: KubeletFacts
    runtime: RuntimeFacts
    driver: DriverFacts
    pods: PodFacts
    unfinished_transactions: tuple[str, ...]
    claims: tuple[Claim, ...]
    cpus: CpuFacts
    kernel_facts: KernelFacts
    systemd: SystemdFacts
    writers: WriterFacts
    layout: LayoutFacts = field(default_factory=LayoutFacts)
    other_runtimes: tuple[str, ...] = ()
    image: bool = False
    """The files of a node that does not run: nothing can answer."""
    ledger_problem: LedgerProblem | None = None
    record_problems: tuple[RecordProblem, ...] = ()
    sockets: int | None = None
    """None where the kernel does not tell."""
    operating_system: OperatingSystem = field(default_factory=OperatingSystem)
