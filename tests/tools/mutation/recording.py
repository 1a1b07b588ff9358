# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pytest plugin that records which lines of the plugins each test runs, and how long it takes.

MUTATION_RECORD is the path of the file that it writes; the current directory is the checkout. pytest-cov is not
suitable: it skips tests that tests/unit/conftest.py marks with no_cover.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Generator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import coverage
import pytest

VARIABLE = "MUTATION_RECORD"
MEASURED = "plugins"
CACHE = ".cache"

CHILD_CONFIGURATION = """\
[run]
source = {source}
data_file = {data}
parallel = True
disable_warnings = no-data-collected,module-not-imported,module-not-measured
"""
"""Configuration for Python programs that tests start, in which coverage's .pth file starts it."""


@dataclass
class Test:
    """``wall`` and ``cpu``: seconds including fixtures; ``cpu`` is that of pytest's process."""

    __test__ = False

    wall: float = 0
    cpu: float = 0
    passed: bool = True


@dataclass
class Observed:
    """The recorded document. Sets of lines are hexadecimal integers in which bit n stands for line n.

    ``imported``: lines that ran outside tests, or in a child process, by file. ``run``: by file, the tests that ran
    each set of lines, as indices into ``tests``. ``inputs``: digests of the checkout's files that were read.
    ``overhead``: CPU seconds outside tests.
    """

    tests: dict[str, Test] = field(default_factory=dict)
    imported: dict[str, str] = field(default_factory=dict)
    run: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)
    overhead: float = 0


class Recorder:
    def __init__(self, checkout: Path, output: Path) -> None:
        self._checkout = checkout
        self._output = output
        self._observed = Observed()
        self._opened: set[str] = set()
        self._coverage = coverage.Coverage(data_file=None, config_file=False, source=[str(checkout / MEASURED)])

    def start(self) -> None:
        configuration = self._output.with_suffix(".coveragerc")
        text = CHILD_CONFIGURATION.format(source=self._checkout / MEASURED, data=self._children)
        configuration.write_text(text, encoding="utf-8")
        os.environ["COVERAGE_PROCESS_START"] = str(configuration)
        sys.addaudithook(self._audit)
        self._coverage.start()

    @property
    def _children(self) -> Path:
        return self._output.with_suffix(".child")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        test = self._observed.tests.setdefault(item.nodeid, Test())
        self._coverage.switch_context(item.nodeid)
        wall, cpu = time.perf_counter(), time.process_time()
        result = yield
        test.wall, test.cpu = time.perf_counter() - wall, time.process_time() - cpu
        self._coverage.switch_context("")
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._observed.tests.setdefault(report.nodeid, Test()).passed = False

    def pytest_unconfigure(self) -> None:
        self._coverage.stop()
        self._observed.overhead = time.process_time() - sum(test.cpu for test in self._observed.tests.values())
        self._add(self._coverage.get_data())
        for path in self._output.parent.glob(f"{self._children.name}.*"):
            data = coverage.CoverageData(str(path))
            data.read()
            self._add(data)
            path.unlink()
        self._add_inputs()
        self._output.write_text(json.dumps(asdict(self._observed)), encoding="utf-8")

    def _add(self, data: coverage.CoverageData) -> None:
        numbers = {name: number for number, name in enumerate(self._observed.tests)}
        for measured in data.measured_files():
            path = Path(measured).relative_to(self._checkout).as_posix()
            lines: dict[str, int] = {}
            for line, contexts in data.contexts_by_lineno(measured).items():
                for context in contexts:
                    lines[context] = lines.get(context, 0) | 1 << line
            imported = lines.pop("", 0) | int(self._observed.imported.get(path, "0"), 16)
            self._observed.imported[path] = f"{imported:x}"
            tests = self._observed.run.setdefault(path, {})
            for context, bits in lines.items():
                tests.setdefault(f"{bits:x}", []).append(numbers[context])

    def _audit(self, event: str, arguments: tuple[object, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str):
            self._opened.add(os.path.abspath(arguments[0]))

    def _add_inputs(self) -> None:
        """Add opened files, and modules, because compiled modules are not opened as source files."""
        modules = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
        for path in {Path(name).resolve() for name in {*self._opened, *filter(None, modules)}}:
            name = path.relative_to(self._checkout).as_posix() if path.is_relative_to(self._checkout) else CACHE
            if not name.startswith((CACHE, ".git/")) and path.is_file():
                self._observed.inputs[name] = hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Start before conftest files, so that their imports are recorded."""
    if VARIABLE in os.environ:
        recorder = Recorder(Path.cwd(), Path(os.environ.pop(VARIABLE)))
        recorder.start()
        early_config.pluginmanager.register(recorder)
