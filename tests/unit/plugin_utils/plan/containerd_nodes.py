# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes with any release and any files of containerd, derived from a captured node."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from ansible_collections.volcano.colocation.plugins.plugin_utils.assessment.node_plan import make_plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.change_set import Plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.file_edits import FileEdit, file_edits
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.node_profile import parse_profile
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    RUNTIME_FILE,
    Snapshot,
    captured,
    facts_of,
    put,
)

MAIN = RUNTIME_FILE
CONF_D = "/etc/containerd/conf.d/"
NVIDIA = CONF_D + "99-nvidia.toml"
OWN_DROP_IN = CONF_D + "zz-volcano-colocation.toml"
HEADER = "# Made by volcano.colocation. Keep settings of your own in another file.\n"
V1 = "plugins.cri"
V2 = 'plugins."io.containerd.grpc.v1.cri"'
V3 = "plugins.'io.containerd.cri.v1.runtime'"
NRI = 'plugins."io.containerd.nri.v1.nri"'
DRIVER = {"cgroup_driver": "systemd"}

Files = Mapping[str, str | None]


def handler(cri: str, name: str, driver: str | None, extra: str = "") -> str:
    """A handler of runc type as people write it; without a driver setting if ``driver`` is None."""
    word = "" if driver is None else f"SystemdCgroup = {driver}\n"
    table = f"{cri}.containerd.runtimes.{name}"
    return f'[{table}]\nruntime_type = "io.containerd.runc.v2"\n[{table}.options]\n{extra}{word}'


def containerd(version: str | None, files: Files) -> Snapshot:
    """A node that runs this containerd; without a version nothing runs, as in an image."""
    result = put(captured(ALIGNED), version, "runtime", "cri", "version")
    result = put(result, None, "runtime", "cri", "config")
    result = put(result, {}, "runtime", "nri_sockets")
    if version is None:
        result = put(put(result, [], "runtime", "processes"), None, "runtime", "version")
    return with_files(put(result, {MAIN: {"kind": "missing"}}, "runtime", "files"), files)


def with_files(snapshot: Snapshot, files: Files) -> Snapshot:
    """A copy with these files of containerd; None is a missing one."""
    captured_files = dict(snapshot["runtime"]["files"])
    for path, text in files.items():
        captured_files[path] = {"kind": "missing"} if text is None else {"kind": "regular", "text": text, "sha256": ""}
        if text is not None:
            captured_files[path]["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    return put(snapshot, captured_files, "runtime", "files")


def plan_of(snapshot: Snapshot, options: Mapping[str, Any]) -> Plan:
    return make_plan(facts_of(snapshot), parse_profile(options), allow_disruption=True)


def edits_of(snapshot: Snapshot, options: Mapping[str, Any]) -> tuple[FileEdit, ...]:
    plan = plan_of(snapshot, options)
    assert plan.refusals == ()
    return file_edits(snapshot, plan.changes)


def edited(snapshot: Snapshot, options: Mapping[str, Any]) -> Snapshot:
    """A copy with the edits of a plan applied."""
    return with_files(snapshot, {edit.path: edit.after for edit in edits_of(snapshot, options)})
