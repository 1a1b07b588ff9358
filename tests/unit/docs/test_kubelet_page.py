# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/kubelet.md: its table of fields is that of the code, and its codes are those of the rules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.read import read_yaml
from ansible_collections.volcano.colocation.plugins.plugin_utils.kubelet_field_model import Impact
from ansible_collections.volcano.colocation.plugins.plugin_utils.kubelet_fields import FIELDS, KubeletField
from ansible_collections.volcano.colocation.tests.unit.docs.test_role_docs import COLLECTION, OPTIONS

PAGE = (Path(__file__).parents[3] / "docs" / "kubelet.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("| ")]
ROW_OF = {row[1].strip("`"): row for row in ROWS if len(row) == 6 and row[0].startswith("`")}
CODES = [row[1].strip("`") for row in ROWS if len(row) == 2 and row[1].startswith("`")]
SOURCES = "\n".join(
    path.read_text(encoding="utf-8")
    for folder in ("findings/rules", "plan/refusals")
    for path in (COLLECTION / "plugins" / "plugin_utils" / folder).glob("*.py")
)


def takes(field: KubeletField) -> str:
    if field.impacts >= {Impact.DRAIN_UNDER_STATIC_CPU, Impact.DRAIN_UNDER_STATIC_MEMORY}:
        return "drain for `cpu` under `static`, for `memory` under `Static`"
    return {
        Impact.RESTART: "restart",
        Impact.DRAIN: "drain",
        Impact.DRAIN_UNDER_STATIC_CPU: "drain under `static`",
        Impact.DRAIN_UNDER_STATIC_MEMORY: "drain under `Static`",
    }[field.impact]


def default(field: KubeletField) -> str:
    later = [f", from {since[0]}.{since[1]} on {f'`{value}`' if value else 'none'}" for since, value in field.later]
    return f"`{field.default}`{''.join(later)}" if field.default else ""


def test_every_field_has_its_row() -> None:
    assert list(ROW_OF) == [field.key for field in FIELDS]


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.key)
def test_a_row_is_what_the_code_says(field: KubeletField) -> None:
    option, _key, since, stated, change, _checkpoint = ROW_OF[field.key]
    assert option == f"`{field.option}`"
    assert since == ("" if field.since == (1, 0) else f"{field.since[0]}.{field.since[1]}")
    assert stated == default(field)
    assert change == takes(field)
    assert f"colocation_{field.option}" in OPTIONS


def test_every_code_is_one_of_the_rules() -> None:
    assert len(CODES) == len(set(CODES)) > 20
    assert [code for code in CODES if f'"{code}"' not in SOURCES] == []


def test_what_it_shows_are_variables_of_the_role() -> None:
    """A whole file of kubelet is kubelet's to judge: tests/judges."""
    shown = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    blocks = [block for block in shown if "kind: KubeletConfiguration" not in block]
    assert blocks
    for block in blocks:
        assert set(read_yaml(block)) <= set(OPTIONS)
