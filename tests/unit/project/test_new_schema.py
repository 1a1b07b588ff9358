# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/walkthroughs.md, "Support a new containerd schema": files of it are read and edited."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.support.checkout_copy import CheckoutCopy, followed

PROOF = """
import json
from PACKAGE.plugins.plugin_utils.assessment.node_plan import make_plan
from PACKAGE.plugins.plugin_utils.plan.file_edits import file_edits
from PACKAGE.tests.support.hosts.captured_nodes import facts_of, profile_of
from PACKAGE.tests.unit.plugin_utils.plan.containerd_nodes import MAIN, V2, V3, containerd, handler

def read_and_planned(version, files, strategy="auto"):
    snapshot = containerd(version, files)
    runtime = facts_of(snapshot).runtime
    profile = profile_of(cgroup_driver="systemd", containerd_strategy=strategy)
    plan = make_plan(facts_of(snapshot), profile, allow_disruption=True)
    return {
        "schemas": [runtime.config_version, runtime.merged.version],
        "drivers": {each.name: each.configured and each.configured.value for each in runtime.handlers},
        "defects": [each.code for each in runtime.defects],
        "refusals": [each.code for each in plan.refusals],
        "texts": {each.path: each.after for each in file_edits(snapshot, plan.changes) if "containerd" in each.path},
    }

NEWEST, OLDER = "version = 5\\n" + handler(V3, "runc", "false"), "version = 2\\n" + handler(V2, "runc", "false")
print(json.dumps({
    "edited": read_and_planned("v2.5.0", {MAIN: NEWEST}, "main-file"),
    "drop-in": read_and_planned("v2.5.0", {MAIN: NEWEST}),
    "migrated": read_and_planned("v2.5.0", {MAIN: OLDER}),
    "too new": read_and_planned("v2.4.2", {MAIN: NEWEST}),
    "unknown": read_and_planned(None, {MAIN: NEWEST}),
    "before": NEWEST,
    "path": MAIN,
}))
"""


@pytest.fixture(name="copy", scope="module")
def _copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CheckoutCopy]:
    with followed("Support a new containerd schema", tmp_path_factory.mktemp("schema")) as copy:
        yield copy


@pytest.fixture(name="proof", scope="module")
def _proof(copy: CheckoutCopy) -> Any:
    return copy.proof(PROOF)


def test_one_file_is_edited_by_hand(copy: CheckoutCopy) -> None:
    assert copy.changed == copy.by_hand == {"plugins/plugin_utils/releases/containerd_schema.py"}


def test_its_file_is_read_and_edited_in_place(proof: dict[str, Any]) -> None:
    schema_proof = proof["edited"]
    assert (schema_proof["schemas"], schema_proof["drivers"]) == ([5, 5], {"runc": "cgroupfs"})
    assert schema_proof["defects"] == schema_proof["refusals"] == []
    edited = proof["before"].replace("SystemdCgroup = false", "SystemdCgroup = true")
    assert schema_proof["texts"][proof["path"]] == edited != proof["before"]


def test_a_new_file_has_its_version(proof: dict[str, Any]) -> None:
    (drop_in,) = (text for path, text in proof["drop-in"]["texts"].items() if path != proof["path"])
    assert "\nversion = 5\n" in drop_in
    assert "SystemdCgroup = true" in drop_in


def test_an_older_file_is_migrated_to_it(proof: dict[str, Any]) -> None:
    schema_proof = proof["migrated"]
    assert (schema_proof["schemas"], schema_proof["drivers"]) == ([2, 5], {"runc": "cgroupfs"})
    assert schema_proof["defects"] == schema_proof["refusals"] == []


def test_an_older_release_does_not_read_it(proof: dict[str, Any]) -> None:
    assert proof["too new"]["defects"] == ["containerd-config-too-new"]
    assert proof["too new"]["refusals"] != []


def test_in_an_image_its_driver_is_known(proof: dict[str, Any]) -> None:
    assert proof["unknown"]["drivers"] == {"runc": "cgroupfs"}
