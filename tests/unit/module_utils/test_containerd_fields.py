# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The key that each containerd takes for a field, whatever its letter case."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.containerd_fields import (
    LetterCase,
    handler_option,
    key_of,
    letter_case,
)


@pytest.mark.parametrize(
    ("version", "case"),
    [("1.6.20~ds1", "FOUR"), ("1.7.24", "FOUR"), ("v2.0.0", "ANY"), ("2.4.2", "ANY"), ("3.0.0", "ANY"), (None, "ANY")],
)
def test_from_2_0_on_the_letter_case_does_not_count(version: str | None, case: str) -> None:
    assert letter_case(version).name == case


@pytest.mark.parametrize(
    ("keys", "first", "second"),
    [
        ([], None, None),
        (["SystemdCgroups"], None, None),
        (["systemdcgroup"], "systemdcgroup", "systemdcgroup"),
        (["systemdCgroup"], "systemdCgroup", "systemdCgroup"),
        (["SYSTEMDCGROUP"], "SYSTEMDCGROUP", "SYSTEMDCGROUP"),
        (["SystemDCgroup"], None, "SystemDCgroup"),
        (["SYSTEMDCGROUP", "SystemdCgroup", "systemdcgroup"], "SystemdCgroup", "systemdcgroup"),
        (["SYSTEMDCGROUP", "systemdcgroup"], "systemdcgroup", "systemdcgroup"),
    ],
)
def test_the_key_that_counts(keys: list[str], first: str | None, second: str | None) -> None:
    assert key_of(keys, "SystemdCgroup", LetterCase.FOUR) == first
    assert key_of(keys, "SystemdCgroup", LetterCase.ANY) == second


def test_options_are_decoded_in_the_order_of_their_keys() -> None:
    options = {"systemdcgroup": True, "SystemdCgroup": False}
    assert [handler_option(options, "SystemdCgroup", version) for version in ("1.7.24", "2.4.2")] == [False, True]
    assert handler_option({}, "SystemdCgroup", "2.4.2") is None
