# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pytest plugin that skips tests, and records which test failed.

MUTATION_SELECTION is the path of a file with the arguments of ``Selection``.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

VARIABLE = "MUTATION_SELECTION"
PROFILE = "mutation"


@dataclass(frozen=True)
class Selection:
    """``dropped``: ids of tests that do not run; a new test, whose parameters the mutant changes, runs.

    ``result``: the file for the ids of failed tests or test files, one for each line.
    """

    dropped: list[str]
    result: str


class Replay:
    def __init__(self, selection: Selection) -> None:
        self._dropped = frozenset(selection.dropped)
        self._result = Path(selection.result)

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        left_out = [item for item in items if item.nodeid in self._dropped]
        items[:] = [item for item in items if item.nodeid not in self._dropped]
        config.hook.pytest_deselected(items=left_out)

    def pytest_pycollect_makemodule(self) -> None:
        """Disable the search for a shorter failing example, which can take minutes; one failure is sufficient.

        The profile is loaded after those of conftest.py and before the tests, whose settings derive from it.
        """
        hypothesis = sys.modules.get("hypothesis")
        if hypothesis is not None and hypothesis.settings.get_current_profile_name() != PROFILE:
            phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
            hypothesis.settings.register_profile(PROFILE, parent=hypothesis.settings(), phases=phases)
            hypothesis.settings.load_profile(PROFILE)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._write(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._write(report.nodeid)

    def _write(self, name: str) -> None:
        with self._result.open("a", encoding="utf-8") as result:
            result.write(f"{name}\n")


def pytest_configure(config: pytest.Config) -> None:
    if VARIABLE in os.environ:
        selection = json.loads(Path(os.environ.pop(VARIABLE)).read_text(encoding="utf-8"))
        config.pluginmanager.register(Replay(Selection(**selection)))
