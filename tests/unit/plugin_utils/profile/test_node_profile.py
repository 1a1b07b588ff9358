# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values that no node can have are refused before any node is read, with the name of the variable."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.kubelet_names import Driver
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.node_profile import (
    Profile,
    parse_profile,
    with_fields,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.validators import ProfileError, named_cgroups


def test_no_options_are_an_empty_profile() -> None:
    assert parse_profile({}) == Profile()
    assert parse_profile({"system_reserved": {}, "reserved_system_cpus": "", "nri": None}) == Profile()
    empty = {
        option: "" for option in ("cgroup_root", "memory_manager_policy", "reserved_memory", "kube_reserved_cgroup")
    }
    assert parse_profile({**empty, "enforce_node_allocatable": [], "feature_gates": None}) == Profile()


def test_a_field_with_an_empty_value_is_not_changed() -> None:
    profile = parse_profile({"read_only_port": 0, "pod_pids_limit": 9, "system_reserved": {"cpu": "1"}})
    assert with_fields(profile, {"pod_pids_limit": None, "system_reserved": {}}).kubelet == {"read_only_port": 0}
    assert profile.kubelet.keys() == {"read_only_port", "pod_pids_limit", "system_reserved"}


def test_cgroups_of_reservations_are_those_that_are_named() -> None:
    assert parse_profile({}).reserved_cgroups == ()
    assert parse_profile({"kube_reserved_cgroup": "/k.slice"}).reserved_cgroups == ("/k.slice",)


def test_the_least_and_the_most_of_each_range_are_taken() -> None:
    profile = parse_profile({"memory_throttling_factor": 1.0, "pod_pids_limit": -1, "read_only_port": 65535})
    assert profile.kubelet == {"memory_throttling_factor": 1.0, "pod_pids_limit": -1, "read_only_port": 65535}
    profile = parse_profile({"memory_throttling_factor": 0.01, "pod_pids_limit": (1 << 63) - 1})
    assert profile.kubelet == {"memory_throttling_factor": 0.01, "pod_pids_limit": (1 << 63) - 1}


def test_booleans_become_the_strings_of_kubelets_maps() -> None:
    profile = parse_profile(
        {
            "cpu_manager_policy_options": {"a": True, "b": "False", "c": 8},
            "feature_gates": {"A": "true", "B": False, "C": "0"},
        }
    )
    assert profile.kubelet["cpu_manager_policy_options"] == {"a": "true", "b": "False", "c": "8"}
    assert profile.feature_gates == {"A": True, "B": False, "C": False}


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({}, ()),
        ({"cgroup_root": "/", "system_reserved_cgroup": ""}, ()),
        ({"cgroup_root": "/pods"}, ("/pods", "pods")),
        ({"cgroup_root": "/a/b-c", "kube_reserved_cgroup": "/x.slice"}, ("/x.slice", "/a/b-c", "a-b_c")),
    ],
)
def test_the_cgroups_that_a_node_looks_for(options: dict[str, Any], names: tuple[str, ...]) -> None:
    assert named_cgroups(options) == names


def test_every_option_of_a_full_profile_is_accepted() -> None:
    profile = parse_profile(
        {
            "cgroup_driver": "systemd",
            "cpu_manager_policy": "static",
            "system_reserved": {"cpu": 1, "memory": "1Gi"},
            "reserved_system_cpus": "0-1",
            "read_only_port": 0,
            "nri": {"enabled": True, "unsupported": "skip", "socket_path": "/run/nri.sock"},
        }
    )
    assert profile.cgroup_driver is Driver.SYSTEMD
    assert profile.kubelet == {
        "cgroup_driver": Driver.SYSTEMD,
        "cpu_manager_policy": "static",
        "system_reserved": {"cpu": "1", "memory": "1Gi"},
        "reserved_system_cpus": "0-1",
        "read_only_port": 0,
    }
    assert profile.nri.settings == {"socket_path": "/run/nri.sock"}
    assert profile.nri.unsupported == "skip"


@pytest.mark.parametrize(
    ("options", "variable", "reason"),
    [
        ({"system_reserved": {"cpus": "1"}}, "system_reserved", "cannot be reserved"),
        ({"kube_reserved": {"cpu": "half"}}, "kube_reserved.cpu", "not a Kubernetes quantity"),
        ({"kube_reserved": {"cpu": "-1"}}, "kube_reserved.cpu", "negative"),
        ({"reserved_system_cpus": "0-"}, "reserved_system_cpus", "not a CPU list"),
        ({"read_only_port": 70000}, "read_only_port", "not a port"),
        ({"cgroup_root": "pods"}, "cgroup_root", "not an absolute path"),
        ({"cgroup_root": "/a//b"}, "cgroup_root", "not the path of a cgroup"),
        ({"system_reserved_cgroup": "/a/../b"}, "system_reserved_cgroup", "not the path of a cgroup"),
        ({"enforce_node_allocatable": ["pods", "pods"]}, "enforce_node_allocatable", "has pods twice"),
        ({"cpu_manager_policy_options": {"x": []}}, "cpu_manager_policy_options.x", "not a plain value"),
        ({"topology_manager_policy_options": {"x": None}}, "topology_manager_policy_options.x", "not a plain value"),
        ({"memory_throttling_factor": 0.0}, "memory_throttling_factor", "at most 1"),
        ({"memory_throttling_factor": 1.01}, "memory_throttling_factor", "at most 1"),
        ({"memory_throttling_factor": float("nan")}, "memory_throttling_factor", "at most 1"),
        ({"pod_pids_limit": -2}, "pod_pids_limit", "-1 sets no limit"),
        ({"pod_pids_limit": 1 << 63}, "pod_pids_limit", "not a number of processes"),
        ({"read_only_port": -1}, "read_only_port", "not a port"),
        ({"feature_gates": {"MemoryQoS": "on"}}, "feature_gates.MemoryQoS", "neither true nor false"),
        ({"feature_gates": {"Memory=QoS": True}}, "feature_gates.Memory=QoS", "not that of a gate"),
        ({"reserved_memory": "most"}, "reserved_memory", "neither auto nor a list"),
        ({"reserved_memory": {"0": "1Gi"}}, "reserved_memory", "neither auto nor a list"),
        ({"reserved_memory": ["0:memory=1Gi"]}, "reserved_memory[0]", "not an entry"),
        ({"reserved_memory": [{"numaNode": 0}]}, "reserved_memory[0]", "not an entry"),
        ({"reserved_memory": [{"numaNode": -1, "limits": {"memory": 1}}]}, "reserved_memory[0]", "number of a NUMA"),
        ({"reserved_memory": [{"numaNode": 0, "limits": {}}]}, "reserved_memory[0]", "at least one limit"),
        ({"reserved_memory": [{"numaNode": 0, "limits": {"cpu": "1"}}]}, "reserved_memory[0]", "neither memory"),
        (
            {"reserved_memory": [{"numaNode": 0, "limits": {"memory": "0"}}]},
            "reserved_memory[0].limits.memory",
            "not greater than 0",
        ),
        (
            {"reserved_memory": [{"numaNode": 0, "limits": {"memory": "x"}}]},
            "reserved_memory[0].limits.memory",
            "not a Kubernetes quantity",
        ),
        (
            {"reserved_memory": [{"numaNode": 0, "limits": {"memory": "1"}}] * 2},
            "reserved_memory",
            "NUMA node 0 has memory twice",
        ),
        ({"nri": {"socket_path": "nri.sock"}}, "nri.socket_path", "not an absolute path"),
    ],
)
def test_impossible_wishes_name_their_variable(options: dict[str, Any], variable: str, reason: str) -> None:
    with pytest.raises(ProfileError, match=reason) as raised:
        parse_profile(options)
    assert raised.value.variable == variable
    assert str(raised.value).startswith(variable)
