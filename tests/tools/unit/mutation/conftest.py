# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.tools.unit.mutation import small_checkout


@pytest.fixture(name="checkout")
def _checkout(tmp_path: Path) -> Path:
    return small_checkout.make(tmp_path / "checkout")
