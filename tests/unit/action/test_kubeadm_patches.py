# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubeadm's directory of patches on an image: written and restored with the main file in one transaction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.readers import read_yaml
from ansible_collections.volcano.colocation.tests.support.tasks.node_image import contents, grow, without_state
from ansible_collections.volcano.colocation.tests.support.tasks.play_tasks import Run, checked, run, task

DIRECTORY = "etc/kubernetes/patches"
OWN = f"{DIRECTORY}/kubeletconfigurationzz-volcano-colocation+merge.yaml"
FOREIGN_PATH = f"{DIRECTORY}/kubeletconfiguration.yaml"
KUBEADM: dict[str, str | None] = {
    "var/lib/kubelet/kubeadm-flags.env": 'KUBELET_KUBEADM_ARGS=""\n',
    "etc/kubernetes/kubelet.conf": "kind: Config\n",
}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("patches")
    grow(directory / "image", KUBEADM)
    # Next to a patch with another value, and next to one that is applied after the collection's.
    grow(directory / "beside", {**KUBEADM, FOREIGN_PATH: "cgroupDriver: cgroupfs # foreign\n"})
    grow(directory / "after", {**KUBEADM, f"{DIRECTORY}/zz/kubeletconfiguration.yaml": "cgroupDriver: cgroupfs\n"})
    return directory


@pytest.fixture(scope="module")
def lived(directory: Path) -> Run:
    def desired(register: str, image: str) -> dict[str, Any]:
        options: dict[str, Any] = {"cgroup_driver": "systemd", "kubeadm_patches": f"/{DIRECTORY}"}
        return task(register, "kubelet_config", root=str(directory / image), **options)

    def saved(name: str, image: str) -> dict[str, Any]:
        argv = ["cp", "-a", str(directory / image), str(directory / name)]
        return {"name": f"keep {name}", "ansible.builtin.command": {"argv": argv}}

    return run(
        directory,
        [
            saved("untouched", "image"),
            checked(desired("checked", "image")),
            desired("created", "image"),
            saved("written", "image"),
            desired("again", "image"),
            task("restored", "node_restore", root=str(directory / "image")),
            desired("beside", "beside"),
            desired("after", "after"),
            task(
                "relative", "kubelet_config", root=str(directory / "image"), kubeadm_patches="patches", pod_pids_limit=9
            ),
        ],
    )


def test_the_patch_is_written_beside_the_main_file(lived: Run, directory: Path) -> None:
    created = lived.results["created"]
    assert created["changed"]
    assert [difference["before_header"] for difference in created["diff"]] == [
        "/var/lib/kubelet/config.yaml",
        f"/{OWN}",
    ]
    assert read_yaml((directory / "written" / OWN).read_text(encoding="utf-8")) == {"cgroupDriver": "systemd"}


def test_check_mode_tells_the_same_and_a_second_run_nothing(lived: Run) -> None:
    for key in ("changed", "diff", "restart_required"):
        assert lived.results["checked"][key] == lived.results["created"][key], key
    assert (lived.results["again"]["changed"], lived.results["again"]["diff"]) == (False, [])


def test_a_restore_takes_it_and_its_directory_away(lived: Run, directory: Path) -> None:
    listed = {(change["target"], change["action"]) for change in lived.results["restored"]["changes"]}
    assert (f"/{OWN}", "remove") in listed
    assert without_state(contents(directory / "image")) == without_state(contents(directory / "untouched"))


def test_somebody_elses_patch_stays_as_it_is(lived: Run, directory: Path) -> None:
    assert lived.results["beside"]["changed"]
    assert (directory / "beside" / FOREIGN_PATH).read_text(encoding="utf-8") == "cgroupDriver: cgroupfs # foreign\n"
    assert (directory / "beside" / OWN).is_file()


def test_one_that_comes_after_ours_is_refused_before_anything_changes(lived: Run, directory: Path) -> None:
    after = lived.results["after"]
    assert after["failed"]
    assert "/zz/kubeletconfiguration.yaml: changes cgroupDriver, and kubeadm applies it after" in after["msg"]
    assert not (directory / "after" / OWN).exists()
    assert "cgroupDriver: cgroupfs" in (directory / "after/var/lib/kubelet/config.yaml").read_text(encoding="utf-8")


def test_a_relative_directory_is_refused(lived: Run) -> None:
    assert lived.results["relative"]["failed"]
    assert lived.results["relative"]["msg"] == "kubeadm_patches: 'patches' is not an absolute path"
