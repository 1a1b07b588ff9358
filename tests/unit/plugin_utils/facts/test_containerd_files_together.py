# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several files of containerd: the effective ones, and their merged values."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.releases.containerd_schema import OWN_DROP_IN
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    RUNTIME_FILE,
    Snapshot,
    captured,
    put,
    runtime_text,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.facts.runtimes import codes, runtime
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_runtime import (
    NVIDIA,
    V2,
    V3,
    containerd,
    file,
    handler,
    imports,
)


@pytest.fixture
def aligned() -> Snapshot:
    return captured(ALIGNED)


@pytest.mark.parametrize(
    ("version", "main", "drop_in", "mixed"),
    [
        ("1.7.24", "version = 2\n", "version = 1\n", True),
        ("1.7.24", "version = 2\n", "", False),
        ("2.2.3", "version = 2\n", "version = 3\n", True),
        ("2.3.4", "version = 2\n", "version = 3\n", True),
        ("2.3.4", "version = 3\n", "version = 2\n", False),
        ("2.3.5", "version = 2\n", "version = 3\n", False),
        ("2.4.0", "version = 2\n", "version = 3\n", False),
        ("2.2.0", 'version = "x"\n', "version = 3\n", False),
        # A main file without version has the defaults' version up to 2.2, and in 2.3 none to compare with.
        ("1.7.24", "", "version = 2\n", True),
        ("2.2.3", "", "version = 3\n", False),
        ("2.2.3", "", "version = 2\n", True),
        ("2.3.4", "", "version = 4\n", False),
    ],
)
def test_files_of_different_versions_are_a_finding_by_the_rules_of_the_release(
    aligned: Snapshot, version: str, main: str, drop_in: str, mixed: bool
) -> None:
    assert ("containerd-versions-mixed" in codes(imports(containerd(aligned, version), drop_in, main))) is mixed


def test_a_drop_in_with_the_same_value_shadows_nothing(aligned: Snapshot) -> None:
    assert codes(imports(aligned, "version = 2\n" + handler(V2, "true"))) == []
    (defect,) = runtime(imports(aligned, f"version = 2\n[{V2}.cni]\nbin_dir = '/x'\n")).defects
    assert defect.message == f"{RUNTIME_FILE} sets SystemdCgroup = true for runc, this file removes it"


def test_the_managed_drop_in_may_override(aligned: Snapshot) -> None:
    main = f'version = 3\nimports = ["{OWN_DROP_IN}", "{NVIDIA}"]\n' + handler(V3, "false")
    node = file(runtime_text(containerd(aligned, "2.1.0"), main), NVIDIA, "version = 3\n")
    assert codes(file(node, OWN_DROP_IN, "version = 3\n" + handler(V3, "true"))) == []
    other = file(file(node, OWN_DROP_IN, "version = 3\n"), NVIDIA, "version = 3\n" + handler(V3, "true"))
    assert codes(other) == ["containerd-handler-shadowed"]


def test_without_a_version_in_the_main_file_the_first_version_is_compared(aligned: Snapshot) -> None:
    node = runtime_text(containerd(aligned, "2.3.4"), f'imports = ["{NVIDIA}", "{OWN_DROP_IN}"]\n')
    node = file(file(node, NVIDIA, "version = 2\n"), OWN_DROP_IN, "version = 3\n")
    (defect,) = runtime(node).defects
    assert (defect.code, defect.file) == ("containerd-versions-mixed", OWN_DROP_IN)


def test_files_that_are_not_imported_are_captured_but_not_effective(aligned: Snapshot) -> None:
    facts = runtime(file(aligned, NVIDIA, "version = 2\n"))
    assert [layer.path for layer in facts.layers] == [RUNTIME_FILE]
    assert {config.path for config in facts.captured} == {RUNTIME_FILE, NVIDIA}


def test_an_import_that_is_not_in_the_snapshot_is_not_reported_as_missing(aligned: Snapshot) -> None:
    node = runtime_text(aligned, 'version = 2\nimports = ["x.toml"]\n' + handler(V2, "true"))
    (defect,) = runtime(node).defects
    assert (defect.code, defect.file) == ("config-unreadable", "/etc/containerd/x.toml")
    node = put(node, {"kind": "missing"}, "runtime", "files", "/etc/containerd/x.toml")
    assert codes(node) == ["containerd-import-missing"]


def test_too_many_imports_are_reported(aligned: Snapshot) -> None:
    assert codes(put(aligned, True, "runtime", "import_limit")) == ["config-unreadable"]


def test_a_snapshot_without_its_main_file_is_read_as_a_node_without_one(aligned: Snapshot) -> None:
    assert runtime(put(aligned, {}, "runtime", "files")).config.kind == "missing"


def test_disabled_plugins_of_all_files_are_joined(aligned: Snapshot) -> None:
    node = imports(aligned, 'version = 2\ndisabled_plugins = ["cri"]\n', 'version = 2\ndisabled_plugins = ["a"]\n')
    assert runtime(node).disabled_plugins == ("a", "cri")


def test_every_layer_is_in_the_facts(aligned: Snapshot) -> None:
    assert [layer.path for layer in runtime(imports(aligned, "")).layers] == [RUNTIME_FILE, NVIDIA]
