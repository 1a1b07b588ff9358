# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tests' node: cgroup v2, containerd 1.7, both sides on the systemd driver, pods running.

Tests in ``kinds`` run beside those of this node, on nodes of other kinds, one at a time: two are what two CPUs carry.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from ansible_collections.volcano.colocation.tests.system.node import Node, throwaway

NAME = "system"
SPEC = ("--suite", "trixie", "--cgroup", "v2", "--driver-kubelet", "systemd", "--driver-runtime", "systemd")


class OneProcessAFolder(LoadScopeScheduling):
    """Tests of a folder run in order, in one process; those in ``kinds`` have nodes of other kinds, one at a time."""

    def _split_scope(self, nodeid: str) -> str:
        return nodeid.partition("::")[0].rpartition("/")[0]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    return OneProcessAFolder(config, log)


@pytest.fixture(scope="session", name="node")
def _node(request: pytest.FixtureRequest) -> Iterator[Node]:
    yield from throwaway(request, NAME, *SPEC)
