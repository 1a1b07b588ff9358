# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Variants of the aligned node that fire the rules about agents, backups, the boot loader's files and images."""

from __future__ import annotations

from collections.abc import Callable

from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.rule_types import Verdict
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import Snapshot, kubelet_adds, put
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_kubelet import version
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_machine import commands, unit, v1_252
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_runtime import crio

MANIFESTS = "/etc/kubernetes/manifests"
GRUB = "/etc/default/grub"
ENTRY = "/boot/loader/entries/0e1f-6.12.conf"
GATE = "featureGates: {MemoryQoS: true}\n"
ROOT = "/sys/fs/cgroup"


RESERVATION = "memoryReservationPolicy: TieredReservation\n"


def gated(snapshot: Snapshot, number: str = "1.26.1", lines: str = GATE) -> Snapshot:
    """A copy with a kubelet that knows MemoryQoS, and these lines in its file."""
    return kubelet_adds(version(snapshot, number), lines)


def kernel(snapshot: Snapshot, release: str) -> Snapshot:
    return put(snapshot, release, "system", "kernel_release")


def manifests(snapshot: Snapshot, *names: str) -> Snapshot:
    """A copy with these files in the directory that kubelet's file names."""
    lines = kubelet_adds(snapshot, f"staticPodPath: {MANIFESTS}/\n") if not _named(snapshot) else snapshot
    return put(lines, {MANIFESTS: list(names)}, "kubelet", "static_pods")


def _named(snapshot: Snapshot) -> bool:
    return any("staticPodPath" in file.get("text", "") for file in snapshot["kubelet"]["files"].values())


def boot(snapshot: Snapshot, **words: list[str]) -> Snapshot:
    """A copy whose boot loader's files have these parameters; the current command line requests v2."""
    paths = {"grub": GRUB, "entry": ENTRY, "installed": "/etc/kernel/cmdline"}
    return put(snapshot, {paths[name]: text for name, text in words.items()}, "boot")


def rubik_service(snapshot: Snapshot, driver: str | None, *features: str) -> Snapshot:
    """A copy of a v1 node on which rubik runs as a service with its own file."""
    node = unit(commands(v1_252(snapshot), rubik=1), "rubik.service", ActiveState="active")
    return put(node, {"cgroup_driver": driver, "features": list(features)}, "writers", "rubik")


def image(snapshot: Snapshot) -> Snapshot:
    return put(snapshot, "/srv/image", "root")


VARIANTS: dict[str, tuple[Verdict, Callable[[Snapshot], Snapshot]]] = {
    "memory-qos-stalls-pods": (Verdict.ALIGNED, lambda node: kernel(gated(node), "5.8.0-63-generic")),
    "memory-reservation-refused": (Verdict.LATENT, lambda node: gated(node, "1.36.0", RESERVATION)),
    "memory-qos-agent-conflict": (Verdict.ALIGNED, lambda node: commands(gated(node), koordlet=1)),
    "memory-qos-needs-v2": (Verdict.ALIGNED, lambda node: gated(v1_252(node))),
    "cgroup-root-not-default": (Verdict.ALIGNED, lambda node: kubelet_adds(node, "cgroupRoot: /pods\n")),
    "read-only-port-open": (Verdict.ALIGNED, lambda node: kubelet_adds(node, "readOnlyPort: 10255\n")),
    "kubelet-root-dir-not-default": (
        Verdict.ALIGNED,
        lambda node: put(moved(node), "/data/kubelet/cpu_manager_state", "kubelet", "checkpoint_path"),
    ),
    "static-pod-backup-is-run": (Verdict.LATENT, lambda node: manifests(node, "etcd.yaml", "etcd.yaml.bak")),
    "dropin-backup-is-read": (
        Verdict.ALIGNED,
        lambda node: crio(node, **{"10-crio.conf": "", "10-crio.conf.rpmsave": ""}),
    ),
    "unit-not-reloaded": (Verdict.LATENT, lambda node: unit(node, "kubelet.service", NeedDaemonReload="yes")),
    "next-boot-command-line-differs": (
        Verdict.LATENT,
        lambda node: boot(node, grub=["systemd.unified_cgroup_hierarchy=0"]),
    ),
    "rubik-driver-differs": (Verdict.MISALIGNED, lambda node: rubik_service(node, None)),
    "offline-image": (Verdict.ALIGNED, image),
}


def moved(snapshot: Snapshot) -> Snapshot:
    """A copy whose checkpoint is in another directory."""
    files = snapshot["kubelet"]["files"]
    return put(
        snapshot,
        {**files, "/data/kubelet/cpu_manager_state": files[snapshot["kubelet"]["checkpoint_path"]]},
        "kubelet",
        "files",
    )
