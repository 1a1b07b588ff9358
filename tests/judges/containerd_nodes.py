# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The nodes of the unit tests that run containerd: captured ones and described ones, and their files as cases."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from ansible_collections.volcano.colocation.tests.judges.containerd_files import MAIN, Case
from ansible_collections.volcano.colocation.tests.support.hosts import captured_nodes
from ansible_collections.volcano.colocation.tests.support.hosts import described_hosts as hosts
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import Snapshot

ROOT = Path(__file__).resolve().parents[2]
_FENCED = re.compile(r"^```[a-z]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_OF_CONTAINERD = re.compile(r"^\s*(?:\[plugins\b|SystemdCgroup\b|disabled_plugins\b|imports\b)", re.MULTILINE)


def snapshots() -> Iterator[tuple[str, Snapshot]]:
    """By name."""
    found = {name: captured_nodes.captured(name) for name in captured_nodes.NAMES}
    for name in hosts.NAMES:
        with tempfile.TemporaryDirectory() as folder:
            found[name] = hosts.snapshot_of(hosts.described(name).host, Path(folder))
    for name, snapshot in found.items():
        files = snapshot["runtime"].get("files", {})
        if "text" in files.get(snapshot["runtime"].get("config_path"), {}):
            yield name, snapshot


def texts(snapshot: Snapshot) -> dict[str, str]:
    """containerd's files by path."""
    return {path: each["text"] for path, each in snapshot["runtime"]["files"].items() if "text" in each}


def case(name: str, main: str, files: Mapping[str, str]) -> Case:
    """Files of a node below a folder: the main one as ``MAIN``, the others by their own path, as imports name them."""
    folder = main.rpartition("/")[0]
    moved = {}
    for path, text in files.items():
        place = MAIN if path == main else path.replace(folder, MAIN.rpartition("/")[0], 1).lstrip("/")
        moved[place] = re.sub(rf"""(?<=["']){re.escape(folder)}/""", f"@/{MAIN.rpartition('/')[0]}/", text).encode()
    return Case(name, moved)


def examples() -> Iterator[Case]:
    """Blocks of README and docs that are containerd's."""
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for number, block in enumerate(_FENCED.findall(page.read_text(encoding="utf-8"))):
            if _OF_CONTAINERD.search(block):
                yield Case(f"{page.stem}-{number}", {MAIN: block.encode()})
