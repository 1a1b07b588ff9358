# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/kubelet.md: its codes are those of the rules. `make docs` writes its tables of fields (test_field_files)."""

from __future__ import annotations

import re
from pathlib import Path

from ansible_collections.volcano.colocation.plugins.plugin_utils.edit.readers import read_yaml
from ansible_collections.volcano.colocation.tests.unit.docs.test_role_docs import COLLECTION, OPTIONS

PAGE = (Path(__file__).parents[3] / "docs" / "kubelet.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("| ")]
CODES = [row[1].strip("`") for row in ROWS if len(row) == 2 and row[1].startswith("`")]
SOURCES = "\n".join(
    path.read_text(encoding="utf-8") for path in (COLLECTION / "plugins" / "plugin_utils" / "rules").glob("*.py")
)


def test_every_code_is_one_of_the_rules() -> None:
    assert len(CODES) == len(set(CODES)) > 20
    assert [code for code in CODES if f'"{code}"' not in SOURCES] == []


def test_its_examples_are_variables_of_the_role() -> None:
    """kubelet itself checks its full files: tests/judges."""
    examples = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    blocks = [block for block in examples if "kind: KubeletConfiguration" not in block]
    assert blocks
    for block in blocks:
        assert set(read_yaml(block)) <= set(OPTIONS)
