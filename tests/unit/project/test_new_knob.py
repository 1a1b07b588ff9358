# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/walkthroughs.md, "Add a cgroup knob": it is observed, planned, written and restored in a tree of cgroups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.support.checkout_copy import CheckoutCopy, followed

PROOF = """
import json, tempfile
from pathlib import Path
from PACKAGE.plugins.module_utils.errors import ColocationError
from PACKAGE.tests.support.node.cgroup_tree import CGROUPS, Tree

SETTINGS = {"memory_swap_high": "16Mi"}
FILE = "memory.swap.high"

with tempfile.TemporaryDirectory() as directory:
    tree = Tree(Path(directory), "v2", "systemd")
    try:
        tree.plan(qos_class="besteffort", settings=SETTINGS)
    except ColocationError as error:
        unsupported = str(error)
    cgroup = CGROUPS["systemd"]["besteffort"]
    tree.file(cgroup, FILE).write_text("max\\n")
    (planned,) = tree.run(qos_class="besteffort", settings=SETTINGS)["settings"]
    written = tree.read(cgroup, FILE)
    again = tree.run(qos_class="besteffort", settings=SETTINGS)["changed"]
    tree.run(qos_class="besteffort", state="absent")
    restored = tree.read(cgroup, FILE)
print(json.dumps({
    "unsupported": unsupported,
    "planned": {key: planned[key] for key in ("knob", "before", "after", "backend")},
    "files": [written, restored],
    "again": again,
}))
"""


@pytest.fixture(name="copy", scope="module")
def _copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CheckoutCopy]:
    with followed("Add a cgroup knob", tmp_path_factory.mktemp("knob")) as copy:
        yield copy


def test_one_file_of_the_plugins_is_edited_by_hand(copy: CheckoutCopy) -> None:
    plugins = {name for name in copy.by_hand if not name.startswith("tests/")}
    assert plugins == {"plugins/module_utils/settings/registry.py"}
    assert copy.changed == copy.by_hand | {"docs/qos.md"}


@pytest.fixture(name="proof", scope="module")
def _proof(copy: CheckoutCopy) -> Any:
    return copy.proof(PROOF)


def test_a_cgroup_without_the_file_lacks_it(proof: dict[str, Any]) -> None:
    assert "memory_swap_high" in proof["unsupported"]


def test_it_is_observed_planned_and_written(proof: dict[str, Any]) -> None:
    assert proof["planned"] == {"knob": "memory_swap_high", "before": "max", "after": "16Mi", "backend": "file"}
    assert proof["files"] == ["16777216", "max"]
    assert proof["again"] is False


def test_its_tests_and_its_page_have_it(copy: CheckoutCopy) -> None:
    names = [name for name in copy.by_hand if name.startswith("tests/unit/")]
    copy.tests(*names, "tests/unit/docs/test_qos_page.py", "tests/unit/project/test_node_cases.py")
    page = (copy.root / "docs" / "qos.md").read_text(encoding="utf-8")
    assert "\n| `memory_swap_high` | bytes, `max` | `max` | | `memory.swap.high` | | kernel 5.8 |\n" in page
