# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One lab node for all system tests: cgroup v2, containerd 1.7, both sides on the systemd driver, pods running."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ansible_collections.volcano.colocation.tests.system.node import Node, lab

NAME = "system"
SPEC = ("--suite", "trixie", "--cgroup", "v2", "--driver-kubelet", "systemd", "--driver-runtime", "systemd")


@pytest.fixture(scope="session", name="node")
def _node(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    lab("down", NAME)
    lab("up", NAME, *SPEC)
    yield Node(NAME, lab("inventory", NAME).strip(), tmp_path_factory.mktemp("runs"))
    # After a failure it stays up, for whoever wants to see its journal; the next run replaces it.
    if not request.session.testsfailed:
        lab("down", NAME)
