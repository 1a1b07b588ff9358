# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""CRI-O nodes, described as trees: the planned changes, and an empty plan after the edit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.collect import collect
from ansible_collections.volcano.colocation.plugins.plugin_utils.assessment.node_plan import make_plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.interpreter import interpret
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.change_set import Change, Impact, Plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.draft import runtime_changes
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.file_edits import file_edits
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import profile_of
from ansible_collections.volcano.colocation.tests.support.hosts.described_hosts import described, merged, snapshot_of

DIRECTORY = "/etc/crio/crio.conf.d"
DROP_IN = f"{DIRECTORY}/99-volcano-colocation.conf"
KUBELET = "/var/lib/kubelet/config.yaml"
HEAD = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
HEADER = "# Kept by the Ansible collection volcano.colocation. A file that sorts behind this one wins over it.\n"
SOCKETS = "Num       RefCount Protocol Flags    Type St Inode Path\n"
NRI_SOCKET = "ffff0002: 00000002 00000000 00010000 0001 01 1002 /var/run/nri/nri.sock\n"
DRAINED = {Impact.RESTART_KUBELET, Impact.RESTART_RUNTIME, Impact.DRAIN}
VERSIONS = [f"1.{minor}" for minor in range(26, 37)]

Tree = Mapping[str, Any]


def node(name: str = "crio-aligned", **inputs: Any) -> Tree:
    changed: Tree = merged(described(name).host, inputs)
    return changed


def of_version(version: str, driver: str, *, nri: bool) -> Tree:
    """A CRI-O that runs with the driver of its files, and reports it over the CRI since 1.28."""
    runtime_config = {"cgroup_driver": driver, "error": None}
    if version in ("1.26", "1.27"):
        runtime_config = {"cgroup_driver": None, "error": "unimplemented"}
    return node(
        files={
            "/etc/crio/crio.conf": f'[crio.runtime]\ncgroup_manager = "{driver}"\nconmon_cgroup = "pod"\n',
            KUBELET: f"{HEAD}cgroupDriver: {driver}\n",
            "/proc/net/unix": SOCKETS + (NRI_SOCKET if nri else ""),
        },
        processes={"pause": None},
        live={"runtime": {"cri": {"version": f"{version}.2", "runtime_config": runtime_config, "sandboxes": []}}},
    )


def plan_of(host: Tree, directory: Path, **options: Any) -> Plan:
    return make_plan(interpret(snapshot_of(host, directory)), profile_of(**options), allow_disruption=True)


def edited(host: Tree, directory: Path, **options: Any) -> Tree:
    """The host with the plan's files written."""
    snapshot = snapshot_of(host, directory)
    plan = make_plan(interpret(snapshot), profile_of(**options), allow_disruption=True)
    assert plan.refusals == ()
    return merged(host, {"files": {edit.path: edit.after for edit in file_edits(snapshot, plan.changes)}})


def settings(changes: tuple[Change, ...]) -> list[tuple[str, Any, Any]]:
    return [(change.setting, change.before, change.after) for change in changes if change.target == "cri-o"]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_node_with_the_desired_settings_is_not_changed(version: str, tmp_path: Path) -> None:
    for driver in ("systemd", "cgroupfs"):
        result = plan_of(of_version(version, driver, nri=False), tmp_path / driver, cgroup_driver=driver)
        assert (result.changes, result.refusals) == ((), ())


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("before", "after"), [("systemd", "cgroupfs"), ("cgroupfs", "systemd")])
def test_a_driver_is_switched_by_one_new_drop_in(version: str, before: str, after: str, tmp_path: Path) -> None:
    host = of_version(version, before, nri=False)
    plan = plan_of(host, tmp_path / "before", cgroup_driver=after)
    # conmon_cgroup is "pod" already, which both managers accept.
    assert settings(plan.changes) == [("cgroup_manager", before, after)]
    changed = edited(host, tmp_path / "edit", cgroup_driver=after)
    assert changed["files"][DROP_IN] == HEADER + f'\n[crio.runtime]\ncgroup_manager = "{after}"\n'
    runtime_config = {"cgroup_driver": after} if version not in ("1.26", "1.27") else {}
    running = merged(changed, {"live": {"runtime": {"cri": {"runtime_config": runtime_config}}}})
    second_plan = plan_of(running, tmp_path / "after", cgroup_driver=after)
    assert (second_plan.changes, second_plan.refusals) == ((), ())


@pytest.mark.parametrize("version", VERSIONS)
def test_nri_is_written_only_where_it_is_not_the_default(version: str, tmp_path: Path) -> None:
    on_by_default = version not in ("1.26", "1.27", "1.28", "1.29")
    for enabled in (True, False):
        host = of_version(version, "systemd", nri=on_by_default)
        result = plan_of(host, tmp_path / f"{enabled}", nri={"enabled": enabled})
        expected = [] if enabled is on_by_default else [("enable_nri", on_by_default, enabled)]
        assert settings(result.changes) == expected
        changed = edited(host, tmp_path / f"{enabled}-edit", nri={"enabled": enabled})
        if expected:
            assert changed["files"][DROP_IN] == HEADER + f"\n[crio.nri]\nenable_nri = {str(enabled).lower()}\n"
        served = merged(changed, {"files": {"/proc/net/unix": SOCKETS + (NRI_SOCKET if enabled else "")}})
        assert plan_of(served, tmp_path / f"{enabled}-after", nri={"enabled": enabled}).changes == ()


def test_every_setting_of_nri_has_the_name_in_crio(tmp_path: Path) -> None:
    nri = {
        "enabled": True,
        "socket_path": "/run/n.sock",
        "plugin_path": "/opt/p",
        "plugin_config_path": "/etc/p",
        "plugin_registration_timeout": "7s",
        "plugin_request_timeout": "2s",
    }
    host = of_version("1.31", "systemd", nri=True)
    changed = edited(host, tmp_path / "edit", nri=nri)
    # Defaults of CRI-O, NRI on and two seconds for a request, are not written.
    assert changed["files"][DROP_IN] == HEADER + (
        '\n[crio.nri]\nnri_listen = "/run/n.sock"\nnri_plugin_dir = "/opt/p"\nnri_plugin_config_dir = "/etc/p"\n'
        'nri_plugin_registration_timeout = "7s"\n'
    )
    served = merged(changed, {"files": {"/proc/net/unix": SOCKETS + NRI_SOCKET.replace("/var/run/nri/nri", "/run/n")}})
    assert plan_of(served, tmp_path / "after", nri=nri).changes == ()


def test_the_switch_drains_and_nri_alone_does_not(tmp_path: Path) -> None:
    pods = node()
    switched = plan_of(pods, tmp_path / "driver", cgroup_driver="cgroupfs")
    assert switched.needs == DRAINED
    nri = plan_of(pods, tmp_path / "nri", nri={"enabled": False})
    assert nri.needs == {Impact.RESTART_RUNTIME}


def test_the_manager_alone_drains_too(tmp_path: Path) -> None:
    host = node(files={"/etc/crio/crio.conf": '[crio.runtime]\nconmon_cgroup = "pod"\n'})
    changes = plan_of(host, tmp_path, cgroup_driver="cgroupfs").changes
    assert [(change.setting, change.needs) for change in changes if change.target == "cri-o"] == [
        ("cgroup_manager", frozenset({Impact.RESTART_RUNTIME, Impact.DRAIN}))
    ]


def test_a_crio_that_runs_with_cgroupfs_needs_no_setting_of_its_monitor(tmp_path: Path) -> None:
    host = merged(
        of_version("1.30", "cgroupfs", nri=False),
        {"files": {"/etc/crio/crio.conf": '[crio.runtime]\ncgroup_manager = "cgroupfs"\n'}},
    )
    assert plan_of(host, tmp_path, cgroup_driver="cgroupfs").changes == ()


SILENT = {"/etc/crio/crio.conf.d/10-crio.conf": '[crio.runtime]\ndefault_runtime = "crun"\n'}
TABLE = '[crio.runtime.runtimes.crun]\nruntime_root = "/run/crun"\n'
DECLARED = {"/etc/crio/crio.conf.d/10-crio.conf": '[crio.runtime]\ndefault_runtime = "crun"\n' + TABLE}
ANOTHER = {"/etc/crio/crio.conf.d/10-crio.conf": '[crio.runtime]\ndefault_runtime = "runc"\n' + TABLE}
SLICE = {
    "/etc/crio/crio.conf.d/10-crio.conf": '[crio.runtime.runtimes.crun]\nmonitor_cgroup = "machine.slice"\n',
    "/etc/crio/crio.conf.d/20-vm.conf": '[crio.runtime.runtimes.kata]\nruntime_type = "vm"\nmonitor_cgroup = "x"\n',
}
TOP = {"/etc/crio/crio.conf": '[crio.runtime]\nconmon_cgroup = "system.slice"\n'}


@pytest.mark.parametrize(
    ("version", "files", "written"),
    [
        # cri-o#8888: up to 1.32 the built-in handler's system.slice makes CRI-O fail to start.
        ("1.30.3", SILENT, True),
        ("1.32.4", SILENT, True),
        ("1.33.0", SILENT, False),
        # A declared handler has no cgroup of the monitor unless it sets one, which is fine for cgroupfs.
        ("1.30.3", DECLARED, False),
        ("1.30.3", ANOTHER, True),
        # cri-o#5823: before handlers had this setting, the default was system.slice.
        ("1.24.6", DECLARED, True),
        ("1.33.0", SLICE, True),
        ("1.30.3", TOP, True),
        ("1.33.0", TOP, False),
    ],
)
def test_the_monitors_cgroup_is_written_only_if_cgroupfs_does_not_support_it(
    version: str, files: dict[str, str], written: bool, tmp_path: Path
) -> None:
    host = node(files=files, live={"runtime": {"cri": {"version": version}}})
    changes = plan_of(host, tmp_path, cgroup_driver="cgroupfs").changes
    assert settings(changes)[0] == ("cgroup_manager", "systemd", "cgroupfs")
    assert [after for setting, _before, after in settings(changes)[1:]] == ["pod"] * written


def test_a_monitor_that_systemd_does_not_support_gets_the_default(tmp_path: Path) -> None:
    broken = node(files={"/etc/crio/crio.conf": '[crio.runtime]\nconmon_cgroup = "/machine"\n'})
    (change,) = plan_of(broken, tmp_path / "x", cgroup_driver="systemd").changes
    assert (change.setting, change.before, change.after) == ("conmon_cgroup", "/machine", "system.slice")
    # Only the next start is affected: the pods stay.
    assert change.needs == {Impact.RESTART_RUNTIME}
    assert plan_of(node(), tmp_path / "y", cgroup_driver="systemd").changes == ()


def test_a_second_edit_keeps_other_settings_of_the_drop_in(tmp_path: Path) -> None:
    text = '[crio.runtime]\ncgroup_manager = "systemd" # by us\nlog_level = "debug"\n'
    host = node(files={DROP_IN: text})
    assert edited(host, tmp_path, cgroup_driver="cgroupfs")["files"][DROP_IN] == text.replace(
        '"systemd" # by us\nlog_level = "debug"\n',
        '"cgroupfs" # by us\nlog_level = "debug"\nconmon_cgroup = "pod"\n',
    )


def test_a_restart_that_is_still_missing_is_planned_without_an_edit(tmp_path: Path) -> None:
    written = node(files={DROP_IN: '[crio.runtime]\ncgroup_manager = "cgroupfs"\nconmon_cgroup = "pod"\n'})
    (change,) = [
        change for change in plan_of(written, tmp_path, cgroup_driver="cgroupfs").changes if change.target == "cri-o"
    ]
    assert (change.path, change.before, change.after) == (None, "systemd", "cgroupfs")
    assert change.needs == {Impact.RESTART_RUNTIME, Impact.DRAIN}


@pytest.mark.parametrize(("before_files", "restarts"), [(True, 1), (False, 0)])
def test_a_crio_that_does_not_report_its_driver_is_restarted_when_its_files_are_newer(
    before_files: bool, restarts: int, tmp_path: Path
) -> None:
    host = merged(
        of_version("1.27", "cgroupfs", nri=False),
        {"files": {"/proc/uptime": "100.00 0.00\n"}, "processes": {"crio": {"before_files": before_files}}},
    )
    changes = plan_of(host, tmp_path, cgroup_driver="cgroupfs").changes
    assert [change.before for change in changes] == ["older than its files"] * restarts
    reporting = merged(
        host, {"live": {"runtime": {"cri": {"runtime_config": {"cgroup_driver": "cgroupfs", "error": None}}}}}
    )
    assert plan_of(reporting, tmp_path / "reporting", cgroup_driver="cgroupfs").changes == ()


def test_nri_that_the_running_crio_does_not_have_yet_needs_a_restart(tmp_path: Path) -> None:
    host = of_version("1.30", "systemd", nri=False)
    (change,) = plan_of(host, tmp_path, nri={"enabled": True}).changes
    assert (change.path, change.before, change.after) == (None, "off", "on")


def test_an_image_gets_every_key_whose_default_is_not_known_and_a_second_time_none(tmp_path: Path) -> None:
    for path, text in {
        "usr/bin/crio": "",
        KUBELET[1:]: "containerRuntimeEndpoint: unix:///run/crio/crio.sock\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    desired_profile = profile_of(
        cgroup_driver="cgroupfs", nri={"enabled": True, "socket_path": "/var/run/nri/nri.sock"}
    )
    snapshot = collect(Host(str(tmp_path)))
    changes = runtime_changes(interpret(snapshot), desired_profile)
    (edit,) = file_edits(snapshot, changes)
    assert (edit.path, edit.before) == (DROP_IN, None)
    assert edit.after == HEADER + (
        '\n[crio.runtime]\ncgroup_manager = "cgroupfs"\nconmon_cgroup = "pod"\n\n[crio.nri]\nenable_nri = true\n'
    )
    (tmp_path / DIRECTORY[1:]).mkdir(parents=True)
    (tmp_path / DROP_IN[1:]).write_text(edit.after)
    assert runtime_changes(interpret(collect(Host(str(tmp_path)))), desired_profile) == ()


def test_another_runtime_than_crio_has_no_plan_of_crio(tmp_path: Path) -> None:
    containerd = snapshot_of(described("v2-containerd-1.7-aligned").host, tmp_path)
    changes = runtime_changes(interpret(containerd), profile_of(cgroup_driver="cgroupfs"))
    assert {change.target for change in changes} == {"containerd"}


@pytest.mark.parametrize(
    ("flags", "options"),
    [
        (["--cgroup-manager=systemd"], {"cgroup_driver": "systemd"}),
        (["--enable-nri=true", "--nri-listen", "/var/run/nri/nri.sock"], {"nri": {"enabled": True}}),
    ],
)
def test_no_file_is_changed_if_a_flag_has_the_desired_value(
    flags: list[str], options: dict[str, Any], tmp_path: Path
) -> None:
    against = '[crio.runtime]\ncgroup_manager = "cgroupfs"\n[crio.nri]\nenable_nri = false\nnri_listen = "/x"\n'
    host = node(files={"/etc/crio/crio.conf": against}, processes={"crio": {"argv": ["/usr/bin/crio", *flags]}})
    result = plan_of(host, tmp_path / "flag", **options)
    assert (result.changes, result.refusals) == ((), ())
    without = merged(host, {"processes": {"crio": {"argv": ["/usr/bin/crio"]}}})
    assert settings(plan_of(without, tmp_path / "none", **options).changes)
