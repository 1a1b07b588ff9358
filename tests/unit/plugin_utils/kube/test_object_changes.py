# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests, diffs and permissions of changes, and applying changes one after the other."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.api_errors import ApiError
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.object_changes import (
    ObjectChange,
    Operation,
    apply_change,
    apply_changes,
    creation_of,
    deletion_of,
    merge_patch,
    render,
    required_permissions,
    text_change,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.objects import ConfigMap, Ref
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.wait import WaitOptions
from ansible_collections.volcano.colocation.tests.support.clusters.memory_api_server import Server

MAP = Ref("v1", "ConfigMap", "c", "a")
CONFIG_MAP: dict[str, Any] = {**MAP.header(resourceVersion="1"), "data": {"x": "old", "foreign": "y"}}
CHANGES = (
    creation_of({**Ref("v1", "Namespace", "a").header(), "spec": {}}),
    text_change(ConfigMap("c", CONFIG_MAP["data"], "1", "a"), "x", "new"),
    deletion_of(MAP, {"data": {}}),
)


def server(**different: Any) -> Server:
    api_server = Server(**different)
    api_server.add(CONFIG_MAP)
    return api_server


def test_changes_are_applied_in_their_order() -> None:
    api_server = server()
    apply_changes(api_server.client(), CHANGES)
    assert (
        api_server.writes
        == [str(change) for change in CHANGES]
        == [
            "create Namespace a",
            "patch ConfigMap a/c",
            "delete ConfigMap a/c",
        ]
    )


def test_the_error_says_how_many_were_applied_before() -> None:
    api_server = server(refuses={"patch configmaps c in a": 403})
    with pytest.raises(ApiError, match=r": no\. 1 of 3 steps were done before it, and another run continues\. Grant"):
        apply_changes(api_server.client(), CHANGES)
    with pytest.raises(ApiError, match=r": no\. Nothing was changed\. "):
        apply_changes(server(refuses=api_server.refuses).client(dry_run=True), CHANGES)
    with pytest.raises(ApiError, match=r": no\. Nothing was changed\. "):
        apply_changes(server(refuses=api_server.refuses).client(), CHANGES[1:])


def test_a_dry_run_skips_changes_that_it_cannot_check() -> None:
    api_server = server(refuses={"create namespaces b": 500})
    unchecked = creation_of({**Ref("v1", "Namespace", "b").header()}, dry=False)
    apply_changes(api_server.client(dry_run=True), [unchecked, *CHANGES])
    with pytest.raises(ApiError):
        apply_changes(api_server.client(), [unchecked])


def test_a_patch_is_of_the_version_that_was_read() -> None:
    change = merge_patch(CONFIG_MAP, {"data": {"x": "new", "z": None}}, {"data": {"x": "new"}})
    assert change.body == {**MAP.header(resourceVersion="1"), "data": {"x": "new", "z": None}}
    assert (change.before, change.after) == ({"data": {"x": "old"}}, {"data": {"x": "new"}})
    api_server = server()
    assert apply_change(api_server.client(), change)["data"] == {"x": "new", "foreign": "y"}
    with pytest.raises(ApiError, match="another client changed it"):
        apply_change(api_server.client(), change)


def test_a_deletion_may_be_waited_for() -> None:
    messages: list[str] = []
    api_server = server()
    apply_changes(api_server.client(), [deletion_of(MAP, None)], lambda change: WaitOptions(1, show=messages.append))
    assert api_server.get("ConfigMap", "c", "a") is None


def test_a_diff_has_texts_unchanged_and_other_values_as_yaml() -> None:
    created, text, deleted = (change.diff() for change in CHANGES)
    assert (created["before"], created["after"]) == ("", "spec: {}\n")
    assert text == {
        "before_header": "ConfigMap a/c, key x",
        "after_header": "ConfigMap a/c, key x",
        "before": "old",
        "after": "new",
    }
    assert (deleted["before"], deleted["after"]) == ("data: {}\n", "")
    same = {"b": 1}
    assert render({"z": same, "a": (same, "é")}) == "a:\n- b: 1\n- é\nz:\n  b: 1\n", "no aliases of shared values"


def test_each_permission_is_named_once() -> None:
    status = ObjectChange(Ref("v1", "Node", "n"), Operation.STATUS, {}, None, None)
    update = ObjectChange(Ref("apps/v1", "DaemonSet", "d", "a"), Operation.UPDATE, {}, None, None)
    assert [str(permission) for permission in required_permissions((*CHANGES, CHANGES[1], status, update))] == [
        "create namespaces",
        "patch configmaps c in a",
        "delete configmaps c in a",
        "patch nodes/status n",
        "patch daemonsets.apps d in a",
    ]


def workload(version: str, image: str = "a", ready: int = 0) -> dict[str, Any]:
    header = Ref("apps/v1", "DaemonSet", "d", "a").header(resourceVersion=version)
    return {**header, "spec": {"image": image}, "status": {"ready": ready}}


def test_a_patch_is_sent_again_where_only_the_status_differs() -> None:
    change = merge_patch(workload("7"), {"spec": {"image": "b"}}, {})
    api_server = Server()
    api_server.add(workload("", ready=3))
    assert apply_change(api_server.client(), change)["spec"] == {"image": "b"}
    api_server.add(workload("", image="foreign"))
    with pytest.raises(ApiError, match="another client changed it"):
        apply_change(api_server.client(), change)
    assert (api_server.get("DaemonSet", "d", "a") or {})["spec"] == {"image": "foreign"}


def test_a_patch_is_not_repeated_forever() -> None:
    api_server = Server(refuses={"patch daemonsets.apps d in a": 409})
    api_server.add(workload(""))
    with pytest.raises(ApiError, match="another client changed it"):
        apply_change(api_server.client(), merge_patch(workload("7"), {"spec": {"image": "b"}}, {}))
    assert api_server.writes == []


def test_what_a_change_needs_is_waited_for() -> None:
    awaited: list[str] = []
    apply_changes(server().client(), CHANGES, before_change=lambda change: awaited.append(str(change)))
    assert awaited == ["create Namespace a", "patch ConfigMap a/c", "delete ConfigMap a/c", "None"]
    apply_changes(server().client(dry_run=True), CHANGES, before_change=lambda change: awaited.append(str(change)))
    assert len(awaited) == 4

    def fail(change: ObjectChange | None) -> None:
        if change is None:
            raise ApiError("get x", 500, "no", server().client().context)

    with pytest.raises(ApiError, match=r"3 of 3 steps were done before it"):
        apply_changes(server().client(), CHANGES, before_change=fail)
