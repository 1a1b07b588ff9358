# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about systems whose files cannot be changed, are made again at boot, or belong to the system's own manager."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ....module_utils.snapshot.filesystems import WRITTEN
from ...facts.model import NodeFacts
from ...facts.operating_system import FileSystem, OperatingSystem
from ..model import Effect, Finding, Rule, Severity


@dataclass(frozen=True)
class Managed:
    """A system that is configured in another way: its name, why its files are not to be written, what to do instead."""

    name: str
    why: str
    remedy: str


MACHINE_CONFIG = Managed(
    "OpenShift's CoreOS",
    "the Machine Config Operator owns the files of kubelet and CRI-O, and marks a node degraded whose files differ",
    "Make a KubeletConfig, ContainerRuntimeConfig or MachineConfig resource of the cluster.",
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
    ),
    "cos": Managed(
        "Container-Optimized OS",
        "its root is read-only, and /etc is in memory and made again at each boot",
        "Use the node system configuration of the node pool (kubeletConfig), or write the files with cloud-init at each"
        " boot.",
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
    ),
}
"""By ID of os-release(5). Sources: talos.dev machine configuration; bottlerocket.dev "Restricted filesystem" and
settings.kubernetes; flatcar.org "Disk layout"; cloud.google.com "Disks and file system overview";
openshift/machine-config-operator#579; nixpkgs nixos/modules/services/cluster/kubernetes/kubelet.nix."""

REBUILD = (
    "Write the settings to the image or the configuration that this system is made of; kubelet_config and"
    " containerd_config do that to the files of an image, with its root."
)


def managed(system: OperatingSystem) -> Managed | None:
    """What is known of a system by its name. RHEL's CoreOS calls itself rhel from OpenShift 4.19 on."""
    if system.id in ("rhel", "centos") and system.variant == "coreos":
        return MACHINE_CONFIG
    return MANAGED.get(system.id)


def immutable(facts: NodeFacts) -> Iterator[Finding]:
    system = facts.operating_system
    known = managed(system)
    closed = {path: each for path, each in _written(system).items() if each.read_only}
    if known is None and not closed:
        return
    name = known.name if known else system.name or "This system"
    why = known.why if known else f"{_listed(closed)} cannot be written, and every change of services writes there"
    yield Finding(
        "immutable-system",
        Severity.ERROR,
        Effect.UNSUPPORTED,
        f"{name} is not changed by this collection: {why}.",
        (*_identity(system), *_mounts(closed)),
        known.remedy if known else REBUILD,
    )


def volatile(facts: NodeFacts) -> Iterator[Finding]:
    """Where all is in memory, as on a node without a disk, a reboot leaves neither a change nor its journal."""
    system = facts.operating_system
    written = _written(system)
    lost = {path: each for path, each in written.items() if each.volatile}
    if lost and len(lost) < len(written) and managed(system) is None:
        yield Finding(
            "writes-are-lost",
            Severity.ERROR,
            Effect.UNSUPPORTED,
            f"{_listed(lost)} is in memory and {_listed(written.keys() - lost.keys())} is not: a reboot would keep one"
            " part of a change without the other.",
            (*_identity(system), *_mounts(lost)),
            "Put them on a file system that stays, or write the settings where this system's boot takes them from.",
        )


def read_only_usr(facts: NodeFacts) -> Iterator[Finding]:
    system = facts.operating_system
    usr = system.file_systems.get("/usr")
    stopped = any(True for rule in (immutable, volatile) for _found in rule(facts))
    if usr is None or not usr.read_only or stopped:
        return
    yield Finding(
        "usr-read-only",
        Severity.INFO,
        Effect.NONE,
        "/usr is read-only, and all that a change writes to is not.",
        (*_identity(system), *_mounts({"/usr": usr, **_written(system)})),
        "Try it on one node first: this collection's tests have run on no such system.",
    )


def _written(system: OperatingSystem) -> dict[str, FileSystem]:
    return {path: system.file_systems[path] for path in WRITTEN if path in system.file_systems}


def _listed(paths: Mapping[str, FileSystem] | set[str]) -> str:
    return " and ".join(path for path in WRITTEN if path in paths)


def _identity(system: OperatingSystem) -> tuple[str, ...]:
    variant = f", VARIANT_ID={system.variant}" if system.variant else ""
    return (f"os-release: ID={system.id}{variant}, {system.name}",) if system.id or system.name else ()


def _mounts(found: Mapping[str, FileSystem]) -> Iterator[str]:
    for path, each in found.items():
        leads = "" if each.leads_to == path else f" leads to {each.leads_to},"
        yield f"{path}{leads} is on {each}"


RULES: tuple[Rule, ...] = (immutable, volatile, read_only_usr)
