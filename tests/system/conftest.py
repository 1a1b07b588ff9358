# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tests' node: cgroup v2, containerd 1.7, both sides on the systemd driver, pods running.

Tests in ``kinds``, a separate stage, use other kinds of nodes, one at a time.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ansible_collections.volcano.colocation.tests.system.node import SPEC, Node, throwaway


@pytest.fixture(scope="session", name="node")
def _node(request: pytest.FixtureRequest) -> Iterator[Node]:
    yield from throwaway(request, "system", *SPEC)
