# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Coverage is measured of the code that runs on the controller only, and it doubles the time of a test.

It is on for the tests of that code alone, which must reach the limit without others. Of these it is off for property
tests and generated input, which run the code hundreds of times.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.support.property_tests import load_profile

load_profile()

UNIT = Path(__file__).resolve().parent
COVERED = UNIT / "plugin_utils"
GENERATED = COVERED / "facts" / "test_facts_fuzz.py"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not _is_covered(item.path) or _is_property_test(item):
            item.add_marker(pytest.mark.no_cover)


@lru_cache(maxsize=4096)
def _is_covered(path: Path) -> bool:
    """Whether coverage is on for a file of tests. Resolved once: the thousands of tests have hundreds of files."""
    resolved = path.resolve()
    return resolved != GENERATED and COVERED in resolved.parents


def _is_property_test(item: pytest.Item) -> bool:
    # Hypothesis for Python 3.7 has no function for this.
    return isinstance(item, pytest.Function) and getattr(item.function, "is_hypothesis_test", False)
