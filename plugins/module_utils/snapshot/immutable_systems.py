# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Systems whose files cannot be changed, are re-created at boot, or are owned by the system's own manager.

A node is identified by the operating system and the mounts in its snapshot.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Iterable, Mapping

from ..errors import ColocationError
from ..host import Host
from .machine_evidence import CHANGED_PATHS, STATE, UNITS, system_evidence

LONGEST_NAME = 80
"""Characters of a system's name."""
_ASSIGNMENT = re.compile(r"^([A-Z0-9_]+)=(.*)$")
_ESCAPED = re.compile(r"\\(.)")


@dataclass(frozen=True)
class FileSystem:
    """The mount that a path is on. ``volatile``: its content is lost at a reboot."""

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
    """OperatingSystem from a snapshot's section ``system``: the host's, if the snapshot is from a container."""
    assignments = parse_os_release(system.get("outer_os_release") or system.get("os_release") or "")
    name = assignments.get("PRETTY_NAME") or assignments.get("NAME") or assignments.get("ID") or ""
    return OperatingSystem(
        id=assignments.get("ID", "").lower(),
        variant=assignments.get("VARIANT_ID", "").lower(),
        name=" ".join(name.split())[:LONGEST_NAME],
        file_systems={path: FileSystem(**mount) for path, mount in (system.get("filesystems") or {}).items()},
    )


def parse_os_release(text: str) -> dict[str, str]:
    """The assignments of os-release(5): shell syntax without expansion; the last assignment of a name counts."""
    matches = (_ASSIGNMENT.match(line.strip()) for line in text.splitlines())
    return {match[1]: _unquote(match[2]) for match in matches if match}


def _unquote(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        inner = value[1:-1]
        return inner if value[0] == "'" else _ESCAPED.sub(r"\1", inner)
    return value


@dataclass(frozen=True)
class ManagedSystem:
    """A system that is configured in another way: its name, why its files must not be written, what to do instead.

    ``unmanaged``: the paths of CHANGED_PATHS that the system does not manage and keeps at a reboot.
    """

    name: str
    why: str
    remedy: str
    unmanaged: tuple[str, ...] = ()


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
    """The paths of CHANGED_PATHS that a module writes to, and those that must survive a reboot."""

    writer: str
    written: tuple[str, ...]
    lasting: tuple[str, ...]


SERVICES = WriteScope("every change of services", CHANGED_PATHS, CHANGED_PATHS)
"""Also for settings that the engine applies again at boot."""
UNIT_FILES = WriteScope("every change of a slice", (UNITS, STATE), (UNITS,))
IMAGES = WriteScope("every import of an image", (STATE,), (STATE,))
UNTIL_BOOT = WriteScope("every change of cgroups", (STATE,), ())
"""For settings that a reboot resets anyway: only the lock and a temporary record are files."""


@dataclass(frozen=True)
class Obstacle:
    """Why a module does not change a system; ``places``: the mounts that prove it."""

    message: str
    remedy: str
    places: Mapping[str, FileSystem]


def require_changeable(host: Host, scope: WriteScope) -> None:
    """ColocationError where a module with this write scope must not write to the system or one of its mounts."""
    system = interpret_system(system_evidence(host))
    obstacle = immutable_obstacle(system, scope) or volatile_obstacle(system, scope)
    if obstacle is not None:
        raise ColocationError(obstacle.message, obstacle.remedy)


def managed_system(system: OperatingSystem) -> ManagedSystem | None:
    """The ManagedSystem with a system's name. RHEL's CoreOS has the ID rhel from OpenShift 4.19 on."""
    if system.id in ("rhel", "centos") and system.variant == "coreos":
        return MACHINE_CONFIG
    return MANAGED.get(system.id)


def written_mounts(system: OperatingSystem) -> dict[str, FileSystem]:
    """The known mounts of CHANGED_PATHS."""
    return {path: system.file_systems[path] for path in CHANGED_PATHS if path in system.file_systems}


def immutable_obstacle(system: OperatingSystem, scope: WriteScope = SERVICES) -> Obstacle | None:
    """Obstacle where the system is configured in another way, or where a path that must be written is read-only."""
    known = _conflicting_manager(system, scope)
    closed = {
        path: mount for path, mount in written_mounts(system).items() if mount.read_only and path in scope.written
    }
    if known is None and not closed:
        return None
    name = known.name if known else system.name or "This system"
    why = known.why if known else f"{_join(closed)} cannot be written, and {scope.writer} writes there"
    message = f"{name} is not changed by this collection: {why}."
    return Obstacle(message, known.remedy if known else REBUILD, closed)


def volatile_obstacle(system: OperatingSystem, scope: WriteScope = SERVICES) -> Obstacle | None:
    """Obstacle where a reboot would keep only a part of a change. A system entirely in memory keeps none of it."""
    mounts = written_mounts(system)
    volatile = {path: mount for path, mount in mounts.items() if mount.volatile}
    if not set(scope.lasting) & set(volatile) or len(volatile) == len(mounts) or _conflicting_manager(system, scope):
        return None
    message = (
        f"{_join(volatile)} is in memory and {_join(mounts.keys() - volatile.keys())} is not: a reboot would keep one"
        " part of a change without the other."
    )
    return Obstacle(message, KEEP, volatile)


def _conflicting_manager(system: OperatingSystem, scope: WriteScope) -> ManagedSystem | None:
    """The system's own manager if it conflicts with a module with this write scope."""
    known = managed_system(system)
    return None if known is None or set(scope.written) <= set(known.unmanaged) else known


def _join(paths: Iterable[str]) -> str:
    return " and ".join(path for path in CHANGED_PATHS if path in set(paths))
