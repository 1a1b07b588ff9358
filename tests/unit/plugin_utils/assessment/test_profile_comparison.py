# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a node is compared with: values that were set, together with the role's defaults, or nothing."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.assessment.profile_comparison import (
    assess,
    parse_compared_profile,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.node_profile import Profile
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import NAMES, captured

DEFAULTS: dict[str, Any] = {
    "cgroup_driver": "systemd",
    "cpu_manager_policy": "static",
    "nri": {"enabled": True},
    "profile_defaults": ["cgroup_driver", "cpu_manager_policy", "nri.enabled"],
}
"""What the role node passes when no variable of the profile is set."""
CGROUPFS = "trixie-v2-cgroupfs-aligned"


def codes(document: dict[str, Any]) -> set[str]:
    return {finding["code"] for finding in document["findings"]}


def test_defaults_of_the_role_are_no_profile_by_themselves() -> None:
    profile, compared = parse_compared_profile(DEFAULTS)
    assert profile == Profile()
    assert (compared.specified, compared.values) == (False, ())


def test_one_value_that_is_set_brings_the_defaults_with_it() -> None:
    profile, compared = parse_compared_profile({**DEFAULTS, "system_reserved": {"cpu": "500m"}})
    assert profile.cpu_manager_policy == "static"
    assert {value.option: value.source.value for value in compared.values} == {
        "cgroup_driver": "role-default",
        "cpu_manager_policy": "role-default",
        "system_reserved.cpu": "set",
        "nri.enabled": "role-default",
    }


def test_defaults_are_compared_on_request() -> None:
    profile, compared = parse_compared_profile({**DEFAULTS, "compare_defaults": True})
    assert profile.cgroup_driver is not None
    assert {value.source.value for value in compared.values} == {"role-default"}
    assert compared.specified


def test_options_of_locations_are_not_a_profile() -> None:
    profile, compared = parse_compared_profile(
        {**DEFAULTS, "kubelet_strategy": "drop-in", "kubeadm_patches": "/etc/patches"}
    )
    assert not compared.specified
    assert (profile.kubelet_strategy, profile.kubeadm_patches) == ("drop-in", "/etc/patches")


def test_a_healthy_cgroupfs_node_is_aligned_without_a_profile() -> None:
    document = assess(captured(CGROUPFS), DEFAULTS)
    assert document["verdict"] == "aligned"
    assert codes(document).isdisjoint({"differs-from-profile", "cannot-be-aligned"})
    assert document["profile"] == {"specified": False, "options": []}


@pytest.mark.parametrize("name", NAMES)
def test_without_a_profile_a_node_is_judged_as_without_options(name: str) -> None:
    assert assess(captured(name), DEFAULTS) == assess(captured(name), {})


def test_with_one_it_is_held_against_that_and_the_defaults() -> None:
    document = assess(captured(CGROUPFS), {**DEFAULTS, "cgroup_driver": "systemd", "profile_defaults": ["nri.enabled"]})
    assert document["verdict"] == "misaligned"
    assert {"option": "cgroup_driver", "value": "systemd", "source": "set"} in document["profile"]["options"]


def test_a_refusal_without_a_profile_is_information() -> None:
    snapshot = captured(CGROUPFS)
    path = "/var/lib/kubelet/config.yaml"
    snapshot["kubelet"]["files"][path]["kind"] = "symlink"
    document = assess(snapshot, {})
    (refusal,) = [finding for finding in document["findings"] if finding["code"] == "cannot-be-aligned"]
    assert (refusal["severity"], refusal["effect"], refusal["evidence"]) == (
        "info",
        "none",
        ["code of the refusal: config-is-symlink"],
    )
    assert refusal["summary"].startswith(f"{path}: is a symbolic link")
    assert document["verdict"] == "aligned"
    assert assess(snapshot, {"cgroup_driver": "cgroupfs"})["verdict"] == "misaligned"
