# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies follow the checkout, and files of an earlier run are removed."""

from __future__ import annotations

import os
from pathlib import Path

from ansible_collections.volcano.colocation.tests.tools.mutation import copies

SMALL = Path("plugins/module_utils/small.py")


def test_a_copy_has_the_files_under_the_name_of_the_collection(checkout: Path, tmp_path: Path) -> None:
    copies.make(checkout, tmp_path / "copy")
    assert copies.listed(tmp_path / "copy") == copies.listed(checkout)
    linked = tmp_path / "copy" / ".cache" / "dev" / "ansible_collections" / "volcano" / "colocation"
    assert (linked / SMALL).read_bytes() == (checkout / SMALL).read_bytes()


def test_a_copy_follows_the_checkout(checkout: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copies.make(checkout, copy)
    (checkout / "data.txt").unlink()
    (checkout / "new.txt").write_text("new")
    (checkout / "link").symlink_to("new.txt")
    (checkout / SMALL).write_text("LIMIT = 4\n")
    (copy / "left.txt").write_text("left")
    (copy / ".cache" / "kept").write_text("kept")
    copies.make(checkout, copy)
    copies.make(checkout, copy)
    assert copies.listed(copy) == copies.listed(checkout)
    assert (copy / SMALL).read_text() == "LIMIT = 4\n"
    assert os.readlink(copy / "link") == "new.txt"
    assert (copy / ".cache" / "kept").exists()


def test_files_of_an_interrupted_run_are_restored(checkout: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copies.make(checkout, copy)
    original = (checkout / SMALL).read_text()
    with copies.mutated(copy / SMALL, original.replace("3", "4")):
        copies.make(checkout, copy)
        assert (copy / SMALL).read_text() == original


def test_a_mutated_file_is_restored_with_its_time(checkout: Path) -> None:
    """A compiled module depends on the modification time of its source."""
    path = checkout / SMALL
    before, status = path.read_bytes(), path.stat()
    with copies.mutated(path, "x = 'ä'\n"):
        assert path.read_bytes() == "x = 'ä'\n".encode()
        assert path.stat().st_mtime == copies.MUTATED
    assert path.read_bytes() == before
    assert path.stat().st_mtime_ns == status.st_mtime_ns
