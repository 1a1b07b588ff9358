# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules that prepare an image report what its first boot does, in check mode and in the real run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.support.tasks import in_process
from ansible_collections.volcano.colocation.tests.support.tasks.node_image import grow

CPU_STATE = "var/lib/kubelet/cpu_manager_state"
MEMORY_STATE = "var/lib/kubelet/memory_manager_state"
STATIC: dict[str, Any] = {"cgroup_driver": "systemd", "cpu_manager_policy": "static", "system_reserved": {"cpu": "1"}}


def state(policy: str, **more: Any) -> str:
    return json.dumps({"policyName": policy, "entries": {}, "checksum": 1, **more})


def both(module: str, root: Path, **options: Any) -> dict[str, Any]:
    """The result in check mode, which must equal that of the real run."""
    arguments = {"root": str(root), **options}
    foreseen = in_process.run(module, arguments, check=True)
    done = in_process.run(module, arguments)
    for result in (foreseen, done):
        assert not result.get("failed"), result
    predicted = {key: foreseen.get(key) for key in ("first_boot", "warnings", "changed")}
    assert predicted == {key: done.get(key) for key in predicted}
    again = in_process.run(module, arguments)
    assert again["first_boot"] == done["first_boot"]
    assert not again["changed"]
    return done


def test_kubelet_with_what_its_file_then_says(tmp_path: Path) -> None:
    result = both("kubelet_config", grow(tmp_path, {}), **STATIC)
    assert result["first_boot"] == [
        "kubelet.service starts kubelet with cgroupDriver systemd, cpuManagerPolicy static, topologyManagerPolicy none,"
        " memoryManagerPolicy None (/var/lib/kubelet/config.yaml)",
        "kubelet makes /var/lib/kubelet/cpu_manager_state for cpuManagerPolicy static",
        "kubelet makes /var/lib/kubelet/memory_manager_state for memoryManagerPolicy None",
    ]
    assert result["warnings"] == []


@pytest.mark.parametrize(
    ("files", "options", "words"),
    [
        (
            {CPU_STATE: state("none", defaultCpuSet="")},
            STATIC,
            "/var/lib/kubelet/cpu_manager_state in the image was made under none, and cpuManagerPolicy is static",
        ),
        (
            {CPU_STATE: state("static", defaultCpuSet="0-3")},
            {**STATIC, "cpu_manager_policy": "none"},
            "/var/lib/kubelet/cpu_manager_state in the image was made under static, and cpuManagerPolicy is none",
        ),
        (
            {MEMORY_STATE: state("Static")},
            {"cgroup_driver": "systemd"},
            "/var/lib/kubelet/memory_manager_state in the image was made under Static, and memoryManagerPolicy is None",
        ),
        ({CPU_STATE: "{"}, STATIC, "/var/lib/kubelet/cpu_manager_state in the image cannot be read"),
    ],
)
def test_a_checkpoint_that_was_baked_in_is_warned_of(
    files: dict[str, str | None], options: dict[str, Any], words: str, tmp_path: Path
) -> None:
    root = grow(tmp_path, files)
    result = both("kubelet_config", root, **options)
    (warning,) = result["warnings"]
    assert warning.startswith(f"kubelet does not start: {words}")
    assert "delete it there" in warning
    assert warning in result["first_boot"]
    # A foreign file stays.
    assert {name: (root / name).read_text() for name in files} == files


def test_a_checkpoint_of_the_same_policy_is_of_the_machine_that_made_it(tmp_path: Path) -> None:
    root = grow(tmp_path, {CPU_STATE: state("static", defaultCpuSet="0-3")})
    result = both("kubelet_config", root, **STATIC)
    assert result["warnings"] == []
    assert result["first_boot"][1] == (
        "kubelet takes over /var/lib/kubelet/cpu_manager_state of the machine that made it (CPUs 0-3), and does not"
        " start on another kind; delete it from the image"
    )


def test_the_slices_that_kubelet_looks_for_come_first(tmp_path: Path) -> None:
    options = {
        **STATIC,
        "enforce_node_allocatable": ["pods", "kube-reserved"],
        "kube_reserved_cgroup": "/runtime.slice",
    }
    lines = both("kubelet_config", grow(tmp_path, {}), **options)["first_boot"]
    assert lines[0].startswith("/runtime.slice (kubeReservedCgroup) must exist before kubelet starts")
    assert lines[1].startswith("kubelet.service starts kubelet with cgroupDriver systemd")


def test_containerd_with_what_its_files_then_come_to(tmp_path: Path) -> None:
    options = {"cgroup_driver": "systemd", "nri": {"enabled": True}}
    result = both("containerd_config", grow(tmp_path, {}), **options)
    assert result["first_boot"] == [
        "containerd.service starts containerd with the cgroup driver runc systemd (/etc/containerd/config.toml)",
        "NRI is on",
    ]
    assert both("containerd_config", grow(tmp_path / "other", {}), cgroup_driver="systemd")["first_boot"][1] == (
        "NRI is on with containerd 2.0 and newer, off before"
    )


def test_a_slice_and_what_starts_before_it(tmp_path: Path) -> None:
    root = grow(tmp_path, {})
    (root / "etc/systemd/system").mkdir(parents=True)
    result = both("systemd_slice", root, name="runtime.slice", properties={"CPUWeight": 39}, controllers=["cpuset"])
    assert result["first_boot"] == [
        "volcano-colocation-cgroups-runtime.service makes its cgroup in cpuset",
        "runtime.slice starts before slices.target and before kubelet.service with CPUWeight=39"
        " (/etc/systemd/system/runtime.slice)",
    ]
    deleted = both("systemd_slice", root, name="runtime.slice", state="absent")
    assert deleted["first_boot"] == ["runtime.slice: the collection does not start or change it"]


def test_a_slice_of_somebody_else_is_named_as_theirs_with_our_drop_in(tmp_path: Path) -> None:
    root = grow(tmp_path, {"usr/lib/systemd/system/system.slice": "[Unit]\nDescription=System Slice\n"})
    (root / "etc/systemd/system").mkdir(parents=True)
    (line,) = both("systemd_slice", root, name="system.slice", properties={"CPUWeight": 20})["first_boot"]
    assert line.startswith(
        "system.slice, which the collection does not create, gets CPUWeight=20 (/etc/systemd/system/system.slice.d/"
    )
