# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Only a node that is up and does not respond is silent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.run.nodes import Lab

LAB = """
import sys
match sys.argv[1:]:
    case ["journal", "hung"]:
        print("VM: running", file=sys.stderr)
        sys.exit(3)
    case ["journal", "well"]:
        print("kubelet started")
    case _:
        sys.exit(1)
"""


@pytest.mark.parametrize(("name", "state"), [("hung", "VM: running\n"), ("well", ""), ("unknown", "")])
def test_the_silence_of_a_node_is_asked_of_the_lab(tmp_path: Path, name: str, state: str) -> None:
    (tmp_path / "tests" / "lab").mkdir(parents=True)
    (tmp_path / "tests" / "lab" / "__main__.py").write_text(LAB)
    assert Lab(tmp_path, os.environ).silence(name) == state
