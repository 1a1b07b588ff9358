# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a node's Python remembers of zip files, by a Python of its own."""

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
lab_compiled.FOLDER = sys.argv[2]
sys.path.insert(0, sys.argv[3])
import answer
print(answer.VALUE)
"""


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    return tmp_path / "compiled"


def run(payload: Path, folder: Path, source: str) -> str:
    with zipfile.ZipFile(payload, "w") as archive:
        archive.writestr("answer.py", source)
    argv = [sys.executable, "-c", PROGRAM, str(PACKAGES), str(folder), str(payload)]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()


def test_the_same_source_is_compiled_once_and_another_one_anew(tmp_path: Path, folder: Path) -> None:
    assert run(tmp_path / "first.zip", folder, "VALUE = 41\n") == "41"
    (kept,) = folder.iterdir()
    known = kept.stat().st_mtime_ns
    assert run(tmp_path / "second.zip", folder, "VALUE = 41\n") == "41"
    assert kept.stat().st_mtime_ns == known
    assert run(tmp_path / "first.zip", folder, "VALUE = 42\n") == "42"
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize("content", [b"", b"\xffno code"])
def test_what_cannot_be_read_is_made_again(tmp_path: Path, folder: Path, content: bytes) -> None:
    assert run(tmp_path / "first.zip", folder, "VALUE = 41\n") == "41"
    (kept,) = folder.iterdir()
    kept.write_bytes(content)
    assert run(tmp_path / "first.zip", folder, "VALUE = 41\n") == "41"
    assert kept.read_bytes() != content


def test_without_a_place_for_it_it_runs_all_the_same(tmp_path: Path, folder: Path) -> None:
    folder.write_text("no folder")
    assert run(tmp_path / "first.zip", folder, "VALUE = 41\n") == "41"


def test_pythons_of_a_node_load_it_at_their_start() -> None:
    lines = (PACKAGES / "lab_compiled.pth").read_text().splitlines()
    assert [line for line in lines if not line.startswith("#")] == ["import lab_compiled"]
