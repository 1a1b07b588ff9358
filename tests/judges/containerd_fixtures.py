# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each containerd that judges, with the program that decodes handlers' options as it does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.judges import go_sources
from ansible_collections.volcano.colocation.tests.judges.containerd_files import MAIN, Case
from ansible_collections.volcano.colocation.tests.judges.containerd_ours import differences, ours
from ansible_collections.volcano.colocation.tests.judges.containerd_programs import Containerd, obtain, releases
from ansible_collections.volcano.colocation.tests.judges.containerd_verdict import Verdict, theirs
from ansible_collections.volcano.colocation.tests.lab.cache import Cache
from ansible_collections.volcano.colocation.tests.lab.paths import cache_root

OPTIONS = Path(__file__).resolve().parent / "options"
FAMILIES = {1: "containerd-1.7", 2: "containerd-2.4"}


@dataclass(frozen=True)
class Judge:
    """A containerd, and the program that decodes its handlers' options."""

    containerd: Containerd
    options: Path

    def differences(self, cases: Iterator[Case], folder: Path) -> dict[str, list[str]]:
        """Where we are wrong, by the name of the case; files go below ``folder``."""
        mains = {self.written(case, folder / case.name): case.name for case in cases}
        right = self.verdicts(list(mains))
        found = {}
        for main, name in mains.items():
            said = ours(self.containerd.version, main)
            found[name] = list(differences(right[main], said, self.containerd.major))
        return {name: each for name, each in found.items() if each}

    def verdicts(self, mains: list[Path]) -> dict[Path, Verdict]:
        """containerd's verdict on each main file."""
        return theirs(self.containerd, self.options, mains)

    def written(self, case: Case, folder: Path) -> Path:
        """Its main file, once all its files are below the folder."""
        for path, content in case.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content.replace(b"@/", f"{folder}/".encode()))
        return folder / MAIN


@pytest.fixture(scope="session", params=releases(), name="judge")
def _judge(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Judge:
    """Of a release."""
    cache = Cache(cache_root())
    found = obtain(cache, request.param, tmp_path_factory.mktemp("containerd"))
    source = OPTIONS / f"v{found.major}" / "main.go"
    name = f"containerd-options-{found.major}"
    return Judge(found, go_sources.obtain(cache, name, FAMILIES[found.major], (source,)))
