# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""With reclaim the plugin for queues is in the tier of gang; tests/volcano shows why."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.readers import read_yaml
from ansible_collections.volcano.colocation.plugins.plugin_utils.scheduler.volcano_conf import (
    DesiredConf,
    edit_conf,
    list_plugins,
)
from ansible_collections.volcano.colocation.tests.support.clusters.scheduler_confs import TEXT

RECLAIM = DesiredConf(reclaim=True)


def tiers(text: str) -> dict[str, int]:
    return {plugin.name: plugin.tier for plugin in list_plugins(read_yaml(text))}


@pytest.mark.parametrize("name", ["proportion", "capacity"])
def test_the_plugin_for_queues_moves_with_its_lines(name: str) -> None:
    lines = f"  - name: {name} # divides\n    enabledOverused: true\n"
    text = TEXT.replace("  - name: proportion\n", lines)
    after = edit_conf(text, RECLAIM)
    assert tiers(after)[name] == tiers(after)["gang"] == 0
    assert lines in after
    assert sorted(after.splitlines()) == sorted(
        edit_conf(text.replace(lines, ""), RECLAIM).splitlines() + lines.splitlines()
    )


def test_a_second_edit_changes_nothing() -> None:
    after = edit_conf(TEXT, RECLAIM)
    assert edit_conf(after, RECLAIM) == after


def test_without_the_option_nothing_moves() -> None:
    text = TEXT.replace("backfill", "backfill, reclaim")
    assert tiers(edit_conf(text, DesiredConf()))["proportion"] == 1


def test_without_gang_nothing_moves() -> None:
    assert tiers(edit_conf(TEXT.replace("- name: gang ", "- name: sla "), RECLAIM))["proportion"] == 1
