# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/design.md and docs/walkthroughs.md: the paths and names exist, and the map has every package."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
PAGES = [DOCS / "design.md", DOCS / "walkthroughs.md"]
DESIGN = PAGES[0].read_text(encoding="utf-8")
BASES = [ROOT, *(ROOT / "plugins" / name for name in ("", "plugin_utils", "module_utils"))]
"""The directories in which paths of the tables begin."""

FORBIDDEN = "utils.py"
SCREEN = 45
"""Lines."""

SPAN = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)*/?")
COMMAND = re.compile(r"\b(?:tests|plugins|roles)/[\w./-]+")


def is_path(span: str) -> bool:
    return PATH.fullmatch(span) is not None and ("/" in span or span.endswith((".py", ".toml", ".yml")))


def existing_paths(path: str) -> list[Path]:
    return [base / path for base in BASES if (base / path).exists()]


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("| ")]


def section(title: str) -> str:
    return DESIGN.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_paths_exist(page: Path) -> None:
    prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    paths = {span for span in SPAN.findall(prose) if is_path(span)}
    beside = {path.name for directory in ("plugins", "tests/unit/project") for path in (ROOT / directory).rglob("*.py")}
    assert {path for path in paths if not existing_paths(path) and path not in beside} - {FORBIDDEN} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_paths_of_commands_exist(page: Path) -> None:
    blocks = re.findall(r"^```console\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert {path for block in blocks for path in COMMAND.findall(block) if not (ROOT / path).exists()} == set()


@pytest.mark.parametrize("row", rows(section("The life of one setting")) + rows(section("Rules of the house")))
def test_names_are_in_the_files_of_their_row(row: str) -> None:
    """Those that follow a path and a colon."""
    for path, names in re.findall(r"`([\w./-]+)`: ((?:`[^`]+`(?:, )?)+)", row):
        text = existing_paths(path)[0].read_text(encoding="utf-8")
        assert [name for name in SPAN.findall(names) if name not in text] == []


@pytest.mark.parametrize("side", ["plugin_utils", "module_utils"])
def test_every_package_is_on_the_map(side: str) -> None:
    before, after = DESIGN.split("On the controller, below `plugins/plugin_utils/`")
    first = before.partition("## One plan")[0]
    table = after if side == "plugin_utils" else before
    packages = {path.name for path in (ROOT / "plugins" / side).iterdir() if (path / "__init__.py").is_file()}
    named = {span.split("/")[0] for row in rows(first + table) for span in SPAN.findall(row) if "/" in span}
    assert packages <= named


def test_the_first_screen_is_the_map() -> None:
    screen = "\n".join(DESIGN.splitlines()[:SCREEN])
    assert "```text" in screen
    assert screen.count("\n| ") > 12


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_lines_fit(page: Path) -> None:
    assert [line for line in page.read_text(encoding="utf-8").splitlines() if len(line) > 120] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_headings(page: Path) -> None:
    for target, anchor in re.findall(r"\]\((\w[\w./-]*\.md)?#([\w-]+)\)", page.read_text(encoding="utf-8")):
        text = (DOCS / target if target else page).read_text(encoding="utf-8")
        headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
        anchors = {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}
        assert anchor in anchors, f"{target}#{anchor}"
