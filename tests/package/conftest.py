# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tarball of the checkout."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.run.install import build
from ansible_collections.volcano.colocation.tests.run.places import CHECKOUT, tool_environment


@pytest.fixture(scope="session")
def tarball(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(CHECKOUT, tmp_path_factory.mktemp("dist"), tool_environment(os.environ))
