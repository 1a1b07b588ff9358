# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Coverage is measured of the code that runs on the controller only, and it makes every test half as slow again: it is
off for tests that run none of that code.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.support.property_tests import load_profile

load_profile()

NOT_COVERED = Path(__file__).resolve().parent / "module_utils"
"""The directory whose tests run nothing that the report is about; tests/tools/unit is another."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if NOT_COVERED in item.path.resolve().parents:
            item.add_marker(pytest.mark.no_cover)
