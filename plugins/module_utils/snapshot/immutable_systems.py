# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Systems whose files cannot be changed, are made again at boot, or belong to the system's own manager.

The operating system and the mounts of a snapshot tell which of them a node is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Iterable, Mapping

from ..errors import ColocationError
from ..host import Host
from .machine_evidence import CHANGED_PATHS, STATE, UNITS, system_evidence

LONGEST_NAME = 80
"""Characters of a name that a node gives itself."""
_ASSIGNMENT = re.compile(r"^([A-Z0-9_]+)=(.*)$")
_ESCAPED = re.compile(r"\\(.)")


@dataclass(frozen=True)
class FileSystem:
    """The mount that a path is on. ``volatile``: what is written there is gone after a reboot."""

    leads_to: str
    mount: str
    type: str
    read_only: bool
    volatile: bool

    def __str__(self) -> str:
        words = (self.type, *(("read-only",) if self.read_only else ()), *(("in memory",) if self.volatile else ()))
        return f"{self.mount} ({', '.join(words)})"


@dataclass(frozen=True)
class OperatingSystem:
    """Fields of os-release(5), empty where it is missing; ``file_systems`` by path, empty in an image."""

    id: str = ""
    variant: str = ""
    name: str = ""
    file_systems: Mapping[str, FileSystem] = field(default_factory=dict)


def interpret_system(system: Mapping[str, Any]) -> OperatingSystem:
    """OperatingSystem of a snapshot's section ``system``; that of the host where the snapshot is of its container."""
    given = parse_os_release(system.get("outer_os_release") or system.get("os_release") or "")
    name = given.get("PRETTY_NAME") or given.get("NAME") or given.get("ID") or ""
    return OperatingSystem(
        id=given.get("ID", "").lower(),
        variant=given.get("VARIANT_ID", "").lower(),
        name=" ".join(name.split())[:LONGEST_NAME],
        file_systems={path: FileSystem(**found) for path, found in (system.get("filesystems") or {}).items()},
    )


def parse_os_release(text: str) -> dict[str, str]:
    """The assignments of os-release(5), which are a shell's without expansion; the last of a name counts."""
    found = (_ASSIGNMENT.match(line.strip()) for line in text.splitlines())
    return {each[1]: _unquote(each[2]) for each in found if each}


def _unquote(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        inner = value[1:-1]
        return inner if value[0] == "'" else _ESCAPED.sub(r"\1", inner)
    return value


@dataclass(frozen=True)
class ManagedSystem:
    """A system that is configured in another way: its name, why its files are not to be written, what to do instead.

    ``spared``: those of WRITTEN that it leaves to others, and that last.
    """

    name: str
    why: str
    remedy: str
    spared: tuple[str, ...] = ()


MACHINE_CONFIG = ManagedSystem(
    "OpenShift's CoreOS",
    "the Machine Config Operator owns the files of kubelet and CRI-O, and marks a node degraded whose files differ",
    "Make a KubeletConfig, ContainerRuntimeConfig or MachineConfig resource of the cluster.",
    (STATE,),
)
MANAGED: Mapping[str, ManagedSystem] = {
    "talos": ManagedSystem(
        "Talos Linux",
        "its root is a read-only image, it has no systemd, and its API writes the files of kubelet and containerd",
        "Set machine.kubelet.extraConfig in the machine configuration, and a file /etc/cri/conf.d/20-customization.part"
        " in machine.files for containerd; apply it with talosctl.",
    ),
    "bottlerocket": ManagedSystem(
        "Bottlerocket",
        "its root is read-only (dm-verity), and its API writes /etc, which is in memory, at each boot",
        "Set settings.kubernetes (cpu-manager-policy, system-reserved, kube-reserved and others) in the user data or"
        " with apiclient.",
    ),
    "flatcar": ManagedSystem(
        "Flatcar Container Linux",
        "its /usr is read-only, and the program that undoes a change after a power cut belongs below /usr/local/lib",
        "Write the files of kubelet and containerd with Ignition, from a Butane configuration, when the node is made.",
        (UNITS, STATE),
    ),
    "cos": ManagedSystem(
        "Container-Optimized OS",
        "its root is read-only, and /etc is in memory and made again at each boot",
        "Use the node system configuration of the node pool (kubeletConfig), or write the files with cloud-init at each"
        " boot.",
        (STATE,),
    ),
    "rhcos": MACHINE_CONFIG,
    "scos": MACHINE_CONFIG,
    "ubuntu-core": ManagedSystem(
        "Ubuntu Core",
        "its root is a read-only snap, and snaps bring kubelet and containerd with their own configuration",
        "Use the settings of the snap that brings kubelet (snap set).",
    ),
    "nixos": ManagedSystem(
        "NixOS",
        "its files are links to a read-only store, which nixos-rebuild makes of the system's configuration",
        "Set services.kubernetes.kubelet.extraConfig and virtualisation.containerd.settings in that configuration.",
        (STATE,),
    ),
}
"""By ID of os-release(5). Sources: talos.dev machine configuration; bottlerocket.dev "Restricted filesystem" and
settings.kubernetes; flatcar.org "Disk layout"; cloud.google.com "Disks and file system overview";
openshift/machine-config-operator#579; nixpkgs nixos/modules/services/cluster/kubernetes/kubelet.nix."""

REBUILD = (
    "Write the settings to the image or the configuration that this system is made of; kubelet_config and"
    " containerd_config do that to the files of an image, with its root."
)
KEEP = "Put them on a file system that stays, or write the settings where this system's boot takes them from."


@dataclass(frozen=True)
class WriteScope:
    """Which of WRITTEN a module writes to, and which of them have to be as they were left after a reboot."""

    writer: str
    written: tuple[str, ...]
    lasting: tuple[str, ...]


SERVICES = WriteScope("every change of services", CHANGED_PATHS, CHANGED_PATHS)
"""Settings that are applied again at boot are of this use too: the engine does that."""
UNIT_FILES = WriteScope("every change of a slice", (UNITS, STATE), (UNITS,))
IMAGES = WriteScope("every import of an image", (STATE,), (STATE,))
UNTIL_BOOT = WriteScope("every change of cgroups", (STATE,), ())
"""Settings that go with the next boot anyway: only the lock, and a record until then, are files."""


@dataclass(frozen=True)
class Obstacle:
    """Why a module changes nothing on a system; ``places``: the mounts that show it."""

    message: str
    remedy: str
    places: Mapping[str, FileSystem]


def require_changeable(host: Host, use: WriteScope) -> None:
    """ColocationError where this system, or a mount of it, is not for a module of this use to write to."""
    system = interpret_system(system_evidence(host))
    obstacle = immutable_obstacle(system, use) or volatile_obstacle(system, use)
    if obstacle is not None:
        raise ColocationError(obstacle.message, obstacle.remedy)


def managed_system(system: OperatingSystem) -> ManagedSystem | None:
    """What is known of a system by its name. RHEL's CoreOS calls itself rhel from OpenShift 4.19 on."""
    if system.id in ("rhel", "centos") and system.variant == "coreos":
        return MACHINE_CONFIG
    return MANAGED.get(system.id)


def written_mounts(system: OperatingSystem) -> dict[str, FileSystem]:
    """The mounts of WRITTEN, as far as they are known."""
    return {path: system.file_systems[path] for path in CHANGED_PATHS if path in system.file_systems}


def immutable_obstacle(system: OperatingSystem, use: WriteScope = SERVICES) -> Obstacle | None:
    """Where the system is known to be configured in another way, or what is to be written to is read-only."""
    known = _conflicting_manager(system, use)
    closed = {path: each for path, each in written_mounts(system).items() if each.read_only and path in use.written}
    if known is None and not closed:
        return None
    name = known.name if known else system.name or "This system"
    why = known.why if known else f"{_join(closed)} cannot be written, and {use.writer} writes there"
    message = f"{name} is not changed by this collection: {why}."
    return Obstacle(message, known.remedy if known else REBUILD, closed)


def volatile_obstacle(system: OperatingSystem, use: WriteScope = SERVICES) -> Obstacle | None:
    """Where a reboot would keep a part of a change. Where all is in memory, as without a disk, it keeps none of it."""
    found = written_mounts(system)
    lost = {path: each for path, each in found.items() if each.volatile}
    if not set(use.lasting) & set(lost) or len(lost) == len(found) or _conflicting_manager(system, use):
        return None
    message = (
        f"{_join(lost)} is in memory and {_join(found.keys() - lost.keys())} is not: a reboot would keep one"
        " part of a change without the other."
    )
    return Obstacle(message, KEEP, lost)


def _conflicting_manager(system: OperatingSystem, use: WriteScope) -> ManagedSystem | None:
    """The system's own manager where a module of this use would be in its way."""
    known = managed_system(system)
    return None if known is None or set(use.written) <= set(known.spared) else known


def _join(paths: Iterable[str]) -> str:
    return " and ".join(path for path in CHANGED_PATHS if path in set(paths))
