# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Excludes the tests of tools from coverage, because they do not run code of the report."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.support.property_tests import load_profile

load_profile()

DIRECTORY = Path(__file__).resolve().parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _is_here(item.path):
            item.add_marker(pytest.mark.no_cover)


@cache
def _is_here(path: Path) -> bool:
    return DIRECTORY in path.resolve().parents
