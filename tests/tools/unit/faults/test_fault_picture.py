# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A picture shows every bit that a transaction could change."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.faults.guest import picture
from ansible_collections.volcano.colocation.tests.faults.picture import differences, parse_picture


def test_type_mode_owner_and_content_are_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pods" / "1").mkdir(parents=True)
    (tmp_path / "directory").mkdir(mode=0o750)
    (tmp_path / "directory" / "file").write_text("text\n")
    (tmp_path / "directory" / "file").chmod(0o640)
    (tmp_path / "link").symlink_to("directory/file")
    monkeypatch.setattr(picture, "DIRECTORIES", (str(tmp_path),))
    monkeypatch.setattr(picture, "LEFT_OUT", (str(tmp_path / "pods"),))
    owner, digest = f"{os.getuid()}:{os.getgid()}", hashlib.sha256(b"text\n").hexdigest()
    contents = {os.path.relpath(path, tmp_path): what for path, what in picture.tree().items()}
    assert contents == {
        "directory": f"drwxr-x--- {owner}",
        "directory/file": f"-rw-r----- {owner} {digest}",
        "link": f"lrwxrwxrwx {owner} directory/file",
    }


@pytest.mark.parametrize(
    ("path", "is_left_out"),
    [
        ("/var/lib/kubelet/.533734366", True),
        ("/var/lib/kubelet/.volcano-colocation.1", False),
        ("/var/lib/kubelet/cpu_manager_state", False),
        ("/etc/.533734366", False),
    ],
)
def test_what_kubelet_had_half_written_is_not_in_it(path: str, is_left_out: bool) -> None:
    assert bool(picture.HALF_WRITTEN.fullmatch(path)) is is_left_out


def test_the_document_is_read_back() -> None:
    empty: dict[str, Any] = {"checkpoints": {}, "units": {}, "ours": []}
    document = {**empty, "files": {"a": "b"}, "pods": ["/x"], "unfinished": ["1"], "planned": {"/etc/a": None}}
    parsed = parse_picture(json.dumps(document))
    assert (parsed.pods, parsed.unfinished, parsed.planned) == (("/x",), ("1",), {"/etc/a": None})


def test_differences_name_what_came_went_and_changed() -> None:
    before, after = {"same": "1", "gone": "2", "other": "3"}, {"same": "1", "other": "4", "new": "5"}
    assert list(differences(before, after)) == ["gone: 2 -> absent", "new: absent -> 5", "other: 3 -> 4"]
