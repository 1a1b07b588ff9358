# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes of the unit tests that run containerd, captured and described, and their files as cases."""

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
    """Snapshots of nodes with a containerd file, by name."""
    captures = {name: captured_nodes.captured(name) for name in captured_nodes.NAMES}
    for name in hosts.NAMES:
        with tempfile.TemporaryDirectory() as directory:
            captures[name] = hosts.snapshot_of(hosts.described(name).host, Path(directory))
    for name, snapshot in captures.items():
        files = snapshot["runtime"].get("files", {})
        if "text" in files.get(snapshot["runtime"].get("config_path"), {}):
            yield name, snapshot


def texts(snapshot: Snapshot) -> dict[str, str]:
    """containerd's files by path."""
    return {path: file["text"] for path, file in snapshot["runtime"]["files"].items() if "text" in file}


def case(name: str, main: str, files: Mapping[str, str]) -> Case:
    """Files of a node below a directory: the main one as ``MAIN``, others by their path, as imports name them."""
    directory = main.rpartition("/")[0]
    moved = {}
    for path, text in files.items():
        target = MAIN if path == main else path.replace(directory, MAIN.rpartition("/")[0], 1).lstrip("/")
        moved[target] = re.sub(rf"""(?<=["']){re.escape(directory)}/""", f"@/{MAIN.rpartition('/')[0]}/", text).encode()
    return Case(name, moved)


def examples() -> Iterator[Case]:
    """Blocks of README and docs that are containerd configurations."""
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for number, block in enumerate(_FENCED.findall(page.read_text(encoding="utf-8"))):
            if _OF_CONTAINERD.search(block):
                yield Case(f"{page.stem}-{number}", {MAIN: block.encode()})
