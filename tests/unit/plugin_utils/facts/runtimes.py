# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts of a snapshot's runtime for tests of containerd's files."""

from __future__ import annotations

from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.node_state import DriverFacts
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.runtime_state import RuntimeFacts
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import Snapshot, facts_of


def runtime(snapshot: Snapshot) -> RuntimeFacts:
    return facts_of(snapshot).runtime


def driver(snapshot: Snapshot) -> DriverFacts:
    return facts_of(snapshot).driver


def codes(snapshot: Snapshot) -> list[str]:
    return [defect.code for defect in runtime(snapshot).defects]
