# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The words that the tool finds in prose and names, and the words that it ignores."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.tools.language import main, places


def words(path: Path, text: str) -> list[tuple[int, str]]:
    path.write_text(text)
    return [(place.line, place.word) for place in places(path)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kubelet is told the driver\n", [(1, "told")]),
        ("a\nThe Folder is held\nagainst it\n", [(2, "Folder"), (2, "held against")]),
        ("the value is no list\n", [(1, "is no list")]),
        ("the value is no longer a list; there is no list\n", []),
        ("a blank line; `--folder`, ${told}, /folder/x\n", []),
        ("untold-things stall the scaffolder\n", []),
    ],
)
def test_prose(tmp_path: Path, text: str, expected: list[tuple[int, str]]) -> None:
    assert words(tmp_path / "page.md", text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("for each in x:\n    print(each)\n", [(1, "each")]),
        ("y = [_found for _found in x]\n", [(1, "_found")]),
        ("def wanted(folder_of, *, given=1): ...\n", [(1, "folder_of"), (1, "given"), (1, "wanted")]),
        ("class Folder:\n    left: int\n", [(1, "Folder"), (2, "left")]),
        ('"""A text\n\nthat tells."""\n# nobody\n', [(3, "tells"), (4, "nobody")]),
        ('x = f"{a} is no pod"\n', [(1, "is no pod")]),
        ("x.each(found=1)\ny = found\n", []),
        ('x["folder"] = "a folder"\n', [(1, "folder")]),
    ],
)
def test_python(tmp_path: Path, text: str, expected: list[tuple[int, str]]) -> None:
    assert words(tmp_path / "module.py", text) == expected


def test_main_prints_the_places_of_files_and_directories(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "main.yml").write_text("- name: Tell\n")
    (tmp_path / "tasks" / "data.json").write_text('{"a": "told"}\n')
    assert main([str(tmp_path)]) == 1
    assert capsys.readouterr().out == f'{tmp_path}/tasks/main.yml:1: "Tell": write reports, shows, says\n'


def test_main_succeeds_without_places(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.md").write_text("kubelet reports the driver\n")
    assert main([str(tmp_path / "a.md")]) == 0
    assert capsys.readouterr().out == ""
