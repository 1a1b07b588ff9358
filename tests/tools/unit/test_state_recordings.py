# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The recordings of a state can be made with this state, so that a release can be recorded."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.tools.record_state import FIXTURES, RECORDINGS

OLDEST = FIXTURES / "150e3c6"


@pytest.fixture(scope="module", name="recorded")
def _recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("state")
    subprocess.run([sys.executable, str(RECORDINGS), str(target)], check=True, capture_output=True)
    return target


def test_every_document_of_an_older_state_is_recorded(recorded: Path) -> None:
    assert {path.name for path in recorded.iterdir()} == {path.name for path in OLDEST.glob("*.json")}


@pytest.mark.parametrize("name", sorted(path.name for path in OLDEST.glob("*.json")))
def test_documents_have_the_parts_of_those_of_an_older_state(recorded: Path, name: str) -> None:
    document, older = (json.loads((directory / name).read_text(encoding="utf-8")) for directory in (recorded, OLDEST))
    assert set(document) == set(older)
