# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plugin of pytest that leaves tests out, and writes which test failed.

MUTATION_SELECTION names a file with the arguments of ``Selection``.
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
    """``dropped``: ids of tests that are left out; one that is new, since the mutant changes parameters, runs.

    ``result``: the file that gets the id of each test, or file of tests, that failed as a line.
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
        """A failure is enough; a shorter example that fails as well is not looked for, which can take minutes.

        The profile follows those of conftest.py, and comes before the settings of the tests, which derive from it.
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
