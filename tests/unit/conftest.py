# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Coverage is measured of the code that runs on the controller only, and it doubles the time of a test.

It is off for tests that run none of that code, and for property tests and generated input, which run it hundreds of
times: the other tests must reach the limit without them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.support.property_tests import load_profile

load_profile()

UNIT = Path(__file__).resolve().parent
NOT_COVERED = {UNIT / "module_utils", UNIT / "malformed", UNIT / "trees" / "test_generated_trees.py"}
"""Tests of module_utils run nothing that the report is about; tests/tools/unit is another directory of such tests."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        path = item.path.resolve()
        if NOT_COVERED & {path, *path.parents} or _is_property_test(item):
            item.add_marker(pytest.mark.no_cover)


def _is_property_test(item: pytest.Item) -> bool:
    # Hypothesis for Python 3.7 has no function for this.
    return isinstance(item, pytest.Function) and getattr(item.function, "is_hypothesis_test", False)
