# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Property tests: the same examples in each CI run, no deadline on shared CPUs, findings kept in .cache.

Coverage is measured of the code that runs on the controller only, and it makes every test half as slow again: it is
off for tests that run none of that code.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.configuration import set_hypothesis_home_dir

set_hypothesis_home_dir(str(Path(__file__).resolve().parents[2] / ".cache" / "hypothesis"))
settings.register_profile("developer", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "developer")

UNIT = Path(__file__).resolve().parent
NOT_COVERED = ("lab", "module_utils", "run")
"""Folders whose tests run nothing that the report is about."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.resolve().relative_to(UNIT).parts[0] in NOT_COVERED:
            item.add_marker(pytest.mark.no_cover)
