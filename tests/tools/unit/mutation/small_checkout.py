# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A checkout with one module, two test files, and the pytest plugins of the mutation run."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from ansible_collections.volcano.colocation.tests.tools.mutation import copies
from ansible_collections.volcano.colocation.tests.tools.mutation.sandbox import Sandbox

TOOLS = Path("tests/tools/mutation")

SMALL = "plugins/module_utils/small.py"
CLOSE, FAR = "tests/unit/test_close.py", "tests/unit/test_far.py"

FILES = {
    ".gitignore": "/.cache/\n",
    "data.txt": "data\n",
    SMALL: """LIMIT = 3

def small(number):
    return number < LIMIT

def double(number):
    return number + number

def waits(number):
    while number != 0:
        number = number - 1
    return number

def untested(number):
    return number + 1
""",
    "tests/unit/conftest.py": """import pytest
from ansible_collections.volcano.colocation.plugins.module_utils import small

@pytest.fixture
def limit():
    return small.LIMIT
""",
    CLOSE: """import subprocess, sys
import pytest
from ansible_collections.volcano.colocation.plugins.module_utils.small import double, small, waits

@pytest.mark.parametrize("number", [1, 2])
def test_small(number):
    assert small(number)

def test_large():
    assert not small(4)

def test_double():
    assert double(2) == 4
    with open("data.txt") as data:
        assert data.read()

def test_waits():
    assert waits(1) == 0

def test_child():
    code = "from ansible_collections.volcano.colocation.plugins.module_utils.small import double; double(1)"
    subprocess.run([sys.executable, "-c", code], check=True)

def test_broken():
    assert small(4)
""",
    FAR: """def test_limit(limit):
    assert limit == 3
""",
}


def make(directory: Path) -> Path:
    """Write the checkout into this directory."""
    for name, text in FILES.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (directory / TOOLS).mkdir(parents=True)
    for name in ("recording.py", "replay.py"):
        shutil.copy2(Path(__file__).resolve().parents[4] / TOOLS / name, directory / TOOLS)
    subprocess.run(["git", "init", "--quiet", str(directory)], check=True)
    return directory


def unsafe(checkout: Path, number: int = 1) -> Sandbox:
    """A copy of the checkout without isolation, because its code is harmless."""
    copy = checkout / ".cache" / "mutation" / f"copy-{number}"
    copies.make(checkout, copy)
    return Sandbox(copy, ())
