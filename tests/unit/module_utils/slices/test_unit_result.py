# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Slices on a node with systemd: the settings, the number of programs, and refused changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.errors import ColocationError
from ansible_collections.volcano.colocation.plugins.module_utils.slices import unit_plan, unit_result
from ansible_collections.volcano.colocation.plugins.module_utils.slices.property_knobs import is_kubelet_slice
from ansible_collections.volcano.colocation.plugins.module_utils.systemd.dbus_values import INFINITY
from ansible_collections.volcano.colocation.tests.support.node.slice_manager import CONTROL, Systemd
from ansible_collections.volcano.colocation.tests.unit.module_utils.slices.slice_run import NAME, parameters, run, tree

UNIT = f"etc/systemd/system/{NAME}"
LINK = f"etc/systemd/system/slices.target.wants/{NAME}"


@pytest.fixture(name="systemd")
def _systemd(tmp_path: Path) -> Systemd:
    return Systemd(tmp_path / "node")


def test_a_new_slice_takes_its_values_from_its_file(systemd: Systemd) -> None:
    changed, result, verbs = run(systemd, properties={"CPUWeight": 200, "MemoryHigh": 1073741824})
    assert (changed, verbs) == (True, ["GetAll", "start", "GetAll"])
    assert result["properties"] == {
        "CPUWeight": 200,
        "MemoryHigh": 1073741824,
        "TasksMax": "infinity",
        "MemoryLow": 0,
    }
    assert result["status"]["active_state"] == "active"
    assert result["control_group"] == "/node.slice/node-agents.slice"
    assert (systemd.root / LINK).is_symlink()


def test_an_unchanged_slice_costs_one_program(systemd: Systemd) -> None:
    run(systemd, properties={"CPUWeight": 200})
    before = tree(systemd)
    assert run(systemd, properties={"CPUWeight": 200})[::2] == (False, ["GetAll"])
    assert tree(systemd) == before


def test_changed_values_are_pushed_in_one_call_without_a_reload(systemd: Systemd) -> None:
    run(systemd, properties={"CPUWeight": 200, "TasksMax": 5})
    changed, result, verbs = run(systemd, properties={"CPUWeight": 300, "TasksMax": 5, "MemoryLow": "1M"})
    assert (changed, verbs) == (True, ["GetAll", "SetUnitProperties", "GetAll"])
    assert result["properties"]["CPUWeight"] == 300
    assert sorted(path.name for path in (systemd.root / CONTROL / f"{NAME}.d").iterdir()) == [
        "50-CPUWeight.conf",
        "50-MemoryLow.conf",
    ]
    systemd.respond(["systemctl", "daemon-reload"])
    assert run(systemd, properties={"CPUWeight": 300, "TasksMax": 5, "MemoryLow": "1M"})[0] is False


def test_null_and_removed_properties_are_the_explicit_default(systemd: Systemd) -> None:
    run(systemd, properties={"CPUWeight": 200, "TasksMax": 5, "MemoryLow": "1M"})
    _changed, result, verbs = run(systemd, properties={"CPUWeight": None, "TasksMax": 5})
    assert verbs == ["GetAll", "SetUnitProperties", "GetAll"]
    assert result["properties"]["CPUWeight"] == "infinity"
    assert result["properties"]["MemoryLow"] == 0
    assert systemd.slices[NAME].values["CPUWeight"] == INFINITY
    assert "\n[Slice]\nCPUWeight=\nTasksMax=5\n" in (systemd.root / UNIT).read_text()


def test_properties_that_were_never_set_stay(systemd: Systemd) -> None:
    run(systemd, properties={"CPUWeight": 200})
    systemd.slices[NAME].values["MemoryHigh"] = 4096
    run(systemd, properties={"CPUWeight": 300})
    assert systemd.slices[NAME].values["MemoryHigh"] == 4096


def test_a_value_that_was_changed_at_runtime_is_set_again(systemd: Systemd) -> None:
    run(systemd, properties={"CPUWeight": 200})
    systemd.respond(["busctl", *[""] * 4, "", "", "SetUnitProperties", "", NAME, "true", "1", "CPUWeight", "t", "7"])
    changed, result, _verbs = run(systemd, properties={"CPUWeight": 200})
    assert (changed, result["properties"]["CPUWeight"]) == (True, 200)


def test_another_description_needs_a_reload(systemd: Systemd) -> None:
    run(systemd, properties={"CPUWeight": 200})
    verbs = run(systemd, properties={"CPUWeight": 200}, description="Agents")[2]
    assert verbs == ["GetAll", "daemon-reload", "GetAll"]


def test_a_runtime_slice_has_no_file(systemd: Systemd) -> None:
    changed, result, verbs = run(systemd, properties={"CPUWeight": 200}, persistent=False)
    assert (changed, verbs) == (True, ["GetAll", "SetUnitProperties", "start", "GetAll"])
    assert result["properties"]["CPUWeight"] == 200
    assert not (systemd.root / UNIT).exists()
    assert run(systemd, properties={"CPUWeight": 200}, persistent=False)[::2] == (False, ["GetAll"])


def test_a_slice_becomes_persistent_and_runtime_again(systemd: Systemd) -> None:
    run(systemd, properties={"CPUWeight": 200}, persistent=False)
    assert run(systemd, properties={"CPUWeight": 200})[2] == ["GetAll", "GetAll"]
    assert (systemd.root / UNIT).exists()
    _changed, result, _verbs = run(systemd, properties={"CPUWeight": 200}, persistent=False)
    assert result["properties"]["CPUWeight"] == 200
    assert not (systemd.root / UNIT).exists()
    assert not (systemd.root / LINK).is_symlink()


def test_removal_leaves_no_trace(systemd: Systemd) -> None:
    before = [path for path in tree(systemd) if not path.startswith("sys/fs/cgroup/node.slice")]
    run(systemd, properties={"CPUWeight": 200})
    run(systemd, properties={"CPUWeight": 300})
    changed, result, verbs = run(systemd, state="absent")
    assert (changed, verbs) == (True, ["GetAll", "stop", "GetAll"])
    assert result["status"]["active_state"] == "inactive"
    remaining = [path for path in tree(systemd) if path not in before]
    assert remaining in (["sys/fs/cgroup/node.slice"], [CONTROL, "sys/fs/cgroup/node.slice"])
    assert run(systemd, state="absent")[::2] == (False, ["GetAll"])


def test_a_unit_that_was_loaded_at_boot_is_unloaded(systemd: Systemd) -> None:
    run(systemd, properties={"CPUWeight": 200})
    systemd.pinned.add(NAME)
    assert run(systemd, state="absent")[2] == ["GetAll", "stop", "GetAll", "daemon-reload"]
    assert systemd.slices[NAME].fragment == ""


def test_an_inactive_unit_of_an_old_file_is_read_again_before_it_starts(systemd: Systemd) -> None:
    run(systemd, properties={"CPUWeight": 200})
    systemd.pinned.add(NAME)
    systemd.respond(["systemctl", "stop", "--", NAME])
    _changed, result, verbs = run(systemd, properties={"CPUWeight": 300})
    assert verbs == ["GetAll", "daemon-reload", "start", "GetAll"]
    assert result["properties"]["CPUWeight"] == 300


def test_values_of_an_earlier_start_are_replaced(systemd: Systemd) -> None:
    systemd.write(f"{CONTROL}/{NAME}.d/50-CPUWeight.conf", "[Slice]\nCPUWeight=7\n")
    _changed, result, verbs = run(systemd, properties={"CPUWeight": 200})
    assert result["properties"]["CPUWeight"] == 200
    assert verbs == ["GetAll", "start", "GetAll", "SetUnitProperties", "GetAll"]


@pytest.mark.parametrize("directory", ["node.slice", "node.slice/node-agents.slice/one.service/deep"])
def test_a_slice_with_a_process_stays(systemd: Systemd, directory: str) -> None:
    run(systemd, properties={"CPUWeight": 200})
    inside = directory != "node.slice"
    systemd.write(f"sys/fs/cgroup/{directory}/cgroup.procs", "4711\n")
    before = tree(systemd)
    if not inside:
        assert run(systemd, state="absent")[0] is True
        return
    with pytest.raises(ColocationError, match=r"process 4711 is in it\. Stop its processes"):
        run(systemd, state="absent")
    assert tree(systemd) == before
    assert systemd.slices[NAME].active


V1 = """\
28 24 0:23 / /sys/fs/cgroup ro,nosuid shared:6 - tmpfs tmpfs ro,mode=755
29 28 0:24 / /sys/fs/cgroup/systemd rw,nosuid shared:7 - cgroup cgroup rw,xattr,name=systemd
33 28 0:28 / /sys/fs/cgroup/cpuset rw,nosuid shared:11 - cgroup cgroup rw,cpuset
"""


def test_on_v1_every_hierarchy_is_checked_and_cleared(systemd: Systemd) -> None:
    systemd.write("proc/self/mountinfo", V1)
    run(systemd, properties={"CPUWeight": 200})
    directory = systemd.root / "sys/fs/cgroup/cpuset/node.slice/node-agents.slice"
    systemd.write("sys/fs/cgroup/cpuset/node.slice/node-agents.slice/cgroup.procs", "4711\n")
    with pytest.raises(ColocationError, match="process 4711 is in it"):
        run(systemd, state="absent")
    (directory / "cgroup.procs").unlink()
    assert run(systemd, state="absent")[0] is True
    assert not directory.exists()


def test_a_removal_that_fails_late_keeps_files_and_link(systemd: Systemd) -> None:
    run(systemd, properties={"CPUWeight": 200})
    before = tree(systemd)
    systemd.pinned.add(NAME)
    systemd.refused = "daemon-reload"
    with pytest.raises(ColocationError, match="daemon-reload failed"):
        run(systemd, state="absent")
    assert [path for path in tree(systemd) if path.startswith("etc")] == [
        path for path in before if path.startswith("etc")
    ]
    systemd.refused = ""
    assert run(systemd, state="absent")[0] is True


def test_a_slice_with_another_unit_stays(systemd: Systemd) -> None:
    run(systemd)
    (systemd.root / "sys/fs/cgroup/node.slice/node-agents.slice/node-agents-x.slice").mkdir()
    with pytest.raises(ColocationError, match=r"node-agents-x\.slice is in it and would be stopped"):
        run(systemd, state="absent")


@pytest.mark.parametrize(
    ("path", "remedy"),
    [
        ("etc/systemd/system.control/node-agents.slice.d/50-CPUWeight.conf", "systemctl revert node-agents.slice"),
        (f"{CONTROL}/{NAME}.d/99-mine.conf", "systemctl revert node-agents.slice"),
        (f"etc/systemd/system/{NAME}.d/10-site.conf", "Remove the line from that file"),
        ("etc/systemd/system/node-.slice.d/10-site.conf", "Remove the line from that file"),
        ("usr/lib/systemd/system/slice.d/10-site.conf", "Remove the line from that file"),
    ],
)
def test_a_stronger_drop_in_is_refused(systemd: Systemd, path: str, remedy: str) -> None:
    systemd.write(path, "[Slice]\nCPUWeight = 7\n")
    before = tree(systemd)
    with pytest.raises(ColocationError, match=remedy) as caught:
        run(systemd, properties={"CPUWeight": 200})
    assert caught.value.file == "/" + path
    assert "sets CPUWeight=7 and overrides CPUWeight=200" in str(caught.value)
    assert tree(systemd) == before
    assert run(systemd, properties={"TasksMax": 5})[0] is True


def test_a_drop_in_with_the_same_value_is_allowed(systemd: Systemd) -> None:
    systemd.write(
        f"etc/systemd/system/{NAME}.d/10-site.conf", "[Slice]\nMemoryHigh=1024M\nCPUWeight=3\nCPUWeight=200\n"
    )
    assert run(systemd, properties={"CPUWeight": 200, "MemoryHigh": "1024M"})[0] is True


def test_an_unknown_property_is_refused(systemd: Systemd) -> None:
    with pytest.raises(ColocationError, match="no property MemoryZSwapMax; systemd 253 added it"):
        run(systemd, properties={"MemoryZSwapMax": "1G"})


def test_a_failed_start_restores_the_files(systemd: Systemd) -> None:
    before = tree(systemd)
    systemd.refused = "start"
    with pytest.raises(ColocationError, match=r"systemctl start node-agents\.slice failed: Job for"):
        run(systemd, properties={"CPUWeight": 200})
    assert tree(systemd) == before


def test_a_failed_call_rolls_the_change_back(systemd: Systemd) -> None:
    run(systemd, properties={"CPUWeight": 200})
    text = (systemd.root / UNIT).read_text()
    systemd.refused = "SetUnitProperties"
    with pytest.raises(ColocationError, match="Permission denied"):
        run(systemd, properties={"CPUWeight": 300})
    assert (systemd.root / UNIT).read_text() == text
    assert systemd.slices[NAME].values["CPUWeight"] == 200


def test_a_failed_runtime_slice_leaves_nothing(systemd: Systemd) -> None:
    before = tree(systemd)
    systemd.refused = "start"
    with pytest.raises(ColocationError, match="failed"):
        run(systemd, properties={"CPUWeight": 200}, persistent=False)
    assert [path for path in tree(systemd) if path not in before] == [CONTROL]


def test_slices_of_kubelet_are_neither_started_nor_stopped(systemd: Systemd) -> None:
    name = "kubepods-besteffort.slice"
    drop_in = systemd.root / f"etc/systemd/system/{name}.d/50-volcano-colocation.conf"
    assert run(systemd, name=name, properties={"MemoryHigh": 4096})[2] == ["GetAll", "GetAll"]
    assert drop_in.exists()
    systemd.respond(["systemctl", "start", "--", name])
    assert systemd.slices[name].values["MemoryHigh"] == 4096
    assert run(systemd, name=name, properties={"MemoryHigh": 8192})[2] == ["GetAll", "SetUnitProperties", "GetAll"]
    systemd.write("sys/fs/cgroup/kubepods.slice/kubepods-besteffort.slice/cgroup.procs", "1\n")
    assert run(systemd, name=name, state="absent")[0] is True
    assert systemd.slices[name].active
    assert systemd.slices[name].values["MemoryHigh"] == INFINITY
    assert not drop_in.parent.exists()
    assert run(systemd, name=name, state="absent")[::2] == (False, ["GetAll"])


@pytest.mark.parametrize(
    ("name", "properties", "message"),
    [
        ("kubepods-besteffort.slice", {"CPUWeight": 7}, "CPUWeight of kubepods-besteffort.slice belongs to kubelet"),
        ("kubepods-besteffort.slice", {"CPUWeight": "idle"}, "kubelet would not start again"),
        ("kubepods.slice", {"MemoryMax": "1G"}, "kubelet writes the memory limit"),
        ("a-kubepods-burstable.slice", {"MemoryLow": "1G"}, "neither its version"),
        ("kubepods-burstable.slice", {"AllowedCPUs": "0"}, "static CPU manager"),
    ],
)
def test_what_kubelet_writes_itself_is_refused(
    systemd: Systemd, name: str, properties: dict[str, Any], message: str
) -> None:
    with pytest.raises(ColocationError, match=message):
        run(systemd, name=name, properties=properties)
    assert systemd.verbs == []


def test_a_pods_weight_and_names_like_kubelets_are_not_refused(systemd: Systemd) -> None:
    pod = "kubepods-burstable-pod0123abcd_0000.slice"
    assert run(systemd, name=pod, properties={"CPUWeight": 7})[0] is True
    assert run(systemd, name="mykubepods.slice", properties={"CPUWeight": 7})[0] is True


@pytest.mark.parametrize(
    ("name", "kubelets"),
    [
        ("kubepods.slice", True),
        ("a-b-kubepods.slice", True),
        ("kubepods-besteffort.slice", True),
        ("a-kubepods-burstable-pod1_2.slice", True),
        # kubelet treats every name that begins with pod as a pod's (IsPodCgroup), and removes unknown ones.
        ("kubepods-podman.slice", True),
        ("kubepods-pod1-inner.slice", True),
        ("kubepods-kubepods-burstable.slice", True),
        ("mykubepods.slice", False),
        ("kubepods-own.slice", False),
        ("kubepods-burstable-own.slice", False),
        ("kubepods-guaranteed.slice", False),
        ("system.slice", False),
        ("-.slice", False),
        ("kubepods--burstable.slice", False),
        ("kubepods", False),
    ],
)
def test_names_of_kubelets_slices(name: str, kubelets: bool) -> None:
    assert is_kubelet_slice(name) is kubelets


def test_a_transient_slice_gets_a_drop_in(systemd: Systemd) -> None:
    systemd.transient = True
    run(systemd, properties={"CPUWeight": 7})
    assert not (systemd.root / UNIT).exists()
    assert (systemd.root / f"{UNIT}.d/50-volcano-colocation.conf").exists()


def test_check_mode_predicts_the_result(systemd: Systemd) -> None:
    run(systemd, properties={"CPUWeight": 200})
    work = unit_result.prepare(systemd.host, parameters(properties={"CPUWeight": 300}))
    file, values = unit_plan.render_diff(work.request, work.state, work.plan)
    assert (file["before_header"], values["before_header"]) == ("/" + UNIT, NAME)
    assert "CPUWeight=200" in file["before"]
    assert "CPUWeight=300" in file["after"]
    assert values["before"] == "ActiveState=active\nCPUWeight=200\n"
    assert values["after"] == "ActiveState=active\nCPUWeight=300\n"


def test_usage_and_pressure_of_a_slice_are_reported(systemd: Systemd) -> None:
    directory = "sys/fs/cgroup/node.slice/node-agents.slice"
    systemd.write(f"{directory}/cpu.pressure", "some avg10=1.50 avg60=0.00 avg300=0.00 total=42\n")
    unit = {
        "ActiveState": "active",
        "SubState": "active",
        "TasksCurrent": INFINITY,
        "MemoryCurrent": 4096,
        "CPUUsageNSec": 2500000000,
        "ControlGroup": "/node.slice/node-agents.slice",
    }
    assert unit_result.status(systemd.host, unit) == {
        "active_state": "active",
        "sub_state": "active",
        "tasks": None,
        "memory": 4096,
        "cpu_seconds": 2.5,
        "pressure": {"cpu": {"some": {"avg10": 1.5, "avg60": 0.0, "avg300": 0.0, "total": 42.0}}},
    }


def test_a_foreign_drop_in_stays_and_is_named(systemd: Systemd) -> None:
    run(systemd, properties={"TasksMax": 5})
    path = f"etc/systemd/system.control/{NAME}.d/50-CPUWeight.conf"
    systemd.write(path, "[Slice]\nCPUWeight=7\n")
    work = unit_result.prepare(systemd.host, parameters(state="absent"))
    assert unit_result.warnings(work) == [
        f"/{path} is not managed by the collection and stays; remove it, or run systemctl revert {NAME}"
    ]


def test_controllers_that_the_node_lacks_are_an_error(systemd: Systemd) -> None:
    with pytest.raises(ColocationError, match="this node has no controller hugetlb"):
        run(systemd, controllers=["memory", "hugetlb"])
    before = tree(systemd)
    with pytest.raises(ColocationError, match="not in every controller: io: it is not enabled above the slice"):
        run(systemd, controllers=["memory", "io"], properties={"CPUWeight": 1})
    assert not systemd.slices[NAME].active
    assert [path for path in tree(systemd) if path not in before] == ["sys/fs/cgroup/node.slice"]
