# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Snapshots captured from real nodes, and variants of them made by small pure functions."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.interpreter import interpret
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.node_state import NodeFacts
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.node_profile import Profile, parse_profile

Snapshot = dict[str, Any]

FIXTURES = Path(__file__).parents[2] / "unit" / "fixtures"
NAMES = tuple(sorted(path.stem for path in (FIXTURES / "snapshots").glob("*.json")))
ALIGNED = "trixie-v2-aligned"
DIFFERING = "trixie-v2-drivers-differ"

KUBELET_FILE = "/var/lib/kubelet/config.yaml"
CHECKPOINT = "/var/lib/kubelet/cpu_manager_state"
RUNTIME_FILE = "/etc/containerd/config.toml"

DESIRED: dict[str, Any] = {
    "cgroup_driver": "systemd",
    "cpu_manager_policy": "static",
    "system_reserved": {"cpu": "500m"},
    "nri": {"enabled": True},
}
"""The profile that the aligned fixture was provisioned with."""


def captured(name: str) -> Snapshot:
    """The snapshot of a real node."""
    snapshot: Snapshot = json.loads((FIXTURES / "snapshots" / f"{name}.json").read_text(encoding="utf-8"))
    return snapshot


def golden(directory: str, name: str) -> dict[str, Any]:
    """Return the expected result for the fixture ``name``."""
    document: dict[str, Any] = json.loads((FIXTURES / directory / f"{name}.json").read_text(encoding="utf-8"))
    return document


def put(snapshot: Snapshot, value: Any, *path: str | int) -> Snapshot:
    """A copy with another value at a path of keys."""
    variant = copy.deepcopy(snapshot)
    place: Any = variant
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return variant


def kubelet_text(snapshot: Snapshot, text: str) -> Snapshot:
    """A copy whose kubelet file has this text."""
    return put(snapshot, text, "kubelet", "files", KUBELET_FILE, "text")


def kubelet_edit(snapshot: Snapshot, old: str, new: str) -> Snapshot:
    """A copy with one place of kubelet's file changed."""
    text = snapshot["kubelet"]["files"][KUBELET_FILE]["text"]
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in the fixture"
    return kubelet_text(snapshot, text.replace(old, new))


def kubelet_adds(snapshot: Snapshot, lines: str) -> Snapshot:
    """A copy with lines at the end of kubelet's file."""
    return kubelet_text(snapshot, snapshot["kubelet"]["files"][KUBELET_FILE]["text"] + lines)


def kubelet_flags(snapshot: Snapshot, *flags: str) -> Snapshot:
    """A copy whose kubelet was started with more flags."""
    argv = snapshot["kubelet"]["processes"][0]["argv"]
    return put(snapshot, [*argv, *flags], "kubelet", "processes", 0, "argv")


def runtime_text(snapshot: Snapshot, text: str) -> Snapshot:
    """A copy whose containerd file has this text."""
    return put(snapshot, text, "runtime", "files", RUNTIME_FILE, "text")


def runtime_edit(snapshot: Snapshot, old: str, new: str) -> Snapshot:
    """A copy with one place of containerd's file changed."""
    text = snapshot["runtime"]["files"][RUNTIME_FILE]["text"]
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in the fixture"
    return runtime_text(snapshot, text.replace(old, new))


def running_handlers(snapshot: Snapshot, **systemd_cgroup: bool) -> Snapshot:
    """A copy whose CRI answers with these handlers."""
    handlers = {name: {"type": "io.containerd.runc.v2", "systemd_cgroup": on} for name, on in systemd_cgroup.items()}
    return put(snapshot, handlers, "runtime", "cri", "config", "handlers")


def checkpoint(snapshot: Snapshot, text: str) -> Snapshot:
    """A copy whose CPU manager checkpoint has this text."""
    return put(snapshot, text, "kubelet", "files", CHECKPOINT, "text")


def missing(snapshot: Snapshot, section: str, path: str) -> Snapshot:
    """A copy without one of the captured files."""
    return put(snapshot, {"kind": "missing"}, section, "files", path)


def stopped_kubelet(snapshot: Snapshot) -> Snapshot:
    """A copy in which kubelet.service was stopped."""
    variant = put(snapshot, [], "kubelet", "processes")
    variant = put(variant, None, "kubelet", "healthz")
    return put(variant, "inactive", "services", "units", "kubelet.service", "ActiveState")


def without_pods(snapshot: Snapshot) -> Snapshot:
    """A copy of a drained node."""
    variant = put(snapshot, {}, "containers")
    variant = put(variant, [], "runtime", "cri", "sandboxes")
    return put(variant, [], "runtime", "cri", "containers")


def old_containerd(snapshot: Snapshot) -> Snapshot:
    """A copy with Debian 12's containerd, which has no NRI."""
    variant = put(snapshot, "1.6.20~ds1", "runtime", "cri", "version")
    return put(variant, {}, "runtime", "nri_sockets")


def facts_of(snapshot: Snapshot) -> NodeFacts:
    return interpret(snapshot)


def profile_of(**options: Any) -> Profile:
    """Return a profile from module options; without options it changes nothing."""
    return parse_profile(options)


def desired(**options: Any) -> Profile:
    """The aligned fixture's profile with some options replaced."""
    return parse_profile({**DESIRED, **options})
