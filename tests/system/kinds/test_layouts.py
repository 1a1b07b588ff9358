# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node as kubeadm leaves it, with a flag in its environment file that overrides the driver of kubelet's file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ansible_collections.volcano.colocation.tests.system.node import Node, Run, throwaway
from ansible_collections.volcano.colocation.tests.system.pods import QOS_CLASSES, qos_classes

NAME = "kubeadm"
SPEC = (
    *("--suite", "bookworm", "--cgroup", "v2", "--layout", "kubeadm"),
    *("--driver-kubelet", "systemd", "--driver-runtime", "cgroupfs"),
    *("--kubelet-flag=--cgroup-driver=cgroupfs", "--kubelet-flag=--max-pods=20"),
)
EXTRA = "/etc/default/kubelet"
OTHERS = (
    "/usr/lib/systemd/system/kubelet.service",
    "/etc/systemd/system/kubelet.service.d/10-kubeadm.conf",
    "/etc/systemd/system/kubelet.service.d/20-lab.conf",
    "/var/lib/kubelet/kubeadm-flags.env",
)
"""Files of packages and of kubeadm, which overwrite whatever anyone else writes there."""


@pytest.fixture(scope="module", name="kubeadm")
def _kubeadm(request: pytest.FixtureRequest) -> Iterator[Node]:
    yield from throwaway(request, NAME, *SPEC)


def provision(node: Node, *arguments: str) -> Run:
    # containerd 1.6 has no NRI.
    return node.ansible("provision", *arguments, colocation_nri_unsupported="skip")


def flags(node: Node) -> list[str]:
    """kubelet's own words, from the kernel."""
    return node.shell("tr '\\0' '\\n' < /proc/$(pidof kubelet)/cmdline").splitlines()


def test_the_flag_that_overrides_the_driver_goes_and_the_other_stays(kubeadm: Node) -> None:
    assert "--cgroup-driver=cgroupfs" in flags(kubeadm)
    assert qos_classes(kubeadm.containers(), "cgroupfs") == QOS_CLASSES
    others = kubeadm.shell(f"sha256sum {' '.join(OTHERS)}")

    predicted = provision(kubeadm, "--check", "--diff")
    assert predicted.code == 0, predicted.output
    assert EXTRA in predicted.output
    assert "-KUBELET_EXTRA_ARGS=--cgroup-driver=cgroupfs --max-pods=20" in predicted.output
    assert "+KUBELET_EXTRA_ARGS=--max-pods=20" in predicted.output
    assert "--cgroup-driver=cgroupfs" in kubeadm.shell(f"cat {EXTRA}")

    done = provision(kubeadm)
    assert done.code == 0, done.output
    assert kubeadm.shell(f"cat {EXTRA}") == "KUBELET_EXTRA_ARGS=--max-pods=20\n"
    assert kubeadm.shell(f"sha256sum {' '.join(OTHERS)}") == others
    assert not [flag for flag in flags(kubeadm) if "cgroup-driver" in flag]
    assert "--max-pods=20" in flags(kubeadm)
    assert qos_classes(kubeadm.containers(), "systemd") == QOS_CLASSES


def test_a_second_run_changes_nothing_on_kubeadms_node(kubeadm: Node) -> None:
    before, services = kubeadm.tree(), kubeadm.services()
    run = provision(kubeadm)
    assert run.code == 0, run.output
    assert run.recap(NAME)["changed"] == 0
    assert (kubeadm.tree(), kubeadm.services()) == (before, services)
