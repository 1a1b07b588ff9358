# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cache of compiled zip files on a node, tested with a separate Python."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab.paths import GUEST

PACKAGES = GUEST / "root/usr/lib/python3/dist-packages"
PROGRAM = """\
import sys
sys.path.insert(0, sys.argv[1])
import lab_compiled
lab_compiled.DIRECTORY = sys.argv[2]
sys.path.insert(0, sys.argv[3])
import answer
print(answer.VALUE)
"""


@pytest.fixture(name="directory")
def _directory(tmp_path: Path) -> Path:
    return tmp_path / "compiled"


def run(payload: Path, directory: Path, source: str) -> str:
    with zipfile.ZipFile(payload, "w") as archive:
        archive.writestr("answer.py", source)
    argv = [sys.executable, "-c", PROGRAM, str(PACKAGES), str(directory), str(payload)]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()


def test_the_same_source_is_compiled_once_and_another_separately(tmp_path: Path, directory: Path) -> None:
    assert run(tmp_path / "first.zip", directory, "VALUE = 41\n") == "41"
    (compiled,) = directory.iterdir()
    known = compiled.stat().st_mtime_ns
    assert run(tmp_path / "second.zip", directory, "VALUE = 41\n") == "41"
    assert compiled.stat().st_mtime_ns == known
    assert run(tmp_path / "first.zip", directory, "VALUE = 42\n") == "42"
    assert len(list(directory.iterdir())) == 2


@pytest.mark.parametrize("content", [b"", b"\xffno code"])
def test_an_unreadable_entry_is_compiled_again(tmp_path: Path, directory: Path, content: bytes) -> None:
    assert run(tmp_path / "first.zip", directory, "VALUE = 41\n") == "41"
    (compiled,) = directory.iterdir()
    compiled.write_bytes(content)
    assert run(tmp_path / "first.zip", directory, "VALUE = 41\n") == "41"
    assert compiled.read_bytes() != content


def test_code_runs_without_a_cache_directory(tmp_path: Path, directory: Path) -> None:
    directory.write_text("no directory")
    assert run(tmp_path / "first.zip", directory, "VALUE = 41\n") == "41"


def test_python_loads_the_cache_at_startup() -> None:
    lines = (PACKAGES / "lab_compiled.pth").read_text().splitlines()
    assert [line for line in lines if not line.startswith("#")] == ["import lab_compiled"]
