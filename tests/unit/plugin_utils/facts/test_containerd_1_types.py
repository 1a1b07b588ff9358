# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of a wrong type in the tables of containerd 1.x, which 1.6.20 and 1.7.24 accept or refuse."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import ALIGNED, captured, runtime_text
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.facts.runtimes import codes, runtime
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_runtime import (
    NVIDIA,
    V2,
    containerd,
    file,
    handler,
)

NO_TABLE = "version = 2\n{}\n[plugins]\n'io.containerd.grpc.v1.cri' = 1\n"
IMPORTS, OFF = 'imports = ["conf.d/*.toml"]', 'disabled_plugins = ["io.containerd.grpc.v1.cri"]'


@pytest.mark.parametrize("version", ["1.6.20", "1.7.24"])
@pytest.mark.parametrize(
    ("line", "later"),
    [
        pytest.param(IMPORTS, "version = 2\n" + handler(V2, "true"), id="that a later file replaces"),
        pytest.param(OFF, "", id="that is switched off"),
    ],
)
def test_containerd_1_does_not_start_with_a_plugin_that_is_not_a_table(version: str, line: str, later: str) -> None:
    node = containerd(runtime_text(captured(ALIGNED), NO_TABLE.format(line)), version)
    defects = runtime(file(node, NVIDIA, later) if later else node).defects
    assert [(defect.code, defect.line) for defect in defects][:1] == [("containerd-value-type", 4)]


@pytest.mark.parametrize(("version", "decoded"), [("1.6.20", False), ("1.7.24", True)])
@pytest.mark.parametrize("table", [f"[{V2}]\nenable_cdi = 3\n", f"[{V2}.cni]\nsetup_serially = 3\n"])
def test_a_key_of_1_7_may_have_any_type_before(table: str, version: str, decoded: bool) -> None:
    node = containerd(runtime_text(captured(ALIGNED), f"version = 2\n{table}"), version)
    assert ("containerd-value-type" in codes(node)) is decoded


@pytest.mark.parametrize(("version", "decoded"), [("1.6.20", False), ("1.7.24~ds1", False), ("1.7.26", True)])
def test_a_key_of_1_7_26_may_have_any_type_before(version: str, decoded: bool) -> None:
    table = "[plugins.'io.containerd.service.v1.diff-service']\nsync_fs = 3\n"
    node = containerd(runtime_text(captured(ALIGNED), f"version = 2\n{table}"), version)
    assert ("containerd-value-type" in codes(node)) is decoded
