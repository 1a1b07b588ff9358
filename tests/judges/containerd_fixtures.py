# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each containerd that is a judge, with the program that decodes handlers' options as containerd does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.judges import go_sources
from ansible_collections.volcano.colocation.tests.judges.containerd_files import MAIN, Case
from ansible_collections.volcano.colocation.tests.judges.containerd_ours import collection_verdict, differences
from ansible_collections.volcano.colocation.tests.judges.containerd_programs import Containerd, obtain, releases
from ansible_collections.volcano.colocation.tests.judges.containerd_verdict import Verdict, containerd_verdicts
from ansible_collections.volcano.colocation.tests.lab.cache import Cache
from ansible_collections.volcano.colocation.tests.lab.paths import cache_root

OPTIONS = Path(__file__).resolve().parent / "options"
FAMILIES = {"1": "containerd-1.7", "2.2": "containerd-2.2", "2": "containerd-2.4"}
"""The family with the TOML library of a release, or of a major version: Debian's 2.1 has that of 2.4."""


@dataclass(frozen=True)
class Judge:
    """A containerd, and the program that decodes its handlers' options."""

    containerd: Containerd
    options: Path

    def differences(self, cases: Iterator[Case], directory: Path) -> dict[str, list[str]]:
        """Reasons why the collection's verdict is wrong, by case; files are written below ``directory``."""
        mains = {self.written(case, directory / case.name): case.name for case in cases}
        expected = self.verdicts(list(mains))
        reasons = {}
        for main, name in mains.items():
            verdict = collection_verdict(self.containerd.version, main)
            reasons[name] = list(differences(expected[main], verdict, self.containerd.major))
        return {name: case_reasons for name, case_reasons in reasons.items() if case_reasons}

    def verdicts(self, mains: list[Path]) -> dict[Path, Verdict]:
        """containerd's verdict on each main file."""
        return containerd_verdicts(self.containerd, self.options, mains)

    def written(self, case: Case, directory: Path) -> Path:
        """Write all files of the case below the directory; returns its main file."""
        for path, content in case.files.items():
            (directory / path).parent.mkdir(parents=True, exist_ok=True)
            (directory / path).write_bytes(content.replace(b"@/", f"{directory}/".encode()))
        return directory / MAIN


@pytest.fixture(scope="session", params=releases(), name="judge")
def _judge(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Judge:
    """The judge of a release."""
    return judge_of(obtain(Cache(cache_root()), request.param, tmp_path_factory.mktemp("containerd")))


def judge_of(containerd: Containerd) -> Judge:
    """The judge with this containerd."""
    source = OPTIONS / f"v{containerd.major}" / "main.go"
    name = f"containerd-options-{containerd.major}"
    family = FAMILIES.get(containerd.release) or FAMILIES[str(containerd.major)]
    return Judge(containerd, go_sources.obtain(Cache(cache_root()), name, family, (source,)))
