# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""crio_config on an image: create, again, modify, again, each in check mode first; and nodes that it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.support.tasks.node_image import contents, grow, without_state
from ansible_collections.volcano.colocation.tests.support.tasks.play_tasks import (
    Run,
    Task,
    checked,
    record_text,
    run,
    task,
)

DIRECTORY = "etc/crio/crio.conf.d"
OWN_PATH = f"{DIRECTORY}/99-volcano-colocation.conf"
SITE = f"{DIRECTORY}/10-crio.conf"
SITE_TEXT = """[crio.runtime]
default_runtime = "crun"
[crio.runtime.runtimes.crun]
monitor_env = ["SITE_KEY=hunter2-Zm9v"]
"""
CRIO: dict[str, str | None] = {
    "usr/bin/containerd": None,
    "etc/containerd/config.toml": None,
    "usr/bin/crio": "",
    SITE: SITE_TEXT,
}
HEADER = "# Kept by the Ansible collection volcano.colocation. A file that sorts behind this one wins over it.\n"

CREATE = {"cgroup_driver": "cgroupfs", "nri": {"enabled": True}}
MODIFY = {"cgroup_driver": "systemd", "nri": {"enabled": False, "socket_path": "/run/n.sock"}}
CREATED = HEADER + (
    '\n[crio.runtime]\ncgroup_manager = "cgroupfs"\nconmon_cgroup = "pod"\n\n[crio.nri]\nenable_nri = true\n'
)
MODIFIED = CREATED.replace('"cgroupfs"', '"systemd"').replace("true", 'false\nnri_listen = "/run/n.sock"')

STEPS: dict[str, tuple[dict[str, Any], bool, str]] = {
    "create": (CREATE, True, CREATED),
    "create_again": (CREATE, False, CREATED),
    "modify": (MODIFY, True, MODIFIED),
    "modify_again": (MODIFY, False, MODIFIED),
    "nothing": ({}, False, MODIFIED),
}
BEFORE = dict(zip(STEPS, ["", *(text for _options, _changed, text in STEPS.values())], strict=False))

LATER = f"{DIRECTORY}/zz.conf"
REFUSED: dict[str, tuple[str, dict[str, str | None], tuple[str, ...]]] = {
    "containerd": ("crio_config", {}, ("kubelet uses containerd at", "not cri-o", "Use containerd_config")),
    "no_runtime": ("crio_config", {"usr/bin/containerd": None}, ("uses an unknown runtime at", "not cri-o")),
    "crio": ("containerd_config", CRIO, ("kubelet uses cri-o at", "not containerd", "Use crio_config")),
    "broken": ("crio_config", {**CRIO, SITE: "[crio\n"}, (f"/{SITE}:1: ", "the file is not changed")),
    "ours_broken": (
        "crio_config",
        {**CRIO, OWN_PATH: "[crio.runtime\n"},
        (f"/{OWN_PATH}:1: ", "the file is not changed"),
    ),
    "later": (
        "crio_config",
        {**CRIO, LATER: '[crio.runtime]\ncgroup_manager = "cgroupfs"\n'},
        (f"/{LATER}: sets cgroup_manager", "rename the file"),
    ),
}


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return grow(tmp_path_factory.mktemp("crio") / "image", CRIO)


@pytest.fixture(scope="module")
def lived(image: Path) -> Run:
    tasks: list[Task] = []
    for step, (options, _changed, _text) in STEPS.items():
        real = task(step, "crio_config", root=str(image), **options)
        tasks += [checked({**real, "name": f"{step} checked", "register": f"{step}_checked"}), real]
        tasks.append(record_text(f"{step}_after", image / OWN_PATH))
    return run(image.parent, tasks)


@pytest.mark.parametrize("step", STEPS)
def test_each_step_of_a_life_changes_what_check_mode_predicted(lived: Run, step: str) -> None:
    _options, changed, text = STEPS[step]
    result, predicted = lived.results[step], lived.results[f"{step}_checked"]
    assert not result.get("failed"), result.get("msg")
    assert (result["changed"], result["path"], result["strategy"]) == (changed, f"/{OWN_PATH}", "drop-in")
    assert lived.results[f"{step}_after"] == text
    for key in ("changed", "diff", "path", "strategy", "restart_required", "drain_required", "checkpoints_to_reset"):
        assert predicted[key] == result[key]
    assert [(difference["before"], difference["after"]) for difference in result["diff"]] == [
        (BEFORE[step], text)
    ] * changed
    assert (result["restart_required"], result["drain_required"]) == (False, False)


def test_no_other_file_is_touched_and_none_shown(lived: Run, image: Path) -> None:
    fresh = contents(grow(image.parent / "fresh", CRIO))
    now = without_state(contents(image))
    assert {name: now[name] for name in fresh} == fresh
    assert set(now) - set(fresh) - {"var/lib/volcano-colocation:mode"} == {OWN_PATH, f"{OWN_PATH}:mode"}
    assert now[f"{OWN_PATH}:mode"] == oct(0o100644)
    assert "hunter2" not in lived.output


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, dict[str, Any], dict[str, Any]]:
    """The results, and the trees before and after each step."""
    directory = tmp_path_factory.mktemp("refused")
    tasks = []
    for name, (module, files, _words) in REFUSED.items():
        root = grow(directory / "trees" / name, files)
        tasks.append(task(name, module, root=str(root), cgroup_driver="systemd"))
    before = contents(directory / "trees")
    return run(directory, tasks), before, contents(directory / "trees")


@pytest.mark.parametrize("name", REFUSED)
def test_a_node_that_is_left_alone_says_why(refused: tuple[Run, Any, Any], name: str) -> None:
    result = refused[0].results[name]
    assert result["failed"]
    for word in REFUSED[name][2]:
        assert word in result["msg"]


def test_a_node_that_is_left_alone_is_byte_identical(refused: tuple[Run, Any, Any]) -> None:
    _answers, before, after = refused
    assert {name: value for name, value in after.items() if "/var/lib/volcano-colocation" not in name} == before
