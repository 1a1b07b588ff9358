# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Debian's Python from a root file system: the unpacked files, and how it is started."""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.run import trixie, venvs
from ansible_collections.volcano.colocation.tests.run.venvs import Recipe

LOADER = "ld-linux-test.so.2"
SHOWS = '#!/bin/sh\nprintf "%s\\n" "$@"\n'
FILES = {
    f"./{trixie.PROGRAM}": "",
    f"./{trixie.STANDARD_LIBRARY}os.py": "",
    f"./{trixie.LIBRARIES}/{LOADER}": SHOWS,
    f"./{trixie.LIBRARIES}/libc.so.6": "",
    f"./{trixie.LIBRARIES}/perl/deep.so": "",
    "./usr/bin/bash": "",
    "./usr/lib/python3/dist-packages/apt.py": "",
    "./etc/passwd": "",
}


def archive(directory: Path) -> Path:
    path = directory / "root.tar"
    with tarfile.open(path, "w") as tar:
        for name, text in FILES.items():
            file = directory / "file"
            file.write_text(text)
            file.chmod(0o755)
            tar.add(file, name)
    return path


def test_python_its_library_and_shared_libraries_are_taken_and_nothing_else(tmp_path: Path) -> None:
    trixie.unpack(archive(tmp_path), tmp_path / "root")
    files = {str(path.relative_to(tmp_path / "root")) for path in (tmp_path / "root").rglob("*") if path.is_file()}
    assert files == {
        trixie.PROGRAM,
        f"{trixie.STANDARD_LIBRARY}os.py",
        f"{trixie.LIBRARIES}/{LOADER}",
        f"{trixie.LIBRARIES}/libc.so.6",
        "usr/bin/python",
    }


def test_the_loader_gets_the_name_by_which_python_was_called(tmp_path: Path) -> None:
    root = tmp_path / "root"
    trixie.unpack(archive(tmp_path), root)
    link = tmp_path / "venv-python"
    link.symlink_to(root / "usr/bin/python")
    arguments = subprocess.run([link, "-c", "a b"], capture_output=True, text=True, check=True).stdout.splitlines()
    libraries, program = root / trixie.LIBRARIES, root / trixie.PROGRAM
    assert arguments == ["--argv0", str(link), "--library-path", str(libraries), str(program), "-c", "a b"]


def test_a_python_without_ensurepip_gets_pip_from_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []

    def run(argv: list[object], **_options: object) -> subprocess.CompletedProcess[str]:
        words = [str(argument) for argument in argv]
        commands.append(words)
        if words[1:3] == ["-c", "import ensurepip"]:
            return subprocess.CompletedProcess(words, 1, "", "")
        return subprocess.CompletedProcess(words, 0, "/venv/site-packages\n", "")

    monkeypatch.setattr(subprocess, "run", run)
    venvs.install(Recipe("dev", Path("/debian/python")), tmp_path)
    assert ["/debian/python", "-m", "venv", "--without-pip", str(tmp_path)] in commands
    assert any(words[-4:-1] == ["--target", "/venv/site-packages", "--requirement"] for words in commands)
