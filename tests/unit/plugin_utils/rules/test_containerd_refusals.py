# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of containerd that are not changed, each with the reason and a similar file that is changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.text_errors import UneditableFile
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.containerd_runtime import DUMP
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import put
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.plan.containerd_nodes import (
    CONF_D,
    DRIVER,
    MAIN,
    NRI,
    NVIDIA,
    OWN_DROP_IN,
    V1,
    V2,
    V3,
    Files,
    containerd,
    edits_of,
    handler,
    plan_of,
)

ALL = f'imports = ["{CONF_D}*.toml"]\n'
LATER = CONF_D + "zzz.toml"
KATA = "/opt/kata/containerd/config.d/kata-deploy.toml"
OFF2, OFF3 = handler(V2, "runc", "false"), handler(V3, "runc", "false")

# code, release, files, parts of the refusal; and the release and files of a similar node that is changed
REFUSED: dict[str, tuple[str, str, Files, tuple[str, ...], tuple[str, Files]]] = {
    "schema 1 is lost on 2.0 to 2.2": (
        "containerd-schema",
        "2.1.9",
        {MAIN: handler(V1, "runc", "false")},
        (
            f"{MAIN}: ",
            "version is 1",
            "containerd 2.1.9 reads 2, 3",
            'plugins."cri" is not a key of schema 3',
            "Migrate",
        ),
        ("1.7.24", {MAIN: handler(V1, "runc", "false")}),
    ),
    "1.6 takes schema 3 for 2": (
        "containerd-schema",
        "1.6.20",
        {MAIN: "version = 3\n"},
        (f"{MAIN}: ", "version is 3", "containerd 1.6.20 reads 1, 2"),
        ("1.6.20", {MAIN: "version = 2\n"}),
    ),
    "a schema newer than the release": (
        "containerd-schema",
        "2.2.1",
        {MAIN: "version = 4\n"},
        (f"{MAIN}: ", "version is 4", "containerd 2.2.1 reads 2, 3"),
        ("2.3.1", {MAIN: "version = 4\n"}),
    ),
    "an unknown schema": (
        "containerd-schema",
        "2.3.1",
        {MAIN: "version = 5\n"},
        (f"{MAIN}: ", "version is 5", "containerd 2.3.1 reads 2, 3, 4"),
        ("2.3.1", {MAIN: "version = 3\n"}),
    ),
    "a version that is not a number": (
        "containerd-schema",
        "2.3.1",
        {MAIN: "version = true\n"},
        (f"{MAIN}: ", "version is not an integer"),
        ("2.3.1", {MAIN: "version = 3\n"}),
    ),
    "the managed drop-in without its version": (
        "containerd-schema",
        "2.1.9",
        {MAIN: "version = 3\n" + ALL, OWN_DROP_IN: OFF3},
        (f"{OWN_DROP_IN}: ", "version is not named", "Delete"),
        ("2.1.9", {MAIN: "version = 3\n" + ALL, OWN_DROP_IN: "version = 3\n" + OFF3}),
    ),
    "an unknown release": (
        "containerd-release-unknown",
        "3.0.1",
        {MAIN: "version = 4\n"},
        ("containerd 3.0.1 is newer", "2.x"),
        ("2.4.0", {MAIN: "version = 4\n"}),
    ),
    "imports and no known release": (
        "containerd-release-unknown",
        "unreleased",
        {MAIN: "version = 2\n" + ALL, NVIDIA: "version = 2\n"},
        (f"{MAIN}: ", "release, which is unreleased", "imports"),
        ("unreleased", {MAIN: "version = 2\n"}),
    ),
    "an import elsewhere replaces the table": (
        "containerd-imports",
        "1.7.24",
        {MAIN: f'version = 2\nimports = ["{KATA}"]\n' + OFF2, KATA: OFF2},
        (f"{KATA}: ", f"overrides {MAIN}", "/etc/containerd/"),
        ("1.7.24", {MAIN: f'version = 2\nimports = ["{KATA}"]\n' + OFF2, KATA: f"[{NRI}]\ndisable = false\n"}),
    ),
    "a later file sets another value": (
        "containerd-overridden",
        "2.1.9",
        {MAIN: "version = 3\n" + ALL, LATER: "version = 3\n" + OFF3},
        (f"{LATER}: ", "SystemdCgroup of runc would have no effect"),
        ("2.1.9", {MAIN: "version = 3\n" + ALL, NVIDIA: "version = 3\n" + OFF3}),
    ),
    "an import of an import sets another value": (
        "containerd-overridden",
        "2.1.9",
        {
            MAIN: 'version = 3\nimports = ["a.toml"]\n',
            "/etc/containerd/a.toml": 'imports = ["b.toml"]\n',
            "/etc/containerd/b.toml": OFF3,
        },
        ("/etc/containerd/b.toml: ",),
        ("2.1.9", {MAIN: 'version = 3\nimports = ["a.toml"]\n', "/etc/containerd/a.toml": OFF3}),
    ),
    "a file imports what would be changed": (
        "containerd-imports",
        "2.1.9",
        {MAIN: 'version = 3\nimports = ["a.toml"]\n' + OFF3, "/etc/containerd/a.toml": 'imports = ["config.toml"]\n'},
        ("/etc/containerd/a.toml: ", f"imports {MAIN}", "only"),
        ("2.1.9", {MAIN: 'version = 3\nimports = ["a.toml"]\n' + OFF3, "/etc/containerd/a.toml": ""}),
    ),
    "an import that does not parse": (
        "config-unreadable",
        "2.1.9",
        {MAIN: "version = 3\n" + ALL, NVIDIA: "version = 3\n[broken\n"},
        (f"{NVIDIA}:2: ", "Write it as [name]"),
        ("2.1.9", {MAIN: "version = 3\n" + ALL, NVIDIA: "version = 3\n"}),
    ),
    "imports that are not a list": (
        "containerd-key-type",
        "2.1.9",
        {MAIN: 'version = 3\nimports = "x"\n'},
        (f"{MAIN}: ", "imports is not a list of strings"),
        ("2.1.9", {MAIN: "version = 3\nimports = []\n"}),
    ),
    "an import that is missing": (
        "containerd-would-not-start",
        "2.1.9",
        {MAIN: 'version = 3\nimports = ["a.toml"]\n', "/etc/containerd/a.toml": None},
        (f"{MAIN}: ", "/etc/containerd/a.toml does not exist", "would not start", "containerd-import-missing"),
        ("2.1.9", {MAIN: 'version = 3\nimports = ["a*.toml"]\n', "/etc/containerd/a.toml": None}),
    ),
    "an import that was not read": (
        "containerd-imports",
        "2.1.9",
        {MAIN: 'version = 3\nimports = ["a.toml"]\n'},
        (f"{MAIN}: ", "imports /etc/containerd/a.toml, which was not read"),
        ("2.1.9", {MAIN: 'version = 3\nimports = ["a.toml"]\n', "/etc/containerd/a.toml": ""}),
    ),
    "versions that are mixed": (
        "containerd-would-not-start",
        "2.2.1",
        {MAIN: "version = 3\n" + ALL, NVIDIA: "version = 2\n"},
        (f"{NVIDIA}: ", "version 2", "loses settings", "containerd-versions-mixed"),
        ("2.3.5", {MAIN: "version = 3\n" + ALL, NVIDIA: "version = 2\n"}),
    ),
    "the managed drop-in after a migration of the main file": (
        "containerd-would-not-start",
        "2.2.1",
        {MAIN: "version = 3\n" + ALL, OWN_DROP_IN: "version = 2\n"},
        (f"{OWN_DROP_IN}: ", "containerd-versions-mixed"),
        ("2.2.1", {MAIN: "version = 3\n" + ALL, OWN_DROP_IN: "version = 3\n"}),
    ),
    "a plugin's name that schema 2 does not accept": (
        "containerd-would-not-start",
        "1.7.24",
        {MAIN: 'version = 2\ndisabled_plugins = ["aufs"]\n'},
        (f"{MAIN}: ", '"aufs"', "would not start", "containerd-plugin-name-invalid"),
        ("1.7.24", {MAIN: 'disabled_plugins = ["aufs"]\n'}),
    ),
    "the switch of runtime v1": (
        "containerd-would-not-start",
        "1.7.24",
        {MAIN: f"version = 2\n[{V2}]\nsystemd_cgroup = true\n"},
        (f"{MAIN}: ", "CRI plugin would not start", "containerd-legacy-systemd-cgroup"),
        ("1.7.24", {MAIN: f"version = 2\n[{V2}]\nsystemd_cgroup = false\n"}),
    ),
    "a default runtime that does not exist": (
        "containerd-would-not-start",
        "1.7.24",
        {MAIN: f'version = 2\n[{V2}.containerd]\ndefault_runtime_name = "nvidia"\n'},
        (f"{MAIN}: ", "nvidia", "containerd-default-runtime-undeclared"),
        ("1.7.24", {MAIN: f'version = 2\n[{V2}.containerd]\ndefault_runtime_name = "runc"\n'}),
    ),
}


def refused(version: str, files: Files, options: Mapping[str, Any] | None = None) -> dict[str, str]:
    plan = plan_of(containerd(version, files), options or DRIVER)
    assert not (plan.refusals and plan.changes)
    return {refusal.code: str(refusal) for refusal in plan.refusals}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_written_and_why(name: str) -> None:
    code, version, files, words, _other = REFUSED[name]
    refusals = refused(version, files)
    assert list(refusals) == [code]
    for word in words:
        assert word in refusals[code]


@pytest.mark.parametrize("name", REFUSED)
def test_one_change_makes_it_writable(name: str) -> None:
    version, files = REFUSED[name][-1]
    node = containerd(version, files)
    assert refused(version, files) == {}
    assert any(change.path for change in plan_of(node, DRIVER).changes)


def test_a_drop_in_is_refused_where_it_would_replace_a_table() -> None:
    options = {**DRIVER, "containerd_strategy": "drop-in"}
    refusals = refused("1.7.24", {MAIN: "version = 2\n"}, options)
    assert "colocation_containerd_strategy: " in refusals["containerd-strategy"]
    assert "colocation_containerd_strategy" in refusals["containerd-strategy"]
    assert refused("2.0.6", {MAIN: "version = 2\n"}, options) == {}


def test_the_main_file_is_refused_if_another_overrides_it() -> None:
    options = {**DRIVER, "containerd_strategy": "main-file"}
    files = {MAIN: "version = 3\n" + ALL + OFF3, NVIDIA: "version = 3\n" + OFF3}
    assert f"{NVIDIA}: SystemdCgroup of runc" in refused("2.1.9", files, options)["containerd-overridden"]
    assert refused("2.1.9", {**files, NVIDIA: "version = 3\n"}, options) == {}


def test_the_main_file_without_a_version_is_refused_from_2_0_on() -> None:
    options = {**DRIVER, "containerd_strategy": "main-file"}
    assert list(refused("2.1.9", {MAIN: 'root = "/x"\n'}, options)) == ["containerd-schema"]
    assert refused("1.7.24", {MAIN: 'root = "/x"\n'}, options) == {}


def test_nri_that_another_file_outranks() -> None:
    files = {MAIN: "version = 3\n" + ALL, LATER: f'version = 3\n[{NRI}]\ndisable = true\nsocket_path = "/x"\n'}
    options = {"nri": {"enabled": True, "socket_path": "/run/x.sock"}}
    refusal = refused("2.1.9", files, options)["containerd-overridden"]
    assert refusal.startswith(f"{LATER}: NRI's socket_path, disable would have no effect")
    assert refused("2.1.9", {**files, LATER: "version = 3\n"}, options) == {}


@pytest.mark.parametrize("name", ["disable_connections", "Disable_Connections"])
def test_nri_without_connections_has_no_socket(name: str) -> None:
    """containerd 2.4.2 was run with it: it creates no socket, for which the health gate would wait."""
    later = f"version = 3\n[{NRI}]\n{name} = true\n"
    files = {MAIN: "version = 3\n" + ALL, LATER: later}
    refusals = refused("2.1.9", files, {"nri": {"enabled": True}})
    assert list(refusals) == ["containerd-nri-connections-disabled"]
    assert refusals["containerd-nri-connections-disabled"].startswith(
        f"{LATER} (colocation_nri_enabled): sets disable_connections = true in NRI's table: containerd opens no"
    )
    assert refused("2.1.9", files, {"nri": {"enabled": False}}) == {}
    assert refused("2.1.9", {**files, LATER: later.replace("true", "false")}, {"nri": {"enabled": True}}) == {}
    assert refused("2.1.9", files, DRIVER) == {}


@pytest.mark.parametrize("state", ["true", "false"])
def test_a_relative_nri_socket(state: str) -> None:
    """Plugins and the health gate look for the socket by an absolute path."""
    files = {MAIN: f'version = 3\n[{NRI}]\ndisable = {state}\nsocket_path = "run/x.sock"\n'}
    refusals = refused("2.1.9", files, {"nri": {"enabled": True}})
    assert list(refusals) == ["nri-socket-relative"]
    assert refusals["nri-socket-relative"].startswith(f'{MAIN}:4: socket_path = "run/x.sock" is not an absolute path')
    assert refused("2.1.9", files, {"nri": {"enabled": True, "socket_path": "/run/x.sock"}}) == {}
    assert refused("2.1.9", files, {"nri": {"enabled": False}}) == {}
    assert refused("2.1.9", files) == {}


def test_a_dump_that_says_otherwise_than_the_files() -> None:
    files = {MAIN: "version = 3\n" + handler(V3, "runc", "true")}
    node = put(containerd("2.1.9", files), {"text": "version = 3\n" + OFF3, "seconds": 0.1}, "runtime", "dump")
    (refusal,) = plan_of(node, DRIVER).refusals
    assert (refusal.code, refusal.message) == (
        "containerd-dump-differs",
        f"{DUMP} shows cgroupfs for handler runc, but its files set systemd",
    )
    node["runtime"]["dump"]["text"] = files[MAIN]
    assert plan_of(node, DRIVER).refusals == ()


@pytest.mark.parametrize("name", ["schema 1 is lost on 2.0 to 2.2", "versions that are mixed"])
def test_nothing_is_refused_if_the_profile_has_nothing_for_containerd(name: str) -> None:
    _code, version, files, _words, _other = REFUSED[name]
    assert refused(version, files, {"read_only_port": 0}) == {}


def test_a_linked_drop_in_is_not_followed() -> None:
    node = put(containerd("2.1.9", {MAIN: "version = 3\n" + ALL}), {"kind": "symlink"}, "runtime", "files", OWN_DROP_IN)
    files = {refusal.code: refusal.file for refusal in plan_of(node, DRIVER).refusals}
    assert files == {"config-is-symlink": OWN_DROP_IN}


WEIRD = {
    "a plugin that is not a table": 'version = 2\n[plugins]\n"io.containerd.grpc.v1.cri" = "x"\n',
    "handlers that are not a table": f"version = 2\n[{V2}.containerd]\nruntimes = []\n",
    "options that are not a table": f"version = 2\n[{V2}.containerd.runtimes.runc]\noptions = 'x'\n",
}


@pytest.mark.parametrize("name", WEIRD)
def test_unexpected_types_are_reported_with_their_line(name: str) -> None:
    node = containerd("1.7.24", {MAIN: WEIRD[name]})
    with pytest.raises(UneditableFile, match=rf"{MAIN}:[23]: .*(table|hand)"):
        edits_of(node, DRIVER)


@pytest.mark.parametrize(("driver", "is_refused"), [("false", True), ("true", False)])
def test_a_deprecated_table_of_another_driver_is_refused(driver: str, is_refused: bool) -> None:
    table = handler(V2, "runc", driver).replace("runtimes.runc", "default_runtime")
    node = containerd("1.7.24", {MAIN: "version = 2\n" + handler(V2, "runc", "true") + table})
    refusals = plan_of(node, DRIVER).refusals
    assert [refusal.code for refusal in refusals] == (["containerd-runtime-deprecated"] if is_refused else [])
    assert edits_of(containerd("1.7.24", {MAIN: "version = 2\n" + handler(V2, "runc", "false")}), DRIVER)


V1_LINUX = f'[{V2}.containerd.runtimes.old]\nruntime_type = "io.containerd.runtime.v1.linux"\n'
OWN_SWITCH = f"[{V2}.containerd]\ndefault_runtime_name = 'old'\n[{V2}]\nsystemd_cgroup = true\n"


@pytest.mark.parametrize(
    ("text", "is_refused"),
    [
        (V1_LINUX, True),
        (V1_LINUX + f"[{V2}.containerd.runtimes.old.options]\nSystemdCgroup = false\n", True),
        (V1_LINUX + f"[{V2}.containerd.runtimes.old.options]\nSystemdCgroup = true\n", False),
        (OWN_SWITCH + V1_LINUX, False),
    ],
)
@pytest.mark.parametrize("driver", ["true", "false"])
def test_a_handler_of_the_runtime_of_1_2_is_not_changed(text: str, driver: str, is_refused: bool) -> None:
    node = containerd("1.7.24", {MAIN: "version = 2\n" + text + handler(V2, "runc", driver)})
    refusals = {refusal.code: refusal for refusal in plan_of(node, DRIVER).refusals}
    assert ("containerd-runtime-v1" in refusals) is is_refused
    if is_refused:
        refusal = refusals["containerd-runtime-v1"]
        assert (refusal.file, refusal.message) == (
            MAIN,
            "handler old is of type io.containerd.runtime.v1.linux, whose driver this collection does not change",
        )
        assert 'runtime_type = "io.containerd.runc.v2"' in refusal.remedy
    assert plan_of(node, {"read_only_port": 0}).refusals == ()


def test_a_handler_that_is_not_a_table_is_refused_without_other_changes() -> None:
    node = containerd("1.7.24", {MAIN: f"version = 2\n[[{V2}.containerd.runtimes.runc]]\nx = 1\n"})
    messages = {refusal.code: refusal.message for refusal in plan_of(node, DRIVER).refusals}
    assert "handler runc is not a table" in messages["containerd-would-not-start"]


def test_a_driver_that_is_a_string_is_written_as_a_boolean() -> None:
    node = containerd("1.7.24", {MAIN: "version = 2\n" + handler(V2, "runc", '"true"')})
    (edit,) = edits_of(node, DRIVER)
    assert edit.after == "version = 2\n" + handler(V2, "runc", "true")
