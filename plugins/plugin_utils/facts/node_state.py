# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The typed facts of a node. Unknown is None or UNKNOWN; nothing defaults to v1 or cgroupfs."""

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
    """How cgroups are mounted, in the terms of systemd's CGROUP_DELEGATION. HYBRID: v1 controls resources."""

    V1 = "v1"
    V2 = "v2"
    HYBRID = "hybrid"
    UNKNOWN = "unknown"


RUNTIME_SETTINGS = ("SystemdCgroup", "cgroup_manager", "native.cgroupdriver")
"""Prefixes of the settings that are claims of the runtime about the driver."""


Parameters = Mapping[str, tuple[str, ...]]
"""Kernel parameters with their values in order; a parameter without value has the empty text."""


@dataclass(frozen=True)
class Claim:
    """The value that one source has for a setting."""

    setting: str
    value: str
    source: str


@dataclass(frozen=True)
class DriverFacts:
    """The cgroup drivers of kubelet and the runtime, as facts/cgroup_driver.py decides them."""

    kubelet: Driver | None = None
    """The driver of the running kubelet."""
    source: str | None = None
    """The source of kubelet's driver."""
    authority: str | None = None
    """What decides kubelet's driver: cri, config, flag, default; None if unknown."""
    in_configz: str | None = None
    """The driver that kubelet's /configz should show; None: the one of its configuration."""
    runtime: Driver | None = None
    """The driver in the runtime's files."""
    live: Driver | None = None
    """The driver that the running runtime reports."""
    cri: Driver | None = None
    """The driver in the runtime's response to RuntimeConfig."""
    cri_supported: bool | None = None
    """Whether the runtime knows that call; None if it was not called."""

    @property
    def runtime_now(self) -> Driver | None:
        """The runtime's effective driver; without a report of the runtime, the one in its files."""
        return self.live or self.runtime

    @property
    def common(self) -> Driver | None:
        """The driver that kubelet and the runtime's files have; None if they differ or one is unknown."""
        return self.kubelet if self.kubelet is self.runtime else None

    def with_both(self, driver: Driver | None) -> DriverFacts:
        """The facts with this driver for kubelet and the runtime; None changes nothing."""
        return replace(self, kubelet=driver, runtime=driver) if driver else self


@dataclass(frozen=True)
class Level:
    """A cgroup of a v2 tree: its controllers, those that it enables for children, and those that it must enable."""

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
    """``controllers`` and ``mountpoints`` are effective; ``split``: those bound to the hierarchy that is not in effect.

    ``reserved``: the hierarchies in which each cgroup exists that kubelet or the profile names;
    ``reserved_controllers``: on v2, the controllers of these cgroups. ``pods``: numbers of pods by tree.
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
    """The installer that owns the node's files, and the evidence for it. ``regenerated`` files are rewritten.

    ``template_files``: the existing templates; their text is not TOML before it is rendered.
    """

    name: str = "unknown"
    evidence: tuple[str, ...] = ()
    kubelet_inside: str | None = None
    regenerated: Mapping[str, str] = field(default_factory=dict)
    templates: tuple[str, ...] = ()
    template_files: tuple[ConfigFile, ...] = ()


@dataclass(frozen=True)
class PodFacts:
    """Ready sandboxes, running containers, and the form of the cgroup paths of their processes."""

    sandboxes: int
    containers: int
    systemd_paths: int
    cgroupfs_paths: int
    misplaced_paths: tuple[str, ...]


@dataclass(frozen=True)
class CpuFacts:
    """CPU lists as the kernel prints them; None if it does not. ``numa``: a list for each NUMA node."""

    offline: str | None
    present: str | None
    isolated: str | None
    smt: bool | None
    siblings: tuple[str, ...]
    numa: Mapping[str, str | None]


@dataclass(frozen=True)
class KernelFacts:
    """``features`` are True, False or None for unknown; ``probed``: the file that shows each of them.

    ``boot``: the next boot's parameters in each file of the boot loader; None if they were not recorded.
    """

    parameters: Parameters
    features: Mapping[str, bool | None]
    probed: Mapping[str, str]
    sysctls: Mapping[str, str]
    swaps: tuple[str, ...] | None
    boot: Mapping[str, Parameters] | None = None


@dataclass(frozen=True)
class SystemdFacts:
    """``installed``: the version that the next boot starts; ``next_mode``: the cgroup mode after it, with a reason."""

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
class TunedFacts:
    """TuneD's active profiles, and the CPUs that it keeps processes on or away from, as its files have them."""

    profiles: tuple[str, ...]
    cpu_affinity: str
    """CPUAffinity of its drop-in for systemd; it remains after TuneD is removed."""
    isolated_cores: Mapping[str, str]
    """By the file that sets it."""


@dataclass(frozen=True)
class WriterFacts:
    """Other programs that write to cgroups or to kubelet's files; ``evidence``: the process or unit of each."""

    evidence: Mapping[str, str]
    nri_plugins: tuple[str, ...]
    overrides: tuple[str, ...]
    rubik: RubikConfig | None = None
    tuned: TunedFacts | None = None


@dataclass(frozen=True)
class LedgerProblem:
    """Why the ledger of the collection's earlier changes cannot be read, and the remedy."""

    file: str
    message: str
    remedy: str


@dataclass(frozen=True)
class RecordProblem:
    """The same for another record of the collection; ``record``: a name in module_utils/snapshot/record_evidence.py."""

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
    """Whether the facts are of the files of a node that does not run."""
    ledger_problem: LedgerProblem | None = None
    record_problems: tuple[RecordProblem, ...] = ()
    sockets: int | None = None
    """None if the kernel does not report them."""
    operating_system: OperatingSystem = field(default_factory=OperatingSystem)
