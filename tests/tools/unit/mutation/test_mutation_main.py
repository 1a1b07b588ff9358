# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A complete run on a small checkout, with fakes of cosmic-ray and bubblewrap."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.run.execution import UNAVAILABLE
from ansible_collections.volcano.colocation.tests.tools.mutation import __main__, cosmic, sandbox, trial
from ansible_collections.volcano.colocation.tests.tools.mutation.__main__ import main
from ansible_collections.volcano.colocation.tests.tools.mutation.sample import Mutation
from ansible_collections.volcano.colocation.tests.tools.mutation.sandbox import Limit, Sandbox
from ansible_collections.volcano.colocation.tests.tools.unit.mutation import small_checkout
from ansible_collections.volcano.colocation.tests.tools.unit.mutation.small_checkout import SMALL


class Numbers:
    """A fake cosmic-ray that increases every number by one."""

    def mutations(self, path: str, source: str) -> list[Mutation]:
        lines = enumerate(source.splitlines(), 1)
        return [
            Mutation(path, "core/Number", 0, line, text.index(n))
            for line, text in lines
            for n in re.findall(r"\d", text)
        ]

    def apply(self, mutation: Mutation, source: str) -> str:
        lines = source.splitlines(keepends=True)
        text = lines[mutation.line - 1]
        number = int(text[mutation.column]) + 1
        lines[mutation.line - 1] = f"{text[: mutation.column]}{number}{text[mutation.column + 1 :]}"
        return "".join(lines)


def use(checkout: Path, patch: pytest.MonkeyPatch) -> Path:
    @contextlib.contextmanager
    def start(_python: Path) -> Iterator[Numbers]:
        yield Numbers()

    patch.setattr(__main__, "CHECKOUT", checkout)
    patch.setattr(__main__, "DIRECTORY", checkout / ".cache" / "mutation")
    patch.setattr(cosmic, "start", start)
    patch.setattr(cosmic, "provide", Path)
    patch.setattr(trial, "limit", lambda _batch: Limit(cpu=3, wall=60))
    patch.setattr(sandbox, "missing", str)
    patch.setattr(sandbox, "isolated", lambda copy: Sandbox(copy, ()))
    return checkout


@pytest.fixture(name="small")
def _small(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout without results."""
    return use(checkout, monkeypatch)


@dataclass(frozen=True)
class Run:
    checkout: Path
    status: int
    output: str


@pytest.fixture(name="complete", scope="module")
def _complete(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A complete run, which takes seconds. Other tests resume it in a copy."""
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed):
        checkout = use(small_checkout.make(tmp_path_factory.mktemp("complete") / "checkout"), patch)
        return Run(checkout, main(["plugins/module_utils", "--minimum", "80"]), printed.getvalue())


@pytest.fixture(name="resumed")
def _resumed(complete: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the checkout with the results of the complete run."""
    return use(shutil.copytree(complete.checkout, tmp_path / "resumed", symlinks=True), monkeypatch)


SURVIVORS = """plugins/module_utils/small.py:15: Number: no test runs it (0 s)
    -    return number + 1
    +    return number + 2

plugins/module_utils: 3 of 4 mutants found, 75.0 %, at least 80 % expected
"""


def test_a_run_names_survivors(complete: Run) -> None:
    assert complete.status == 1
    assert SURVIVORS in complete.output
    assert "tests/unit/test_close.py: 7 tests, 1 failed: tests/unit/test_close.py::test_broken" in complete.output
    assert "plugins/module_utils: 4 mutations, 4 mutants drawn\n4 mutants to run" in complete.output
    assert complete.output.endswith((complete.checkout / ".cache" / "mutation" / "report.txt").read_text())


@pytest.mark.usefixtures("resumed")
def test_a_run_is_resumed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plugins/module_utils", "--minimum", "75"]) == 0
    assert "0 mutants to run, results of the others are known" in capsys.readouterr().out


def test_a_new_test_meets_the_survivors(resumed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (resumed / "tests" / "unit" / "test_new.py").write_text(
        "from ansible_collections.volcano.colocation.plugins.module_utils import small\n\n"
        "def test_untested():\n    assert small.untested(1) == 2\n"
    )
    assert main([SMALL]) == 0
    output = capsys.readouterr().out
    assert "1 mutants to run, results of the others are known" in output
    assert f"{SMALL}: 4 of 4 mutants found, 100.0 %" in output


def test_tests_that_cannot_be_collected_are_named(resumed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (resumed / "tests" / "unit" / "test_new.py").write_text("import no_such_module\n")
    main([SMALL, "--sample", "1", "--processes", "1"])
    assert "tests/unit/test_new.py could not be run, and finds no mutants" in capsys.readouterr().out


@pytest.mark.usefixtures("small")
def test_a_run_with_one_file_of_tests_records_that_file_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([SMALL, "--tests", "tests/unit/test_far.py", "--minimum", "20"]) == 0
    assert "record 1 of 1: tests/unit/test_far.py: 1 tests" in capsys.readouterr().out


def test_generated_tables_are_left_out(resumed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    generated = resumed / "plugins" / "module_utils" / "limits_generated.py"
    generated.write_text("LIMITS = [1, 2, 3]\n")
    arguments = ["--sample", "1", "--tests", "tests/unit/test_far.py"]
    main(["plugins/module_utils", str(generated.relative_to(resumed)), *arguments])
    output = capsys.readouterr().out
    assert "plugins/module_utils: 4 mutations" in output
    assert "limits_generated.py: 3 mutations" in output


@pytest.mark.usefixtures("resumed")
def test_a_sample_of_nothing_fails() -> None:
    assert main(["plugins/module_utils", "--sample", "0", "--tests", "tests/unit/test_far.py"]) == 1


@pytest.mark.usefixtures("small")
def test_a_machine_that_cannot_isolate(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sandbox, "missing", lambda: "no bubblewrap")
    assert main([]) == UNAVAILABLE
    assert capsys.readouterr().out == "no bubblewrap\n"
