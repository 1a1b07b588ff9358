# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the node's side takes along is what the controller's side reads."""

from __future__ import annotations

from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.boot_evidence import CGROUP_PARAMETERS
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.configz_fields import FIELDS
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.machine import PARAMETERS
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.kubelet_fields import OBSERVED


def test_the_fields_told_are_the_fields_kept() -> None:
    assert sorted(FIELDS) == sorted(field.key for field in OBSERVED)


def test_every_watched_parameter_is_one_that_may_be_told() -> None:
    assert CGROUP_PARAMETERS <= PARAMETERS
