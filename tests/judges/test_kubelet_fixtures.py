# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The collection's verdict on kubelet files of the fixtures and of the docs' examples is kubelet's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.tests.judges.kubelet_comparison import differences
from ansible_collections.volcano.colocation.tests.judges.kubelet_judge import Case, KubeletJudge
from ansible_collections.volcano.colocation.tests.support.hosts import described_hosts as hosts
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import NAMES, captured

ROOT = Path(__file__).resolve().parents[2]
PLACES = ("--config", "--config-dir")
BLOCK = re.compile(r"^([ \t]*)```ya?ml\n(.*?)^\1```", re.MULTILINE | re.DOTALL)


def _of_snapshot(name: str, kubelet: Mapping[str, Any]) -> Case | None:
    """The texts of a snapshot, and the flags of its kubelet, without those that name files."""
    main = kubelet["files"].get(kubelet["config_path"], {}).get("text")
    config_dir = kubelet.get("config_dir") or {}
    paths = config_dir.get("paths", ())
    dropins = [
        (path[len(str(config_dir["folder"])) :].strip("/"), kubelet["files"][path].get("text")) for path in paths
    ]
    argv = kubelet["processes"][0]["argv"][1:] if kubelet["processes"] else ()
    if main is None or any(text is None for _path, text in dropins):
        return None
    return Case(name, main, tuple(dropins), tuple(_without_places(argv)))


def _without_places(argv: tuple[str, ...]) -> Iterator[str]:
    words = iter(argv)
    for word in words:
        name, equals, _value = word.partition("=")
        if name not in PLACES:
            yield word
        elif not equals:
            next(words, None)


def test_the_recorded_nodes(kubelet: KubeletJudge) -> None:
    cases = [_of_snapshot(name, captured(name)["kubelet"]) for name in NAMES]
    assert all(cases)
    assert differences(kubelet, [case for case in cases if case]) == []


def test_the_described_hosts(kubelet: KubeletJudge, tmp_path: Path) -> None:
    """Hosts with a kubelet file; their kubelets have many versions, and this version in the test."""
    cases = []
    for name in hosts.NAMES:
        directory = tmp_path / name
        directory.mkdir()
        case = _of_snapshot(name, hosts.snapshot_of(hosts.described(name).host, directory)["kubelet"])
        cases += [case] if case else []
    assert len(cases) > 20
    assert differences(kubelet, cases) == []


def examples() -> list[Case]:
    """Blocks of YAML in README and docs that are whole kubelet files."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    texts = [(page.name, match[2]) for page in pages for match in BLOCK.finditer(page.read_text(encoding="utf-8"))]
    return [Case(name, text) for name, text in texts if "kind: KubeletConfiguration" in text]


def test_the_examples_of_the_docs(kubelet: KubeletJudge) -> None:
    cases = examples()
    assert cases
    assert differences(kubelet, cases) == []
