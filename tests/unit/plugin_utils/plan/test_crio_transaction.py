# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The transaction of a CRI-O node: its unit, the validation with crio config, and the gate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.state import plan_document as node_side
from ansible_collections.volcano.colocation.plugins.plugin_utils.assessment.node_plan import make_plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.interpreter import interpret
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.file_edits import file_edits
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.transaction_document import (
    files_document,
    transaction_document,
)
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import profile_of
from ansible_collections.volcano.colocation.tests.support.hosts.described_hosts import described, merged, snapshot_of

DROP_IN = "/etc/crio/crio.conf.d/99-volcano-colocation.conf"
ARGV = ["crio", "--config=", "--config-dir={folder}", "config"]


def documents(directory: Path, version: str, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """(the whole transaction, the one that only writes files); the node's own parser accepts both."""
    host = merged(described("crio-aligned").host, {"live": {"runtime": {"cri": {"version": version}}}})
    snapshot, profile = snapshot_of(host, directory), profile_of(**options)
    facts = interpret(snapshot)
    plan = make_plan(facts, profile, allow_disruption=True)
    assert plan.refusals == ()
    edits = file_edits(snapshot, plan.changes)
    whole, files = transaction_document(facts, plan, profile, edits, 300), files_document(edits, plan, facts)
    for document in (whole, files):
        node_side.parse_plan(json.dumps(document))
    return whole, files


def test_crio_is_restarted_between_two_stops_of_kubelet(tmp_path: Path) -> None:
    whole, files = documents(tmp_path, "1.30.3", cgroup_driver="cgroupfs")
    assert whole["services"]["runtime"] == {"unit": "crio.service", "action": "restart"}
    assert whole["services"]["kubelet"]["action"] == "restart"
    endpoint, cgroups = "unix:///var/run/crio/crio.sock", ["kubepods.slice", "kubepods"]
    assert whole["sandboxes"] == {"endpoint": endpoint, "action": "stop", "cgroups": cgroups}
    assert (whole["stale_cgroups"], whole["fresh_cgroups"]) == (["kubepods.slice"], ["kubepods"])
    # CRI-O has one driver for all handlers and does not report their configuration.
    assert (whole["gate"]["cgroup_driver"], whole["gate"]["runtime_handlers"]) == ("cgroupfs", {})
    assert whole["gate"]["cri_endpoint"] == "unix:///var/run/crio/crio.sock"
    assert files["services"]["runtime"] == {"unit": "crio.service", "action": "leave"}
    assert files["validate"] == whole["validate"]


def expected(version: str, directory: Path, **options: Any) -> list[tuple[str, str, str]]:
    (validation,) = documents(directory, version, **options)[0]["validate"]
    assert (validation["name"], validation["argv"], validation["file"]) == ("crio config", ARGV, DROP_IN)
    return [
        (".".join(expectation["table"]), expectation["key"], expectation["value"])
        for expectation in validation["expect"]
    ]


SOCKET = {"socket_path": "/run/n.sock", "plugin_request_timeout": "90s"}


@pytest.mark.parametrize(
    ("version", "options", "read"),
    [
        (
            "1.30.3",
            {"cgroup_driver": "cgroupfs"},
            [("crio.runtime", "cgroup_manager", "cgroupfs"), ("crio.runtime", "conmon_cgroup", "pod")],
        ),
        # CRI-O prints a default as a comment, and a timeout as 1m30s.
        ("1.29.6", {"nri": {"enabled": True}}, [("crio.nri", "enable_nri", "true")]),
        ("1.30.3", {"nri": {"enabled": False}}, [("crio.nri", "enable_nri", "false")]),
        ("1.30.3", {"nri": {"enabled": True, **SOCKET}}, [("crio.nri", "nri_listen", "/run/n.sock")]),
    ],
)
def test_the_values_that_crio_must_read_from_the_new_text(
    version: str, options: dict[str, Any], read: list[tuple[str, str, str]], tmp_path: Path
) -> None:
    assert expected(version, tmp_path, **options) == read


def test_a_plan_without_the_drop_in_validates_nothing(tmp_path: Path) -> None:
    whole, _files = documents(tmp_path, "1.30.3", cpu_manager_policy="none")
    assert whole["validate"] == []
    assert whole["services"]["runtime"] == {"unit": "crio.service", "action": "leave"}
