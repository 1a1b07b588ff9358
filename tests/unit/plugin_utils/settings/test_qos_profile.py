# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values that no node can have are refused with the name of the entry, before any node is read."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.validators import ProfileError
from ansible_collections.volcano.colocation.plugins.plugin_utils.settings.qos_profile import (
    Amount,
    PodLevel,
    QosLevel,
    SystemProfile,
    parse_amount,
)
from ansible_collections.volcano.colocation.tests.support.hosts.qos_cases import profile


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("60%", Amount("60%", share=Fraction(3, 5))),
        ("100%", Amount("100%", share=Fraction(1))),
        ("0.5%", Amount("0.5%", share=Fraction(1, 200))),
        ("2.5", Amount("2.5", absolute=Fraction(5, 2))),
        ("500m", Amount("500m", absolute=Fraction(1, 2))),
        ("4Gi", Amount("4Gi", absolute=Fraction(4294967296))),
        (" 3 ", Amount("3", absolute=Fraction(3))),
        (3, Amount("3", absolute=Fraction(3))),
        ("", None),
        (None, None),
    ],
)
def test_shares_and_amounts(text: Any, expected: Amount | None) -> None:
    assert parse_amount("be.cpu_quota", text) == expected


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"be": {"cpu_quota": "101%"}}, "profile.be.cpu_quota: 101% is not greater than 0% and at most 100%"),
        ({"be": {"cpu_quota": "0%"}}, "profile.be.cpu_quota: 0% is not greater than 0%"),
        (
            {"be": {"memory_high": "most"}},
            "profile.be.memory_high: 'most' is neither a share such as 60%",
        ),
        ({"be": {"memory_max": "0"}}, "profile.be.memory_max: 0 is not greater than 0"),
        ({"be": {"memory_max": "8Ei"}}, "profile.be.memory_max: 8Ei is not greater than 0 and less than 2^63"),
        ({"be": {"pids_max": "0"}}, "profile.be.pids_max: '0' is not a whole number above 0"),
        ({"be": {"pids_max": "50%"}}, "profile.be.pids_max: '50%' is not a whole number above 0"),
        ({"ls": {"memory_low": "-1Gi"}}, "profile.ls.memory_low: -1Gi is not greater than 0"),
        ({"ls": {"memory_min": "1.5.2"}}, "profile.ls.memory_min: '1.5.2' is neither"),
        ({"ls": {"cpu_burst": "20ms"}}, "profile.ls.cpu_burst: '20ms' is not a whole number above 0"),
        (
            {"system": {"cpu_weight": "0"}},
            "profile.system.cpu_weight: '0' is neither reserved nor a weight from 1 to",
        ),
        ({"system": {"cpu_weight": "10001"}}, "profile.system.cpu_weight: '10001' is neither"),
        ({"pods": [{"level": "BE"}]}, "profile.pods[0]: needs either uid, or namespace and name"),
        ({"pods": [{"level": "BE", "name": "web"}]}, "profile.pods[0]: needs either uid"),
        ({"pods": [{"level": "BE", "uid": "a", "name": "b", "namespace": "c"}]}, "profile.pods[0]: needs either uid"),
        ({"pods": [{"level": "BE", "uid": "../a"}]}, "profile.pods[0].uid: '../a' is not the UID"),
    ],
)
def test_what_is_refused_and_how(changed: dict[str, Any], says: str) -> None:
    with pytest.raises(ProfileError) as caught:
        profile(**changed)
    assert says in str(caught.value)


def test_an_empty_text_wants_nothing() -> None:
    nothing = profile(be={"cpu_quota": "", "memory_high": "", "pids_max": ""}, system={"cpu_weight": ""})
    assert (nothing.best_effort.cpu_quota, nothing.best_effort.memory_high, nothing.best_effort.pids_max) == (None,) * 3
    assert nothing.system == SystemProfile("", "low")


def test_pods_are_named_one_way_or_the_other() -> None:
    listed = [{"uid": "1a-2b", "namespace": None, "level": "BE"}, {"namespace": "shop", "name": "web", "level": "LS"}]
    assert profile(pods=listed).pods == (
        PodLevel({"uid": "1a-2b"}, QosLevel.BE),
        PodLevel({"namespace": "shop", "name": "web"}, QosLevel.LS),
    )
