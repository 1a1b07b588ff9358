# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Systems whose files cannot be changed, are made again at boot, or belong to the system's own manager."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable, Mapping

from .errors import ColocationError
from .host import Host
from .operating_system import FileSystem, OperatingSystem, interpret_system
from .snapshot.filesystems import STATE, UNITS, WRITTEN
from .snapshot.system import distribution


@dataclass(frozen=True)
class Managed:
    """A system that is configured in another way: its name, why its files are not to be written, what to do instead.

    ``spared``: those of WRITTEN that it leaves to others, and that last.
    """

    name: str
    why: str
    remedy: str
    spared: tuple[str, ...] = ()


MACHINE_CONFIG = Managed(
    "OpenShift's CoreOS",
    "the Machine Config Operator owns the files of kubelet and CRI-O, and marks a node degraded whose files differ",
    "Make a KubeletConfig, ContainerRuntimeConfig or MachineConfig resource of the cluster.",
    (STATE,),
)
MANAGED: Mapping[str, Managed] = {
    "talos": Managed(
        "Talos Linux",
        "its root is a read-only image, it has no systemd, and its API writes the files of kubelet and containerd",
        "Set machine.kubelet.extraConfig in the machine configuration, and a file /etc/cri/conf.d/20-customization.part"
        " in machine.files for containerd; apply it with talosctl.",
    ),
    "bottlerocket": Managed(
        "Bottlerocket",
        "its root is read-only (dm-verity), and its API writes /etc, which is in memory, at each boot",
        "Set settings.kubernetes (cpu-manager-policy, system-reserved, kube-reserved and others) in the user data or"
        " with apiclient.",
    ),
    "flatcar": Managed(
        "Flatcar Container Linux",
        "its /usr is read-only, and the program that undoes a change after a power cut belongs below /usr/local/lib",
        "Write the files of kubelet and containerd with Ignition, from a Butane configuration, when the node is made.",
        (UNITS, STATE),
    ),
    "cos": Managed(
        "Container-Optimized OS",
        "its root is read-only, and /etc is in memory and made again at each boot",
        "Use the node system configuration of the node pool (kubeletConfig), or write the files with cloud-init at each"
        " boot.",
        (STATE,),
    ),
    "rhcos": MACHINE_CONFIG,
    "scos": MACHINE_CONFIG,
    "ubuntu-core": Managed(
        "Ubuntu Core",
        "its root is a read-only snap, and snaps bring kubelet and containerd with their own configuration",
        "Use the settings of the snap that brings kubelet (snap set).",
    ),
    "nixos": Managed(
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
class Use:
    """Which of WRITTEN a module writes to, and which of them have to be as they were left after a reboot."""

    writer: str
    written: tuple[str, ...]
    lasting: tuple[str, ...]


SERVICES = Use("every change of services", WRITTEN, WRITTEN)
"""Settings that are applied again at boot are of this use too: the engine does that."""
UNIT_FILES = Use("every change of a slice", (UNITS, STATE), (UNITS,))
IMAGES = Use("every import of an image", (STATE,), (STATE,))
UNTIL_BOOT = Use("every change of cgroups", (STATE,), ())
"""Settings that go with the next boot anyway: only the lock, and a record until then, are files."""


@dataclass(frozen=True)
class Obstacle:
    """Why a module changes nothing on a system; ``places``: the mounts that show it."""

    message: str
    remedy: str
    places: Mapping[str, FileSystem]


def require_changeable(host: Host, use: Use) -> None:
    """ColocationError where this system, or a mount of it, is not for a module of this use to write to."""
    system = interpret_system(distribution(host))
    obstacle = immutable(system, use) or volatile(system, use)
    if obstacle is not None:
        raise ColocationError(obstacle.message, obstacle.remedy)


def managed(system: OperatingSystem) -> Managed | None:
    """What is known of a system by its name. RHEL's CoreOS calls itself rhel from OpenShift 4.19 on."""
    if system.id in ("rhel", "centos") and system.variant == "coreos":
        return MACHINE_CONFIG
    return MANAGED.get(system.id)


def places(system: OperatingSystem) -> dict[str, FileSystem]:
    """The mounts of WRITTEN, as far as they are known."""
    return {path: system.file_systems[path] for path in WRITTEN if path in system.file_systems}


def immutable(system: OperatingSystem, use: Use = SERVICES) -> Obstacle | None:
    """Where the system is known to be configured in another way, or what is to be written to is read-only."""
    known = _manager(system, use)
    closed = {path: each for path, each in places(system).items() if each.read_only and path in use.written}
    if known is None and not closed:
        return None
    name = known.name if known else system.name or "This system"
    why = known.why if known else f"{_listed(closed)} cannot be written, and {use.writer} writes there"
    message = f"{name} is not changed by this collection: {why}."
    return Obstacle(message, known.remedy if known else REBUILD, closed)


def volatile(system: OperatingSystem, use: Use = SERVICES) -> Obstacle | None:
    """Where a reboot would keep a part of a change. Where all is in memory, as without a disk, it keeps none of it."""
    found = places(system)
    lost = {path: each for path, each in found.items() if each.volatile}
    if not set(use.lasting) & set(lost) or len(lost) == len(found) or _manager(system, use):
        return None
    message = (
        f"{_listed(lost)} is in memory and {_listed(found.keys() - lost.keys())} is not: a reboot would keep one"
        " part of a change without the other."
    )
    return Obstacle(message, KEEP, lost)


def _manager(system: OperatingSystem, use: Use) -> Managed | None:
    """The system's own manager where a module of this use would be in its way."""
    known = managed(system)
    return None if known is None or set(use.written) <= set(known.spared) else known


def _listed(paths: Iterable[str]) -> str:
    return " and ".join(path for path in WRITTEN if path in set(paths))
