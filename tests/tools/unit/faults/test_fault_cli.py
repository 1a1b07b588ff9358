# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line without nodes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.faults import cli, places, report
from ansible_collections.volcano.colocation.tests.faults.code import DATA, PROGRAMS, code_digest
from ansible_collections.volcano.colocation.tests.faults.outcome import Outcome, Verdict
from ansible_collections.volcano.colocation.tests.faults.results import Results
from ansible_collections.volcano.colocation.tests.faults.rows import ROWS, short
from ansible_collections.volcano.colocation.tests.run.places import CACHE, CHECKOUT

PAGE = f"before\n{report.BEGIN}\n\nNot run yet.\n\n{report.END}\nafter\n"


@pytest.fixture(name="page", autouse=True)
def _page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Separate results and page for each test."""
    page = tmp_path / "faults.md"
    page.write_text(PAGE)
    monkeypatch.setattr(cli, "RESULTS", tmp_path / "results.jsonl")
    monkeypatch.setattr(cli, "SHORT_RESULTS", tmp_path / "short.jsonl")
    monkeypatch.setattr(cli, "DOCUMENT", page)
    monkeypatch.setattr(cli, "code_digest", lambda _checkout: "code")
    return page


def add_results(directory: Path, verdict: Verdict = Verdict.PASSED) -> None:
    results = Results(directory / "results.jsonl", "code")
    for row in ROWS:
        results.add(Outcome(row.name, Verdict.PASSED, "as before", code="code"))
    if verdict is not Verdict.PASSED:
        results.add(Outcome(ROWS[0].name, verdict, wrong=("different",), code="code"))


def test_the_list_names_what_would_be_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--list", "--only", "power-cut", "--cgroup", "v2"]) == 0
    named = capsys.readouterr().out.split()
    assert named[0] == "v2-power_cut-stop-kubelet"
    assert all(name.startswith("v2-power_cut-") for name in named)


def test_a_row_that_does_not_exist_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--row", "v1-nothing"]) == 1
    assert "v1-nothing" in capsys.readouterr().out


def test_without_all_results_the_page_stays_and_it_fails(page: Path) -> None:
    assert cli.main(["--report"]) == 1
    assert page.read_text() == PAGE


def test_a_whole_table_is_written_into_the_page(page: Path, tmp_path: Path) -> None:
    add_results(tmp_path)
    assert cli.main(["--report"]) == 0
    assert f"{len(ROWS)} faults injected, 0 lost." in page.read_text()
    assert "Not run yet." not in page.read_text()


def test_one_that_was_lost_is_written_too_and_it_fails(
    page: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_results(tmp_path, Verdict.FAILED)
    assert cli.main(["--report"]) == 1
    assert f"{len(ROWS)} faults injected, 1 lost." in page.read_text()
    assert f"LOST: {ROWS[0].name}: different" in capsys.readouterr().out


ENGINE = """\
from ansible.module_utils.basic import AnsibleModule
from ..module_utils import host
from ..module_utils.transaction import runner as carried_out
from ..module_utils.errors import Error
"""


def test_results_belong_to_the_code_that_is_run(tmp_path: Path) -> None:
    loaded = ("host.py", "errors.py", "transaction/__init__.py", "transaction/runner.py", "transaction/steps.py")
    counts = (
        *(f"plugins/module_utils/{name}" for name in loaded),
        "roles/node/tasks/main.yml",
        "playbooks/provision.yml",
    )
    unrelated = ("docs/a.md", "roles/qos/tasks/main.yml", "playbooks/restore.yml", "plugins/module_utils/other.py")
    for name in (*counts, *unrelated, *PROGRAMS):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / PROGRAMS[-1]).write_text(ENGINE)
    (tmp_path / "plugins/module_utils/transaction/runner.py").write_text("from .steps import STEPS\n")
    first = code_digest(tmp_path)
    for name in unrelated:
        (tmp_path / name).write_text("2")
        assert code_digest(tmp_path) == first, name
    for name in counts:
        text = (tmp_path / name).read_text()
        (tmp_path / name).write_text(f"{text}\n")
        assert code_digest(tmp_path) != first, name
        (tmp_path / name).write_text(text)


def test_what_the_digest_is_made_of_is_there() -> None:
    assert [top for top in (*PROGRAMS, *DATA) if not (CHECKOUT / top).exists()] == []


def test_the_shorter_set_leaves_the_checkout_as_it_is(page: Path, tmp_path: Path) -> None:
    add_results(tmp_path)
    before = (tmp_path / "results.jsonl").read_text()
    assert cli.main(["--short", "--report"]) == 1, "results of the long run do not count for the short one"
    results = Results(tmp_path / "short.jsonl", "code")
    for row in short():
        results.add(Outcome(row.name, Verdict.PASSED, "as before", code="code"))
    assert cli.main(["--short", "--report"]) == 0
    assert (page.read_text(), (tmp_path / "results.jsonl").read_text()) == (PAGE, before)


def test_results_of_the_shorter_set_are_kept_apart() -> None:
    assert places.SHORT_RESULTS.is_relative_to(CACHE)
    assert places.RESULTS.relative_to(CHECKOUT) == Path("tests/faults/results.jsonl")
