# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet_config and containerd_config on an image: create, again, modify, again, each in check mode first.

What bad input leaves behind is compared byte by byte.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.readers import read_toml, read_yaml
from ansible_collections.volcano.colocation.tests.support.tasks.node_image import (
    FILES,
    KUBELET,
    KUBELET_TEXT,
    RUNTIME,
    RUNTIME_TEXT,
    contents,
    grow,
    without_state,
)
from ansible_collections.volcano.colocation.tests.support.tasks.play_tasks import (
    Run,
    Task,
    checked,
    record_text,
    run,
    task,
)

PLANTED = "hunter2-Zm9v"
NRI = 'plugins."io.containerd.nri.v1.nri"'

STEPS: dict[str, list[tuple[str, dict[str, Any], bool]]] = {
    "kubelet_config": [
        ("create", {"cpu_manager_policy": "static", "system_reserved": {"cpu": "500m"}}, True),
        ("create_again", {"cpu_manager_policy": "static", "system_reserved": {"cpu": "0.5"}}, False),
        ("modify", {"cgroup_driver": "systemd", "system_reserved": {"cpu": 1}, "read_only_port": 0}, True),
        ("modify_again", {"cgroup_driver": "systemd", "system_reserved": {"cpu": 1}, "read_only_port": 0}, False),
        (
            "more",
            {
                "cgroup_root": "/pods",
                "enforce_node_allocatable": ["pods", "kube-reserved"],
                "kube_reserved_cgroup": "/runtime.slice",
                "pod_pids_limit": 4096,
                "topology_manager_scope": "pod",
                "feature_gates": {"SomethingElse": True},
            },
            True,
        ),
        (
            "more_again",
            {
                "cgroup_root": "/pods/",
                "enforce_node_allocatable": ["kube-reserved", "pods"],
                "pod_pids_limit": 4096,
                "feature_gates": {"SomethingElse": "true"},
            },
            False,
        ),
        ("nothing", {}, False),
    ],
    "containerd_config": [
        ("create", {"cgroup_driver": "systemd", "nri": {"enabled": True}}, True),
        ("create_again", {"cgroup_driver": "systemd", "nri": {"enabled": True}}, False),
        ("modify", {"cgroup_driver": "cgroupfs", "nri": {"enabled": False, "socket_path": "/run/n.sock"}}, True),
        ("modify_again", {"cgroup_driver": "cgroupfs", "nri": {"enabled": False, "socket_path": "/run/n.sock"}}, False),
        ("nothing", {}, False),
    ],
}
LIFE = [(module, step, changed) for module, steps in STEPS.items() for step, _options, changed in steps]
FILE = {"kubelet_config": KUBELET, "containerd_config": RUNTIME}


def life(root: Path) -> list[Task]:
    tasks: list[Task] = []
    for module, steps in STEPS.items():
        for step, options, _changed in steps:
            name = f"{module}_{step}"
            real = task(name, module, root=str(root), **options)
            tasks += [
                checked({**real, "name": f"{name} checked", "register": f"{name}_checked"}),
                record_text(f"{name}_before", root / FILE[module]),
                real,
                record_text(f"{name}_after", root / FILE[module]),
            ]
    return tasks


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return grow(tmp_path_factory.mktemp("life") / "image", {})


@pytest.fixture(scope="module")
def lived(image: Path) -> Run:
    return run(image.parent, life(image))


def result(lived: Run, module: str, step: str, which: str = "") -> Any:
    return lived.results[f"{module}_{step}{which}"]


@pytest.mark.parametrize(("module", "step", "changed"), LIFE)
def test_only_a_difference_is_a_change(lived: Run, module: str, step: str, changed: bool) -> None:
    output = result(lived, module, step)
    assert not output.get("failed"), output.get("msg")
    assert output["changed"] is changed
    assert (output["path"], output["strategy"]) == ("/" + FILE[module], "main-file")


@pytest.mark.parametrize(("module", "step", "changed"), LIFE)
def test_check_mode_says_what_will_be_and_changes_nothing(lived: Run, module: str, step: str, changed: bool) -> None:
    predicted, real = result(lived, module, step, "_checked"), result(lived, module, step)
    for key in ("changed", "diff", "path", "restart_required", "drain_required", "checkpoints_to_reset"):
        assert predicted[key] == real[key]
    steps = [name for name, _options, _changed in STEPS[module]]
    earlier = steps[: steps.index(step)]
    before = result(lived, module, earlier[-1], "_after") if earlier else FILES[FILE[module]]
    assert result(lived, module, step, "_before") == before
    assert len(real["diff"]) == int(changed)


def test_kubelets_file_keeps_every_other_line(lived: Run) -> None:
    created = result(lived, "kubelet_config", "create", "_after")
    # Two new keys at the end, indented like the site's own.
    assert created == KUBELET_TEXT + "cpuManagerPolicy: static\nsystemReserved:\n    cpu: 500m\n"
    modified = result(lived, "kubelet_config", "modify", "_after")
    values = read_yaml(modified)
    assert (values["cgroupDriver"], values["systemReserved"]) == ("systemd", {"cpu": "1"})
    assert "readOnlyPort" not in values
    # Agents look for the bare line.
    assert "# the old one\ncgroupDriver: systemd\n" in modified


def test_kubelets_other_fields_are_written_as_kubelet_has_them(lived: Run) -> None:
    modified = read_yaml(result(lived, "kubelet_config", "modify", "_after"))
    assert read_yaml(result(lived, "kubelet_config", "more", "_after")) == {
        **modified,
        "cgroupRoot": "/pods",
        "enforceNodeAllocatable": ["pods", "kube-reserved"],
        "kubeReservedCgroup": "/runtime.slice",
        "podPidsLimit": 4096,
        "topologyManagerScope": "pod",
        "featureGates": {"SomethingElse": True},
    }


def test_containerds_file_keeps_every_other_line(lived: Run) -> None:
    for step, driver, disable in (("create", True, False), ("modify", False, True)):
        text = result(lived, "containerd_config", step, "_after")
        values = read_toml(text)["plugins"]
        runc = values["io.containerd.grpc.v1.cri"]["containerd"]["runtimes"]["runc"]
        assert runc == {"runtime_type": "io.containerd.runc.v2", "options": {"SystemdCgroup": driver}}
        assert values["io.containerd.nri.v1.nri"]["disable"] is disable
        lines = RUNTIME_TEXT.splitlines()
        assert [line for line in text.splitlines() if line in lines] == lines


def test_in_an_image_nothing_has_to_be_restarted(lived: Run) -> None:
    for module, step, _changed in LIFE:
        output = result(lived, module, step)
        assert (output["restart_required"], output["drain_required"]) == (False, False)


def test_no_secret_of_the_files_is_shown(lived: Run) -> None:
    results = [value for name, value in lived.results.items() if not name.endswith(("_before", "_after"))]
    assert PLANTED not in json.dumps(results)
    assert PLANTED not in lived.output


def test_nothing_else_of_the_image_changed(lived: Run, image: Path) -> None:
    assert lived.results
    untouched = {name: value for name, value in without_state(contents(image)).items() if name not in FILE.values()}
    fresh = grow(image.parent / "fresh", {})
    expected = {name: value for name, value in contents(fresh).items() if name not in FILE.values()}
    assert {name: untouched.get(name) for name in expected} == expected
    assert set(untouched) - set(expected) <= {"var/lib/volcano-colocation:mode"}


def linked(root: Path) -> None:
    (root / KUBELET).rename(root / "elsewhere.yaml")
    (root / KUBELET).symlink_to("/elsewhere.yaml")


def runtime_linked(root: Path) -> None:
    (root / RUNTIME).rename(root / "etc/real.toml")
    (root / RUNTIME).symlink_to("../real.toml")


def led_out(root: Path) -> None:
    outside = root.parent / f"{root.name}-outside"
    (root / "etc/containerd").rename(outside)
    (root / "etc/containerd").symlink_to(outside)


def piped(root: Path) -> None:
    (root / KUBELET).unlink()
    os.mkfifo(root / KUBELET)


def as_it_is(root: Path) -> None:
    assert root.is_dir()


STATIC = {"cpu_manager_policy": "static"}
DRIVER = {"cgroup_driver": "systemd"}

BAD: dict[str, tuple[str, dict[str, str | None], Callable[[Path], None], dict[str, Any], tuple[str, ...]]] = {
    "yaml": (
        "kubelet_config",
        {KUBELET: "a: [1\nb: 2\n"},
        as_it_is,
        DRIVER,
        (f"/{KUBELET}:2: a list in brackets", "Close the list with ]"),
    ),
    "yaml_twice": (
        "kubelet_config",
        {KUBELET: KUBELET_TEXT + "cgroupDriver: systemd\n"},
        as_it_is,
        DRIVER,
        (f"/{KUBELET}:9: key 'cgroupDriver' is set twice", "Keep the one"),
    ),
    "yaml_shape": (
        "kubelet_config",
        {KUBELET: KUBELET_TEXT + "systemReserved: &a {cpu: 500m}\n"},
        as_it_is,
        {"system_reserved": {"cpu": "1"}},
        (f"/{KUBELET}:9: ", "systemReserved"),
    ),
    "toml": (
        "containerd_config",
        {RUNTIME: "version = 2\n[plugins\n"},
        as_it_is,
        DRIVER,
        (f"/{RUNTIME}:2: ", "Write it as [name]"),
    ),
    "toml_twice": (
        "containerd_config",
        {RUNTIME: "version = 2\nversion = 2\n"},
        as_it_is,
        DRIVER,
        (f"/{RUNTIME}:2: ", "Keep the one that is meant"),
    ),
    "toml_schema": (
        "containerd_config",
        {RUNTIME: "root = '/x'\n"},
        as_it_is,
        DRIVER,
        (f"/{RUNTIME}: ", "schema version is 1", "unknown version reads 2, 3, 4", "Migrate"),
    ),
    "toml_imports": (
        "containerd_config",
        {RUNTIME: 'version = 2\nimports = ["/etc/x.toml"]\n'},
        as_it_is,
        DRIVER,
        (f"/{RUNTIME}: ", "/etc/x.toml does not exist", "Correct the file"),
    ),
    "no_kubelet": ("kubelet_config", {"usr/bin/kubelet": None}, as_it_is, DRIVER, ("no kubelet program", "Install")),
    "no_file": ("kubelet_config", {KUBELET: None}, as_it_is, DRIVER, (f"/{KUBELET}: ", "--config")),
    "no_containerd": (
        "containerd_config",
        {"usr/bin/containerd": None},
        as_it_is,
        DRIVER,
        ("no containerd program", "Install"),
    ),
    "neither": (
        "kubelet_config",
        {KUBELET: None, "usr/bin/kubelet": None},
        as_it_is,
        DRIVER,
        ("no kubelet program",),
    ),
    "static": (
        "kubelet_config",
        {},
        as_it_is,
        STATIC,
        ("Nothing was changed. cpu_manager_policy: ", "Reserve CPU in system_reserved or kube_reserved"),
    ),
    "table": (
        "kubelet_config",
        {KUBELET: KUBELET_TEXT + "systemReserved: cpu=1\n"},
        as_it_is,
        {"system_reserved": {"cpu": "1"}},
        (f"/{KUBELET} (system_reserved): ", "systemReserved is not a table", "Write amounts as texts"),
    ),
    "version": (
        "kubelet_config",
        {},
        as_it_is,
        {"fail_cgroup_v1": False, "pod_pids_limit": 5},
        ("fail_cgroup_v1: ", "failCgroupV1 was added in kubelet 1.31", "does not report its version"),
    ),
    "factor": (
        "kubelet_config",
        {},
        as_it_is,
        {"memory_throttling_factor": 1.5},
        ("memory_throttling_factor: 1.5 is not greater than 0 and at most 1",),
    ),
    "memory": ("kubelet_config", {}, as_it_is, {"reserved_memory": "all"}, ("reserved_memory: is neither auto nor",)),
    "level": (
        "kubelet_config",
        {},
        as_it_is,
        {"enforce_node_allocatable": ["pods", "system"]},
        ("enforce_node_allocatable", "system-reserved"),
    ),
    "link": ("kubelet_config", {}, linked, DRIVER, (f"/{KUBELET}: ", "symbolic link")),
    "runtime_link": ("containerd_config", {}, runtime_linked, DRIVER, (f"/{RUNTIME}: ", "symbolic link")),
    "led_out": ("containerd_config", {}, led_out, DRIVER, (f"/{RUNTIME}: ", "which is not a directory", "Create")),
    "pipe": ("kubelet_config", {}, piped, DRIVER, (f"/{KUBELET}: ", "not a regular file")),
    "choice": ("kubelet_config", {}, as_it_is, {"cgroup_driver": "cgroups"}, ("cgroup_driver", "systemd, cgroupfs")),
    "type": ("containerd_config", {}, as_it_is, {"nri": "on"}, ("dictionary requested",)),
    "strategy": (
        "kubelet_config",
        {},
        as_it_is,
        {**DRIVER, "kubelet_strategy": "drop-in"},
        ("Nothing was changed. kubelet_strategy: ", "without --config-dir", "main-file"),
    ),
    "port": ("kubelet_config", {}, as_it_is, {"read_only_port": -1}, ("read_only_port", "-1 is not a port")),
}


# One of each way to refuse is enough for check mode: every execution costs a second of the test run.
CHECKED = ("led_out", "yaml_twice", "yaml_shape", "toml", "no_containerd", "static", "link", "port")


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, dict[str, Any], dict[str, Any]]:
    """The results, and the trees before and after each step."""
    directory = tmp_path_factory.mktemp("bad")
    (directory / "trees").mkdir()
    tasks: list[Task] = []
    for name, (module, files, spoil, options, _words) in BAD.items():
        root = grow(directory / "trees" / name, files)
        spoil(root)
        real = task(name, module, root=str(root), **options)
        if name in CHECKED:
            tasks.append(checked({**real, "name": f"{name} checked", "register": f"{name}_checked"}))
        tasks.append(real)
    before = contents(directory / "trees")
    answers = run(directory, tasks)
    return answers, before, contents(directory / "trees")


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_with_its_place_and_remedy(refused: tuple[Run, Any, Any], name: str) -> None:
    result = refused[0].results[name]
    assert result["failed"]
    for word in BAD[name][4]:
        assert word in result["msg"]
    assert "Traceback" not in json.dumps(result)


@pytest.mark.parametrize("name", CHECKED)
def test_check_mode_refuses_the_same(refused: tuple[Run, Any, Any], name: str) -> None:
    results = refused[0].results
    assert results[f"{name}_checked"]["failed"]
    assert results[f"{name}_checked"]["msg"] == results[name]["msg"]


def test_bad_input_leaves_every_tree_byte_identical(refused: tuple[Run, Any, Any]) -> None:
    _answers, before, after = refused
    assert {name: value for name, value in after.items() if "/var/lib/volcano-colocation" not in name} == before
