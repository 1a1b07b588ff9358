# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Older tables with values of a wrong type in containerd 2: it does not start, or drops them."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    Snapshot,
    captured,
    runtime_text,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.facts.runtimes import codes, runtime
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_runtime import (
    V2,
    V3,
    containerd,
    handler,
)


@pytest.fixture
def aligned() -> Snapshot:
    return captured(ALIGNED)


BOTH = handler(V3, "true").replace("options", "other")
MIGRATED = {
    "the plugin": (
        "[plugins]\n'io.containerd.grpc.v1.cri' = 3\n",
        'plugins."io.containerd.grpc.v1.cri" is not a table',
    ),
    "handlers in a list": (f"[[{V2}.containerd.runtimes]]\nruntime_type = 'x'\n", "runtimes is not a table"),
    "a directory of programs": (f"[{V2}.cni]\nbin_dir = ['/a']\n", "bin_dir is not a string"),
    "a sandbox image": (f"[{V2}]\nsandbox_image = 3\n", "sandbox_image is not a string"),
    "pinned images": (
        f"[plugins.'io.containerd.cri.v1.images']\npinned_images = []\n[{V2}]\nenable_selinux = true\n",
        "pinned_images is not a table",
    ),
    "handlers and newer ones": (f"{BOTH}[{V2}.containerd]\nruntimes = 3\n", "runtimes is not a table"),
    "a handler and newer ones": (f"{BOTH}[{V2}.containerd.runtimes]\nx = 3\n", "handler x is not a table"),
    "CNI in another letter case": (f"[{V2}]\nCNI = 3\n", "CNI is not a table"),
    "a registry": (f"[{V2}]\nregistry = 3\n", "registry is not a table"),
    "a task plugin": ("[plugins]\n'io.containerd.runtime.v2.task' = 3\n", 'task" is not a table'),
}
"""The migration of containerd 2.4.2 reads them and panics, or containerd does not start: run."""


@pytest.mark.parametrize("case", MIGRATED)
@pytest.mark.parametrize("version", ["2.1.9", "2.4.2"])
def test_a_value_that_containerd_2_cannot_migrate_is_reported(aligned: Snapshot, version: str, case: str) -> None:
    text, message = MIGRATED[case]
    defects = runtime(containerd(runtime_text(aligned, "version = 2\n" + text), version)).defects
    (defect,) = (candidate for candidate in defects if candidate.code == "containerd-value-type")
    assert defect.message.endswith(message)
    assert defect.line is not None


def test_a_disabled_plugin_is_migrated_since_2_3(aligned: Snapshot) -> None:
    off = "', '".join(("io.containerd.cri.v1.runtime", "io.containerd.cri.v1.images", "io.containerd.grpc.v1.cri"))
    text = f"version = 2\ndisabled_plugins = ['{off}']\n[{V2}.containerd]\nruntimes = 3\n"
    assert "containerd-value-type" in codes(containerd(runtime_text(aligned, text), "2.4.2"))
    assert "containerd-value-type" not in codes(containerd(runtime_text(aligned, text), "2.1.9"))


NOT_MIGRATED = {
    "a snapshotter without handlers": f"[{V2}.containerd]\nsnapshotter = 3\n",
    "CNI": f"[{V2}]\ncni = 3\n",
    "a newer table that is replaced": f"[{V3}]\ncontainerd = 3\n{handler(V2, 'true')}",
    "an older handler and newer ones": f"{BOTH}[{V2}.containerd.runtimes.x]\nruntime_type = 3\n",
    "a registry in another letter case": f"[{V2}]\nRegistry = 3\n",
    "a newer shim plugin": "[plugins.'io.containerd.shim.v1.manager']\nenv = 3\n"
    "[plugins.'io.containerd.runtime.v2.task']\n",
}
"""The migration of containerd 2.4.2 silently drops them: run."""


@pytest.mark.parametrize("case", NOT_MIGRATED)
@pytest.mark.parametrize("version", ["2.1.9", "2.4.2"])
def test_a_value_that_containerd_2_does_not_migrate_is_not_reported(aligned: Snapshot, version: str, case: str) -> None:
    node = containerd(runtime_text(aligned, "version = 2\n" + NOT_MIGRATED[case]), version)
    assert "containerd-value-type" not in codes(node)


def test_cdi_is_always_on_since_2_3(aligned: Snapshot) -> None:
    node = runtime_text(aligned, f"version = 2\n[{V2}]\nenable_cdi = 3\n")
    assert "containerd-value-type" in codes(containerd(node, "2.1.9"))
    assert "containerd-value-type" not in codes(containerd(node, "2.4.2"))


def test_of_two_tables_of_the_cri_the_newer_one_is_decoded(aligned: Snapshot) -> None:
    text = "version = 2\n" + handler(V2, "true") + handler(V3, "1")
    node = runtime(containerd(runtime_text(aligned, text), "2.4.2"))
    assert "containerd-option-type" in [defect.code for defect in node.defects]
