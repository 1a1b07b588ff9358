# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tests' node: cgroup v2, containerd 1.7, both sides on the systemd driver, pods running.

Tests with a node of their own kind run beside those of this one, one such node at a time: two are what two CPUs carry.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ansible_collections.volcano.colocation.tests.system.node import Node, lab

NAME = "system"
SPEC = ("--suite", "trixie", "--cgroup", "v2", "--driver-kubelet", "systemd", "--driver-runtime", "systemd")


# Before xdist reads the mark.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item.add_marker(pytest.mark.xdist_group("node" if "node" in getattr(item, "fixturenames", ()) else "others"))


@pytest.fixture(scope="session", name="node")
def _node(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    lab("down", NAME)
    lab("up", NAME, *SPEC)
    yield Node(NAME, lab("inventory", NAME).strip(), tmp_path_factory.mktemp("runs"))
    # After a failure it stays up, for whoever wants to see its journal; the next run replaces it.
    if not request.session.testsfailed:
        lab("down", NAME)
