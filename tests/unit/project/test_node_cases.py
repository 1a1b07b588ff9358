# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every setting of the registry is tested on a node of each cgroup version, or is listed with the reason why not."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.settings.registry import KNOBS
from ansible_collections.volcano.colocation.tests.system import knobs

MODES = ("v1", "v2")


@pytest.mark.parametrize("mode", MODES)
def test_no_setting_is_forgotten(mode: str) -> None:
    offered = {name for name, row in KNOBS.items() if row.interface(mode)}
    tested, lacking = set(knobs.FILES[mode]), set(knobs.LACKING[mode])
    assert (tested | lacking, tested & lacking) == (offered, set())


@pytest.mark.parametrize("mode", MODES)
def test_every_file_of_a_setting_is_read(mode: str) -> None:
    for name, files in knobs.FILES[mode].items():
        assert files, name
        assert set(files) <= set(KNOBS[name].files(mode)), name


@pytest.mark.parametrize("mode", MODES)
def test_every_setting_is_asked_for_on_a_cgroup(mode: str) -> None:
    tested = {name for target in knobs.targets(mode) for name in target.names}
    assert tested == set(knobs.FILES[mode])
    assert tested <= set(knobs.SETTINGS)


@pytest.mark.parametrize("mode", MODES)
def test_what_is_lacking_is_asked_for_too(mode: str) -> None:
    asked = {name for options in knobs.options(mode, "8:0") for name in options["settings"]}
    assert set(knobs.lacking(mode)) <= asked
