# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What no node can have is refused before any node is looked at, with the name of the variable."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.model import Driver
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile import Profile, parse_profile
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile_error import ProfileError


def test_nothing_asked_is_nothing_wanted() -> None:
    assert parse_profile({}) == Profile()
    assert parse_profile({"system_reserved": {}, "reserved_system_cpus": "", "nri": None}) == Profile()


def test_a_whole_profile() -> None:
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
    assert profile.system_reserved == {"cpu": "1", "memory": "1Gi"}
    assert profile.read_only_port == 0
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
        ({"nri": {"socket_path": "nri.sock"}}, "nri.socket_path", "not an absolute path"),
    ],
)
def test_impossible_wishes_name_their_variable(options: dict[str, Any], variable: str, reason: str) -> None:
    with pytest.raises(ProfileError, match=reason) as raised:
        parse_profile(options)
    assert raised.value.variable == variable
    assert str(raised.value).startswith(variable)
