# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes of containerd for a profile: the driver of every handler, and NRI."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.action.containerd_config import ActionModule
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.change_set import Change, Impact, Unsupported
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.containerd_changes import (
    containerd_changes,
    containerd_nri_unsupported,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.draft import PlanDraft
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    DIFFERING,
    RUNTIME_FILE,
    Snapshot,
    captured,
    desired,
    facts_of,
    missing,
    old_containerd,
    profile_of,
    put,
    running_handlers,
    runtime_edit,
    runtime_text,
)

RESTART = frozenset({Impact.RESTART_RUNTIME})
DISRUPTIVE = RESTART | {Impact.DRAIN}
RUNTIMES = ("plugins", "io.containerd.grpc.v1.cri", "containerd", "runtimes")
NRI = ("plugins", "io.containerd.nri.v1.nri")
WITH_NVIDIA = "".join(
    f'[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.{name}.options]\nSystemdCgroup = {value}\n'
    for name, value in (("runc", "true"), ("nvidia", "false"))
)


def changes(snapshot: Snapshot, **options: Any) -> tuple[Change, ...]:
    return containerd_changes(facts_of(snapshot), profile_of(**options))


def edits(result: tuple[Change, ...]) -> dict[tuple[str, ...], Any]:
    return {change.keys: change.after for change in result if change.path == RUNTIME_FILE}


def test_the_aligned_node_needs_nothing() -> None:
    assert containerd_changes(facts_of(captured(ALIGNED)), desired()) == ()


def test_an_empty_profile_changes_nothing() -> None:
    assert changes(captured(DIFFERING)) == ()


def test_an_undeclared_runc_is_declared_with_its_type() -> None:
    result = changes(captured(DIFFERING), cgroup_driver="systemd")
    assert [(change.keys, change.after, change.needs) for change in result] == [
        ((*RUNTIMES, "runc", "runtime_type"), "io.containerd.runc.v2", RESTART),
        ((*RUNTIMES, "runc", "options", "SystemdCgroup"), True, DISRUPTIVE),
    ]


def test_a_missing_file_is_begun_with_the_same_settings() -> None:
    snapshot = missing(captured(DIFFERING), "runtime", RUNTIME_FILE)
    assert edits(changes(snapshot, cgroup_driver="systemd")) == {
        ("version",): 2,
        **edits(changes(captured(DIFFERING), cgroup_driver="systemd")),
    }


def test_a_declared_handler_keeps_its_type() -> None:
    result = changes(captured(ALIGNED), cgroup_driver="cgroupfs")
    assert edits(result) == {(*RUNTIMES, "runc", "options", "SystemdCgroup"): False}
    assert str(result[0]) == "containerd runc.options.SystemdCgroup: True -> False"


def test_every_handler_that_differs_is_changed_and_no_other() -> None:
    snapshot = running_handlers(runtime_text(captured(ALIGNED), f"version = 2\n{WITH_NVIDIA}"), runc=True, nvidia=False)
    result = changes(snapshot, cgroup_driver="systemd")
    assert edits(result) == {(*RUNTIMES, "nvidia", "options", "SystemdCgroup"): True}


def test_a_running_value_that_differs_needs_only_a_restart() -> None:
    (change,) = changes(running_handlers(captured(ALIGNED), runc=False), cgroup_driver="systemd")
    assert (change.path, change.needs) == (None, DISRUPTIVE)
    assert str(change) == "containerd: handler runc runs with cgroupfs, its file says systemd"


def test_an_unknown_running_value_is_not_a_change() -> None:
    assert changes(put(captured(ALIGNED), None, "runtime", "cri", "config"), cgroup_driver="systemd") == ()


def test_nri_is_switched_on() -> None:
    result = changes(captured(DIFFERING), nri={"enabled": True})
    assert [(change.keys, change.before, change.after, change.needs) for change in result] == [
        ((*NRI, "disable"), None, False, RESTART)
    ]


def test_nri_is_switched_off() -> None:
    assert edits(changes(captured(ALIGNED), nri={"enabled": False})) == {(*NRI, "disable"): True}


def test_nri_that_is_off_by_default_is_left_off() -> None:
    assert changes(captured(DIFFERING), nri={"enabled": False}) == ()


def test_nri_is_off_unless_its_key_is_false() -> None:
    snapshot = runtime_edit(captured(ALIGNED), "disable = false", 'disable = "false"')
    snapshot = put(snapshot, {}, "runtime", "nri_sockets")
    assert edits(changes(snapshot, nri={"enabled": True})) == {(*NRI, "disable"): False}


def test_settings_of_nri_are_edited_and_need_a_restart() -> None:
    options = {"enabled": True, "socket_path": "/run/x.sock", "plugin_request_timeout": "3s"}
    result = changes(captured(ALIGNED), nri=options)
    assert edits(result) == {(*NRI, "socket_path"): "/run/x.sock", (*NRI, "plugin_request_timeout"): "3s"}
    assert {change.needs for change in result} == {RESTART}


def test_nri_left_as_found_leaves_its_settings_too() -> None:
    assert changes(captured(DIFFERING), nri={"socket_path": "/run/x.sock"}) == ()


def test_nri_on_in_the_file_and_off_in_the_process_lacks_a_restart() -> None:
    (change,) = changes(put(captured(ALIGNED), {}, "runtime", "nri_sockets"), nri={"enabled": True})
    assert (change.path, change.needs) == (None, RESTART)
    assert "NRI is on in the file and off in the running containerd" in str(change)


def test_nri_off_in_the_file_and_on_in_the_process_lacks_a_restart() -> None:
    snapshot = runtime_edit(captured(ALIGNED), "disable = false", "disable = true")
    (change,) = changes(snapshot, nri={"enabled": False})
    assert "NRI is off in the file and on in the running containerd" in str(change)


def test_a_stopped_runtime_needs_no_restart() -> None:
    snapshot = put(put(captured(ALIGNED), {}, "runtime", "nri_sockets"), [], "runtime", "processes")
    assert changes(snapshot, nri={"enabled": True}) == ()


@pytest.mark.parametrize(("enabled", "disable"), [(True, False), (False, True)])
def test_without_a_version_no_default_is_known_and_the_key_is_written(enabled: bool, disable: bool) -> None:
    snapshot = put(captured(DIFFERING), "unreleased", "runtime", "cri", "version")
    assert edits(changes(snapshot, nri={"enabled": enabled})) == {(*NRI, "disable"): disable}
    written = runtime_text(
        snapshot, f'version = 2\n[plugins."io.containerd.nri.v1.nri"]\ndisable = {str(disable).lower()}\n'
    )
    assert edits(changes(written, nri={"enabled": enabled})) == {}


def test_settings_of_nri_in_a_file_newer_than_containerd_lack_a_restart() -> None:
    newer = put(captured(ALIGNED), 4e9, "runtime", "files", RUNTIME_FILE, "ctime")
    newer = runtime_edit(newer, "disable = false\n", 'disable = false\nsocket_path = "/var/run/nri/nri.sock"\n')
    options = {"enabled": True, "socket_path": "/var/run/nri/nri.sock"}
    (change,) = changes(newer, nri=options)
    assert (change.path, change.needs) == (None, RESTART)
    assert f"{RUNTIME_FILE} changed after containerd started" in str(change)
    assert changes(newer, nri={"enabled": True}) == ()


def test_a_containerd_without_nri_is_left_without() -> None:
    snapshot = old_containerd(captured(DIFFERING))
    assert changes(snapshot, nri={"enabled": True, "socket_path": "/run/x.sock"}) == ()


def test_nri_is_skipped_with_the_reason() -> None:
    runtime = facts_of(old_containerd(captured(DIFFERING))).runtime
    assert containerd_nri_unsupported(runtime, profile_of(nri={"enabled": True})) == Unsupported(
        "nri", "containerd 1.6.20~ds1 has no NRI; it was added in 1.7"
    )
    assert containerd_nri_unsupported(runtime, profile_of(nri={"enabled": False})) is None
    assert containerd_nri_unsupported(runtime, profile_of()) is None


def test_skipped_settings_are_in_the_result_of_containerd_config() -> None:
    facts = facts_of(old_containerd(captured(DIFFERING)))
    asked = {"enabled": True, "unsupported": "skip"}
    assert ActionModule.remarks(PlanDraft(facts, profile_of(nri=asked)))["unsupported"] == [
        {"setting": "nri", "reason": "containerd 1.6.20~ds1 has no NRI; it was added in 1.7"}
    ]
    assert ActionModule.remarks(PlanDraft(facts, profile_of(nri={"enabled": True})))["unsupported"] == []
