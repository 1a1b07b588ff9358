# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Configurations as clusters have them."""

from __future__ import annotations

UPSTREAM = """\
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
    enablePreemptable: false
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
"""
"""volcano installer/volcano-development.yaml, and the same in its chart."""

TEXT = "# Ada looks after this.\n" + UPSTREAM.replace("- name: gang\n", "- name: gang   # all of a job or nothing\n")
"""Upstream's, with comments that a user added."""

WRITTEN = """\
# Ada looks after this.
actions: "enqueue, allocate, backfill, preempt"
tiers:
- plugins:
  - name: priority
  - name: gang   # all of a job or nothing
    enablePreemptable: false
    enableJobStarving: false
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
    enablePreemptable: false
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
"""


def in_one_tier(text: str) -> str:
    """The configuration with the plugin for queues before gang, in its tier."""
    return text.replace("  - name: proportion\n", "").replace(
        "  - name: gang ", "  - name: proportion\n  - name: gang "
    )
