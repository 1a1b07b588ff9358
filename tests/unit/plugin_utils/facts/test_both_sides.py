# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The node records the fields and parameters that the controller reads."""

from __future__ import annotations

from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.boot_evidence import CGROUP_PARAMETERS
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.kubelet_endpoints import FIELDS
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.machine import PARAMETERS
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.kubelet_fields import OBSERVED


def test_the_node_records_exactly_the_observed_fields() -> None:
    assert sorted(FIELDS) == sorted(field.key for field in OBSERVED)


def test_every_watched_parameter_may_be_reported() -> None:
    assert CGROUP_PARAMETERS <= PARAMETERS
