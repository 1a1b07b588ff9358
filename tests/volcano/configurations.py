# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Configurations of the scheduler from which tests start; the role then adds what it always sets."""

from __future__ import annotations

from ansible_collections.volcano.colocation.tests.support.clusters.scheduler_confs import UPSTREAM

CAPACITY = """\
actions: "allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: predicates
  - name: capacity
  - name: nodeorder
"""
"""Queues with `deserved` and `guarantee`."""

HIERARCHY = CAPACITY.replace("- name: capacity", "- name: capacity\n    enableHierarchy: true")

BY_PLUGIN = {"proportion": UPSTREAM, "capacity": CAPACITY}
