# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""containerd: each handler's driver in the file and as the CRI reports it, and the state of NRI."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.kubelet_names import Driver
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.node_state import DriverFacts
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.runtime_state import Handler, RuntimeFacts
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    DIFFERING,
    RUNTIME_FILE,
    Snapshot,
    captured,
    facts_of,
    missing,
    old_containerd,
    put,
    running_handlers,
    runtime_edit,
    runtime_text,
)

SYSTEMD, CGROUPFS = Driver.SYSTEMD, Driver.CGROUPFS
CRI = '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes'


def runtime(snapshot: Snapshot) -> RuntimeFacts:
    return facts_of(snapshot).runtime


def driver(snapshot: Snapshot) -> DriverFacts:
    return facts_of(snapshot).driver


def declared(name: str, systemd_cgroup: str, runtime_type: str = "io.containerd.runc.v2") -> str:
    return f'{CRI}.{name}]\nruntime_type = "{runtime_type}"\n{CRI}.{name}.options]\nSystemdCgroup = {systemd_cgroup}\n'


@pytest.fixture
def aligned() -> Snapshot:
    return captured(ALIGNED)


def test_runc_exists_without_being_declared() -> None:
    facts = runtime(captured(DIFFERING))
    assert facts.handlers == (Handler("runc", CGROUPFS, CGROUPFS, declared=False),)
    assert driver(captured(DIFFERING)).runtime is CGROUPFS


def test_a_declared_runc_is_read_from_the_file(aligned: Snapshot) -> None:
    facts = runtime(aligned)
    assert facts.handlers == (Handler("runc", SYSTEMD, SYSTEMD, declared=True, source=RUNTIME_FILE),)
    assert (driver(aligned).runtime, driver(aligned).live) == (SYSTEMD, SYSTEMD)


@pytest.mark.parametrize(("value", "expected"), [("false", CGROUPFS), ('"true"', None), ("1", None)])
def test_only_true_is_systemd(aligned: Snapshot, value: str, expected: Driver | None) -> None:
    snapshot = runtime_edit(aligned, "SystemdCgroup = true", f"SystemdCgroup = {value}")
    assert driver(snapshot).runtime is expected


def test_only_handlers_of_runc_type_are_in_the_facts(aligned: Snapshot) -> None:
    text = "version = 2\n" + declared("runc", "true") + declared("nvidia", "true", "io.containerd.runc.v1")
    text += declared("kata", "false", "io.containerd.kata.v2")
    node = running_handlers(runtime_text(aligned, text), runc=True, nvidia=True, kata=False)
    assert [
        (handler.name, handler.configured, handler.running, handler.source) for handler in runtime(node).handlers
    ] == [
        ("nvidia", SYSTEMD, SYSTEMD, RUNTIME_FILE),
        ("runc", SYSTEMD, SYSTEMD, RUNTIME_FILE),
    ]
    assert driver(node).runtime is SYSTEMD


def test_handlers_that_disagree_have_no_common_driver(aligned: Snapshot) -> None:
    text = "version = 2\n" + declared("runc", "true") + declared("nvidia", "false")
    drivers = driver(running_handlers(runtime_text(aligned, text), runc=True, nvidia=False))
    assert (drivers.runtime, drivers.live) == (None, None)


def test_a_handler_that_is_not_a_table_is_ignored(aligned: Snapshot) -> None:
    text = 'version = 2\n[plugins."io.containerd.grpc.v1.cri".containerd]\nruntimes = "runc"\n'
    assert [handler.name for handler in runtime(runtime_text(aligned, text)).handlers] == ["runc"]
    text = f"version = 2\n{CRI}]\nnvidia = 1\n"
    assert runtime(runtime_text(aligned, text)).handlers == ()


def test_a_handler_the_cri_does_not_name_runs_with_an_unknown_driver(aligned: Snapshot) -> None:
    text = "version = 2\n" + declared("runc", "true") + declared("nvidia", "true")
    facts = runtime(runtime_text(aligned, text))
    assert [(handler.name, handler.configured, handler.running) for handler in facts.handlers] == [
        ("nvidia", SYSTEMD, None),
        ("runc", SYSTEMD, SYSTEMD),
    ]
    assert driver(runtime_text(aligned, text)).live is None


def test_a_cri_that_shows_no_configuration(aligned: Snapshot) -> None:
    snapshot = put(aligned, None, "runtime", "cri", "config")
    assert runtime(snapshot).running
    assert driver(snapshot).live is None


@pytest.mark.parametrize(
    ("line", "version"),
    [("version = 2\n", 2), ("version = 3\n", 3), ("", 1), ('version = "2"\n', None)],
)
def test_the_schema_version_is_read_from_the_file(aligned: Snapshot, line: str, version: int | None) -> None:
    assert runtime(runtime_text(aligned, line + declared("runc", "true"))).config_version == version


def test_handlers_of_another_schema_are_not_guessed_at(aligned: Snapshot) -> None:
    facts = runtime(runtime_text(aligned, "version = 3\n" + declared("runc", "true")))
    assert facts.handlers == (Handler("runc", CGROUPFS, SYSTEMD, declared=False),)


def test_without_a_file_there_is_no_schema_and_runc_has_its_default(aligned: Snapshot) -> None:
    facts = runtime(missing(aligned, "runtime", RUNTIME_FILE))
    assert facts.config_version is None
    assert facts.config.problem is None
    assert facts.handlers == (Handler("runc", CGROUPFS, SYSTEMD, declared=False),)


def test_a_file_that_does_not_parse_has_no_schema(aligned: Snapshot) -> None:
    facts = runtime(runtime_text(aligned, "version = 2\n[plugins\n"))
    assert facts.config_version is None
    assert facts.config.problem is not None
    assert (facts.config.problem.file, facts.config.problem.line) == (RUNTIME_FILE, 2)


def test_imports_and_disabled_plugins(aligned: Snapshot) -> None:
    facts = runtime(runtime_text(aligned, 'version = 2\nimports = ["/a.toml"]\ndisabled_plugins = ["cri"]\n'))
    assert facts.imports == ("/a.toml",)
    assert facts.disabled_plugins == ("cri",)
    facts = runtime(runtime_text(aligned, 'version = 2\nimports = "/a.toml"\n'))
    assert facts.imports == ()


def test_a_missing_containerd_has_no_driver(aligned: Snapshot) -> None:
    snapshot = put(put(aligned, None, "runtime", "program"), [], "runtime", "processes")
    facts = runtime(snapshot)
    assert (facts.name, facts.installed, facts.running) == (None, False, False)
    assert driver(snapshot).runtime is None
    assert not any("SystemdCgroup" in claim.setting for claim in facts_of(snapshot).claims)


def test_a_silent_cri_is_not_running(aligned: Snapshot) -> None:
    snapshot = put(aligned, {"endpoint": "unix:///x.sock", "error": "connection refused"}, "runtime", "cri")
    facts = runtime(snapshot)
    assert not facts.running
    assert facts.endpoint == "unix:///x.sock"
    assert facts.version == "1.7.24~ds1"


@pytest.mark.parametrize(
    ("output", "version"),
    [
        ("containerd github.com/containerd/containerd v1.6.20 abc", "1.6.20"),
        ("containerd github.com/containerd/containerd/v2 2.1.9 abc", "2.1.9"),
        (None, None),
        ("containerd", None),
    ],
)
def test_the_programs_version_is_used_if_the_cri_reports_none(
    aligned: Snapshot, output: str | None, version: str | None
) -> None:
    snapshot = put(aligned, {"endpoint": "unix:///x.sock"}, "runtime", "cri")
    assert runtime(put(snapshot, output, "runtime", "version")).version == version


def test_nri_of_the_aligned_node_is_supported_configured_and_running(aligned: Snapshot) -> None:
    nri = runtime(aligned).nri
    assert (nri.supported, nri.configured, nri.running) == (True, True, True)


@pytest.mark.parametrize("bound", ["/var/run/nri/nri.sock", "/run/nri/nri.sock"])
@pytest.mark.parametrize(
    "written", ["", 'socket_path = "/run/nri/nri.sock"\n', 'socket_path = "/var/run/nri/nri.sock"\n']
)
def test_run_and_var_run_are_the_same_directory(aligned: Snapshot, bound: str, written: str) -> None:
    snapshot = runtime_edit(aligned, "disable = false\n", f"disable = false\n{written}")
    assert runtime(put(snapshot, {bound: {}}, "runtime", "nri_sockets")).nri.running


@pytest.mark.parametrize("bound", ["run/x.sock", "/run/x.sock"])
def test_a_relative_socket_is_below_the_directory_in_which_systemd_starts_containerd(
    aligned: Snapshot, bound: str
) -> None:
    """nri's startListener uses the path unchanged; the kernel lists it as it was bound."""
    snapshot = runtime_edit(aligned, "disable = false\n", 'disable = false\nsocket_path = "run/x.sock"\n')
    nri = runtime(put(snapshot, {bound: {}}, "runtime", "nri_sockets")).nri
    assert (nri.socket_path, nri.running) == ("/run/x.sock", True)


@pytest.mark.parametrize(
    ("written", "path"),
    [("", "/var/run/nri/nri.sock"), ("/run//nri/./x.sock", "/run/nri/x.sock"), ("@nri", "@nri")],
)
def test_a_socket_without_a_plain_path_is_read_as_its_path(aligned: Snapshot, written: str, path: str) -> None:
    snapshot = runtime_edit(aligned, "disable = false\n", f'disable = false\nsocket_path = "{written}"\n')
    assert runtime(snapshot).nri.socket_path == path


def test_another_socket_is_not_the_configured_one(aligned: Snapshot) -> None:
    assert not runtime(put(aligned, {"/run/other/nri.sock": {}}, "runtime", "nri_sockets")).nri.running


@pytest.mark.parametrize(
    ("version", "table", "supported", "configured"),
    [
        ("1.6.20~ds1", "disable = false", False, False),
        ("1.7.24", "", True, False),
        ("1.7.24", "disable = true", True, False),
        ("v2.0.1", "", True, True),
        ("v2.0.1", "disable = true", True, False),
        ("unreleased", "", None, False),
        ("unreleased", "disable = false", None, True),
    ],
)
def test_whether_nri_is_configured(
    aligned: Snapshot, version: str, table: str, supported: bool | None, configured: bool
) -> None:
    snapshot = put(aligned, version, "runtime", "cri", "version")
    snapshot = runtime_text(snapshot, f'version = 2\n[plugins."io.containerd.nri.v1.nri"]\n{table}\n')
    nri = runtime(snapshot).nri
    assert (nri.supported, nri.configured) == (supported, configured)


def test_containerd_before_1_7_has_no_nri() -> None:
    assert runtime(old_containerd(captured(DIFFERING))).nri.supported is False
