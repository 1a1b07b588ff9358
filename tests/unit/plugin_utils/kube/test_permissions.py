# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which permissions are reviewed, and how missing ones are named."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.api_errors import ClusterError
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.objects import Ref
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.permissions import (
    RequiredPermission,
    require_permissions,
)
from ansible_collections.volcano.colocation.tests.support.clusters.memory_api_server import Server


class ByName(Server):
    """The user has every permission on objects with the name a, and no other."""

    def review(self, attributes: object) -> bool:
        assert isinstance(attributes, dict)
        self.reviews.append(attributes)
        return bool(attributes["name"] == "a")


def patch(name: str) -> RequiredPermission:
    return RequiredPermission.of("patch", Ref("v1", "Node", name))


def test_a_permission_that_is_granted_by_name_is_enough() -> None:
    server = ByName()
    require_permissions(server.client(), [patch("a")])
    assert [review["name"] for review in server.reviews] == ["", "a"]
    with pytest.raises(ClusterError, match=r"may not patch nodes b\. Nothing was changed\. Grant it; docs/page\.md"):
        require_permissions(server.client(), [patch("a"), patch("b")])


def test_all_missing_permissions_are_named_together() -> None:
    pods = RequiredPermission("list", "", "pods", namespace="x")
    with pytest.raises(ClusterError, match=r"may not patch nodes b; list pods in x\. "):
        require_permissions(ByName().client(), [patch("b"), pods])
    with pytest.raises(ClusterError, match=r"may not patch nodes b\. "):
        require_permissions(ByName().client(), [patch("b"), patch("b")])
    with pytest.raises(ClusterError, match=r"may not patch nodes; list pods in x\. "):
        require_permissions(ByName().client(), [patch("b"), patch("c"), pods])


def test_what_is_created_has_no_name_that_a_rule_could_grant() -> None:
    ref = Ref("apps/v1", "DaemonSet", "d", "x")
    assert str(RequiredPermission.of("create", ref)) == "create daemonsets.apps in x"
    assert str(RequiredPermission.of("delete", ref)) == "delete daemonsets.apps d in x"
    assert str(RequiredPermission.of("patch", Ref("v1", "Node", "n"), "status")) == "patch nodes/status n"
