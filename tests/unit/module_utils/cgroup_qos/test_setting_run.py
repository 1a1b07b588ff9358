# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The UID of a pod by its name, from the runtime's sandboxes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup_qos.setting_run import pod_uid_of
from ansible_collections.volcano.colocation.plugins.module_utils.cri.grpc import CriUnavailable
from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.tests.support.node.cri_server import Runtime, Sandbox, serving

SOCKET = "run/containerd/containerd.sock"


def test_the_running_sandbox_counts(memory: Path) -> None:
    (memory / SOCKET).parent.mkdir(parents=True)
    sandboxes = [
        Sandbox("old", "web", "shop", ready=False),
        Sandbox("new", "web", "shop"),
        Sandbox("other", "web", "test"),
        Sandbox("stopped", "job", "shop", ready=False),
    ]
    with serving(memory / SOCKET, Runtime(sandboxes=sandboxes).converse):
        uids = [pod_uid_of(Host(str(memory)), pod) for pod in ("shop/web", "test/web", "shop/job", "shop/nothing")]
    assert uids == ["uid-new", "uid-other", None, None]


def test_a_runtime_that_does_not_reply_is_an_error(memory: Path) -> None:
    with pytest.raises(CriUnavailable):
        pod_uid_of(Host(str(memory)), "shop/web")
