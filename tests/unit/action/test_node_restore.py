# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""node_restore on images: changes of other modules are restored byte for byte, and foreign changes stay."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.support.tasks.node_image import (
    KUBELET,
    KUBELET_TEXT,
    RUNTIME,
    RUNTIME_TEXT,
    STATE,
    contents,
    grow,
)
from ansible_collections.volcano.colocation.tests.support.tasks.play_tasks import Run, Task, checked, run, task

PLANTED = "hunter2-Zm9v"
SLICE = "etc/systemd/system/node-agents.slice"
DROP_IN = "etc/systemd/system/kubepods-besteffort.slice.d/50-volcano-colocation.conf"
ALL = ["kubelet", "runtime", "slices", "qos"]


def named(register: str, one: Task) -> Task:
    return {**one, "name": register, "register": register}


def saved(directory: Path, register: str) -> Task:
    """Copy the image at this point of the play, with modes and owners."""
    return {
        "name": f"keep {register}",
        "ansible.builtin.command": {"argv": ["cp", "-a", str(directory / "image"), str(directory / register)]},
    }


def note(path: Path, text: str) -> Task:
    """Write a file without the collection's modules."""
    script = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_text(sys.argv[2])"
    return {"name": f"write {path}", "ansible.builtin.command": {"argv": ["python3", "-c", script, str(path), text]}}


def provisioned(root: Path) -> list[Task]:
    """Change kubelet's and containerd's files twice, so that original and last content differ; two slices."""
    first = {"root": str(root), "cgroup_driver": "systemd"}
    return [
        task("kubelet", "kubelet_config", **first, cpu_manager_policy="static", system_reserved={"cpu": "500m"}),
        task("runtime", "containerd_config", **first, nri={"enabled": True}),
        task("kubelet_more", "kubelet_config", root=str(root), pod_pids_limit=4096),
        task("slice", "systemd_slice", root=str(root), name="node-agents.slice", properties={"CPUWeight": 500}),
        task(
            "parent",
            "systemd_slice",
            root=str(root),
            name="node.slice",
            controllers=["hugetlb"],
            properties={"TasksMax": 100},
        ),
        task(
            "drop_in",
            "systemd_slice",
            root=str(root),
            name="kubepods-besteffort.slice",
            properties={"CPUQuota": "250%"},
        ),
    ]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("restore")
    grow(directory / "image", {})
    os.chmod(directory / "image" / KUBELET, 0o600)
    (directory / "image/etc/systemd/system").mkdir(parents=True)
    return directory


@pytest.fixture(scope="module")
def lived(directory: Path) -> Run:
    root = directory / "image"
    one = task("one", "node_restore", root=str(root))
    slices = task("slices", "node_restore", root=str(root), sections=["slices"])
    return run(
        directory,
        [
            saved(directory, "untouched"),
            named("nothing", one),
            saved(directory, "after_nothing"),
            *provisioned(root),
            saved(directory, "provisioned"),
            named("all_checked", checked(one)),
            saved(directory, "after_check"),
            named("slices_checked", checked(slices)),
            named("slices", slices),
            named("slices_again", slices),
            saved(directory, "without_slices"),
            named("rest_checked", checked(one)),
            named("rest", one),
            saved(directory, "restored"),
            named("again_checked", checked(one)),
            named("again", one),
        ],
    )


def result(lived: Run, name: str) -> Any:
    result = lived.results[name]
    assert not result.get("failed"), result.get("msg")
    return result


def listed(result: Any) -> list[tuple[str, str, str]]:
    return [(change["section"], change["target"], change["action"]) for change in result["changes"]]


FILES = [("kubelet", f"/{KUBELET}", "restore"), ("runtime", f"/{RUNTIME}", "restore")]
SLICES = [
    ("slices", "kubepods-besteffort.slice", "remove managed files"),
    ("slices", "node-agents.slice", "remove managed files"),
    ("slices", "node.slice", "remove managed files"),
]
OWN = [("collection", f"/{STATE}", "remove")]


def test_a_node_never_touched_costs_one_execution_and_stays(lived: Run, directory: Path) -> None:
    output = result(lived, "nothing")
    assert (output["changed"], output["changes"], output["diff"]) == (False, [], [])
    assert output["usage"]["module_executions"] == 1
    assert contents(directory / "after_nothing") == contents(directory / "untouched")


def test_check_mode_tells_all_and_changes_nothing(lived: Run, directory: Path) -> None:
    output = result(lived, "all_checked")
    assert output["changed"]
    assert listed(output) == [*FILES, *SLICES, *OWN]
    assert contents(directory / "after_check") == contents(directory / "provisioned")


def test_a_selected_section_is_restored_alone(lived: Run, directory: Path) -> None:
    output = result(lived, "slices")
    assert (output["changed"], listed(output)) == (True, SLICES)
    assert output["notes"] == ["not selected and unchanged: kubelet, runtime"]
    after, before = contents(directory / "without_slices"), contents(directory / "provisioned")
    deleted = {name for name in before if name not in after and not name.endswith(":mode")}
    assert {SLICE, "etc/systemd/system/node.slice", DROP_IN} <= deleted
    assert after[KUBELET] == before[KUBELET]
    assert not [name for name in after if "volcano-colocation-cgroups" in name or name.endswith(".slice")]
    assert not result(lived, "slices_again")["changed"]


def test_everything_is_as_it_was(lived: Run, directory: Path) -> None:
    assert listed(result(lived, "rest")) == [*FILES, *OWN]
    assert contents(directory / "restored") == contents(directory / "untouched")


@pytest.mark.parametrize("name", ["slices", "rest", "again"])
def test_check_mode_says_what_will_be(lived: Run, name: str) -> None:
    predicted, real = result(lived, f"{name}_checked"), result(lived, name)
    for key in ("changed", "diff", "changes", "pending", "conflicts", "notes"):
        assert predicted[key] == real[key], key


def test_a_second_restore_changes_nothing(lived: Run) -> None:
    output = result(lived, "again")
    assert (output["changed"], output["changes"], output["usage"]["module_executions"]) == (False, [], 1)


def test_the_difference_is_that_of_the_files_without_their_secrets(lived: Run) -> None:
    kubelet, runtime = result(lived, "rest")["diff"]
    assert kubelet["before_header"] == f"/{KUBELET}"
    assert "cpuManagerPolicy: static" in kubelet["before"]
    assert "podPidsLimit: 4096" in kubelet["before"]
    assert kubelet["after"].count("\n") == KUBELET_TEXT.count("\n")
    assert "SystemdCgroup = true" in runtime["before"]
    assert runtime["after"].splitlines()[:4] == RUNTIME_TEXT.splitlines()[:4]
    assert PLANTED not in json.dumps(lived.results)
    assert PLANTED not in lived.output


# Foreign changes


@pytest.fixture(scope="module")
def other_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("foreign")
    grow(directory / "image", {})
    return directory


@pytest.fixture(scope="module")
def disturbed(other_directory: Path) -> Run:
    directory = other_directory
    root = directory / "image"
    one = task("one", "node_restore", root=str(root))
    foreign_text = KUBELET_TEXT + "podPidsLimit: 77\nregistryToken: " + PLANTED + "\n"
    runtime = task("runtime_alone", "node_restore", root=str(root), sections=["runtime"])
    return run(
        directory,
        [
            task("kubelet", "kubelet_config", root=str(root), pod_pids_limit=4096),
            task("driver", "containerd_config", root=str(root), nri={"enabled": True}),
            note(root / KUBELET, foreign_text),
            saved(directory, "before"),
            named("refused_checked", checked(one)),
            named("refused", one),
            saved(directory, "refused"),
            named("runtime_alone", runtime),
            saved(directory, "runtime_alone"),
            # By hand, as the remedy says.
            note(root / KUBELET, KUBELET_TEXT),
            named("agreed", one),
            saved(directory, "agreed"),
            named("agreed_again", one),
        ],
    )


def test_somebody_elses_change_stays_and_is_shown(disturbed: Run, other_directory: Path) -> None:
    result = disturbed.results["refused"]
    assert result["failed"]
    assert result["changed"] is False
    assert result["msg"].startswith("Nothing was changed. kubelet: /var/lib/kubelet/config.yaml: it was changed by")
    assert "-podPidsLimit: 4096" in result["msg"]
    assert "+podPidsLimit: 77" in result["msg"]
    assert "/var/lib/volcano-colocation/originals/" in result["msg"]
    assert PLANTED not in disturbed.output
    assert PLANTED not in json.dumps(disturbed.results)
    assert contents(other_directory / "refused") == contents(other_directory / "before")
    assert disturbed.results["refused_checked"]["msg"] == result["msg"]


def test_a_section_without_a_conflict_is_restored(disturbed: Run, other_directory: Path) -> None:
    assert listed(result(disturbed, "runtime_alone")) == [("runtime", f"/{RUNTIME}", "restore")]
    tree = contents(other_directory / "runtime_alone")
    assert tree[RUNTIME] == RUNTIME_TEXT.encode()
    assert b"podPidsLimit: 77" in bytes(tree[KUBELET])  # type: ignore[arg-type]


def test_what_was_put_back_by_hand_leaves_the_ledger(disturbed: Run, other_directory: Path) -> None:
    assert listed(result(disturbed, "agreed")) == OWN
    assert contents(other_directory / "agreed") == contents(grow(other_directory / "fresh", {}))
    assert not result(disturbed, "agreed_again")["changed"]
