# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The shape of a container's real cgroup path tells the driver that made it."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.pods import container_path, interpret_pods

ID = "0123456789abcdef" * 4
POD = "9d1f26b3b6a0c0ffee"

SHAPES = [
    (f"0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod{POD}.slice/cri-containerd-{ID}.scope", "s"),
    (f"0::/kubepods.slice/kubepods-pod{POD}.slice/crio-{ID}.scope/container", "s"),
    (
        "0::/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/"
        f"kubelet-kubepods-burstable-pod{POD}.slice/cri-containerd-{ID}.scope",
        "s",
    ),
    (f"0::/kubepods/burstable/pod{POD}/{ID}", "c"),
    (f"0::/kubelet/kubepods/pod{POD}/{ID}", "c"),
    (f"0::/kubepods/pod{POD}/crio-{ID}", "c"),
    (f"0::/system.slice/containerd.service/kubepods-besteffort-pod{POD}.slice:cri-containerd:{ID}", "m"),
    (f"0::/kubepods-burstable-pod{POD}.slice:cri-containerd:{ID}", "m"),
    (f"0::/system.slice/docker-{ID}.scope", "-"),
    (f"9:memory:/kubepods/besteffort/pod{POD}/{ID}\n4:cpu,cpuacct:/elsewhere\n1:name=systemd:/x", "c"),
]


@pytest.mark.parametrize(("text", "shape"), SHAPES)
def test_shape(text: str, shape: str) -> None:
    pods, claims = interpret_pods({text: 1}, {})
    counted = {"s": pods.systemd_paths, "c": pods.cgroupfs_paths, "m": len(pods.misplaced_paths)}
    assert counted == {key: int(key == shape) for key in counted}
    assert [claim.value for claim in claims] == {"s": ["systemd"], "c": ["cgroupfs"], "m": ["neither"]}.get(shape, [])


def test_only_what_runs_is_counted() -> None:
    cri = {"sandboxes": [{"ready": True}, {"ready": False}], "containers": [{"running": True}, {"running": False}]}
    pods, claims = interpret_pods({}, cri)
    assert (pods.sandboxes, pods.containers) == (1, 1)
    assert claims == []


def test_no_line_is_no_path() -> None:
    assert container_path("") == ""
