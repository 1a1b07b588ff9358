# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that containerd validates before they are written, and the values that it must read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.transaction import validation as node_side
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.containerd_changes import (
    containerd_validation,
    in_dump,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.file_edits import file_edits
from ansible_collections.volcano.colocation.plugins.plugin_utils.releases.containerd_schema import CANDIDATES
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import facts_of
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.plan.containerd_nodes import (
    CONF_D,
    DRIVER,
    MAIN,
    NVIDIA,
    OWN_DROP_IN,
    V2,
    V3,
    Files,
    containerd,
    edits_of,
    handler,
    plan_of,
)

ALL = f'imports = ["{CONF_D}*.toml"]\n'
RUNC3 = ["plugins", "io.containerd.cri.v1.runtime", "containerd", "runtimes", "runc"]
RUNC2 = ["plugins", "io.containerd.grpc.v1.cri", "containerd", "runtimes", "runc"]
OFF2, OFF3 = handler(V2, "runc", "false"), handler(V3, "runc", "false")


def validation(version: str, files: Files, options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    node = containerd(version, files)
    plan = plan_of(node, options or DRIVER)
    (result,) = containerd_validation(facts_of(node).runtime, plan.changes, file_edits(node, plan.changes))
    return result


def test_both_sides_use_the_same_directory_name() -> None:
    assert node_side.DIRECTORY_MARK.decode() == CANDIDATES


def test_a_single_file_is_validated_as_planned() -> None:
    result = validation("1.7.24", {MAIN: "version = 2\n" + OFF2})
    assert result["argv"] == ["containerd", "--config", "{file}", "config", "dump"]
    assert result["candidates"] == [{"name": "0-config.toml", "path": MAIN, "text": None}]
    assert result["expect"] == [{"table": [*RUNC2, "options"], "key": "SystemdCgroup", "value": "true"}]
    assert result["compare"] == {"except": ["disabled_plugins", "imports", "version"], "except_tables": []}


def test_a_file_that_imports_itself_is_validated_without_the_import() -> None:
    result = validation("1.7.24", {MAIN: f'version = 2\nimports = ["{MAIN}"]\n' + OFF2})
    on = OFF2.replace("false", "true")
    assert result["candidates"] == [{"name": "0-config.toml", "path": MAIN, "text": f"version = 2\nimports = []\n{on}"}]


def test_effective_files_are_imported_in_merge_order_and_changed_ones_by_their_candidates() -> None:
    files = {
        MAIN: 'version = 3\nimports = ["conf.d/*.toml", "x.toml"]\n' + OFF3,
        NVIDIA: "version = 3\n",
        "/etc/containerd/x.toml": "",
    }
    result = validation("2.1.9", files)
    imports = f'["{NVIDIA}", "{CANDIDATES}/2-zz-volcano-colocation.toml", "/etc/containerd/x.toml"]'
    assert result["candidates"] == [
        {"name": "0-config.toml", "path": MAIN, "text": f"version = 3\nimports = {imports}\n" + OFF3},
        {"name": "2-zz-volcano-colocation.toml", "path": OWN_DROP_IN, "text": None},
    ]


def test_a_changed_import_is_validated_without_its_own_imports() -> None:
    files = {
        MAIN: 'version = 2\nimports = ["a b.toml"]\n',
        "/etc/containerd/a b.toml": f'imports = ["{MAIN}"]\n' + OFF2,
    }
    result = validation("1.7.24", files)
    assert result["candidates"] == [
        {"name": "0-config.toml", "path": MAIN, "text": f'version = 2\nimports = ["{CANDIDATES}/1-a_b.toml"]\n'},
        {
            "name": "1-a_b.toml",
            "path": "/etc/containerd/a b.toml",
            "text": "imports = []\n" + OFF2.replace("false", "true"),
        },
    ]


def test_a_new_main_file_is_compared_except_for_its_handler() -> None:
    result = validation("2.1.9", {})
    assert result["compare"]["except_tables"] == [RUNC3]
    assert {(expectation["key"], expectation["value"]) for expectation in result["expect"]} == {
        ("runtime_type", "io.containerd.runc.v2"),
        ("SystemdCgroup", "true"),
    }


@pytest.mark.parametrize(("version", "believed"), [("2.0.5", False), ("2.0.6", True)])
def test_values_of_a_wrong_dump_are_not_compared(version: str, believed: bool) -> None:
    result = validation(version, {MAIN: "version = 2\n" + OFF2})
    assert bool(result["expect"]) is believed
    assert (result["compare"] is not None) is believed
    assert ("containerd#11600" in result["name"]) is not believed


@pytest.mark.parametrize(
    ("version", "keys", "dumped"),
    [
        ("1.6.20", ("plugins", "cri", "x"), ("plugins", "io.containerd.grpc.v1.cri", "x")),
        ("1.7.24", ("plugins", "nri", "disable"), ("plugins", "io.containerd.nri.v1.nri", "disable")),
        ("2.1.9", ("plugins", "io.containerd.grpc.v1.cri", "x"), ("plugins", "io.containerd.cri.v1.runtime", "x")),
        ("2.3.1", ("plugins", "io.containerd.cri.v1.runtime", "x"), ("plugins", "io.containerd.cri.v1.runtime", "x")),
        ("2.3.1", ("plugins", "io.containerd.nri.v1.nri"), ("plugins", "io.containerd.nri.v1.nri")),
    ],
)
def test_the_dump_names_keys_in_another_schema(version: str, keys: tuple[str, ...], dumped: tuple[str, ...]) -> None:
    assert in_dump(keys, version) == dumped


def test_nothing_is_validated_if_nothing_is_written() -> None:
    node = containerd("2.1.9", {MAIN: "version = 3\n" + handler(V3, "runc", "true")})
    plan = plan_of(node, DRIVER)
    assert containerd_validation(facts_of(node).runtime, plan.changes, edits_of(node, DRIVER)) == []
