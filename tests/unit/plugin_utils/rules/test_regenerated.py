# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""k3s and RKE2 regenerate containerd's file: settings without a lasting file are refused, with where to write them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.change_set import Refusal
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.draft import PlanDraft
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.k3s_and_rke2 import refuse_regenerated_file
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    captured,
    facts_of,
    profile_of,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_runtime import VARIANTS

DIRECTORY = "/var/lib/rancher/rke2/agent/etc/containerd"
TEMPLATE = f"{DIRECTORY}/config.toml.tmpl"
NRI_OFF: dict[str, Any] = {"nri": {"enabled": False}}
LINES = "[plugins.'io.containerd.nri.v1.nri'] / disable = true"


def refused(templates: tuple[str, ...] = (), imports: tuple[str, ...] = (), **options: Any) -> list[Refusal]:
    facts = facts_of(VARIANTS["config-regenerated"][1](captured(ALIGNED)))
    facts = replace(
        facts,
        layout=replace(facts.layout, templates=templates),
        runtime=replace(facts.runtime, imports=imports),
    )
    return list(refuse_regenerated_file(PlanDraft(facts, profile_of(**options))))


def test_an_aligned_setting_is_not_a_reason() -> None:
    assert refused(cgroup_driver="systemd", nri={"enabled": True}) == []


@pytest.mark.parametrize(
    ("templates", "imports", "place"),
    [
        ((), (), f'to {TEMPLATE}: {{{{ template "base" . }}}} / {LINES}.'),
        ((TEMPLATE,), (), f"to the end of {TEMPLATE}: {LINES}."),
        (("/another.tmpl",), (), f'to {TEMPLATE}: {{{{ template "base" . }}}} / '),
        # containerd 1.7 would replace the whole table with that of a drop-in.
        ((TEMPLATE,), (f"{DIRECTORY}/config.toml.d/*.toml",), f"to the end of {TEMPLATE}: {LINES}."),
        ((TEMPLATE,), ("/etc/containerd/conf.d/*.toml",), f"to the end of {TEMPLATE}: "),
    ],
)
def test_the_file_for_lines_of_nri(templates: tuple[str, ...], imports: tuple[str, ...], place: str) -> None:
    (refusal,) = refused(templates, imports, **NRI_OFF)
    assert (refusal.code, refusal.file) == ("config-regenerated", f"{DIRECTORY}/config.toml")
    assert "rke2 regenerates this file at each start; planned changes: containerd" in refusal.message
    assert place in refusal.remedy
    assert "restart rke2" in refusal.remedy


def test_the_driver_is_rke2s_own_decision() -> None:
    (refusal,) = refused(cgroup_driver="cgroupfs")
    assert "SystemdCgroup: True -> False" in refusal.message
    assert "rke2 gives containerd and kubelet the same driver: systemd if systemd started rke2" in refusal.remedy
    assert ".tmpl" not in refusal.remedy
    (templated,) = refused((TEMPLATE,), cgroup_driver="cgroupfs")
    assert f"set SystemdCgroup = {{{{ .SystemdCgroup }}}} for every handler in {TEMPLATE}" in templated.remedy


def test_both_are_reported_together() -> None:
    assert len(refused(cgroup_driver="cgroupfs", **NRI_OFF)) == 2
