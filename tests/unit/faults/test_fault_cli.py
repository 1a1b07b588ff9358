# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line without nodes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.faults import cli, report
from ansible_collections.volcano.colocation.tests.faults.outcome import Outcome, Verdict
from ansible_collections.volcano.colocation.tests.faults.places import code_digest
from ansible_collections.volcano.colocation.tests.faults.results import Results
from ansible_collections.volcano.colocation.tests.faults.rows import ROWS

PAGE = f"before\n{report.BEGIN}\n\nNot run yet.\n\n{report.END}\nafter\n"


@pytest.fixture(name="page", autouse=True)
def _page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Results and page of a test's own."""
    page = tmp_path / "faults.md"
    page.write_text(PAGE)
    monkeypatch.setattr(cli, "RESULTS", tmp_path / "results.jsonl")
    monkeypatch.setattr(cli, "DOCUMENT", page)
    monkeypatch.setattr(cli, "code_digest", lambda _checkout: "code")
    return page


def kept(folder: Path, verdict: Verdict = Verdict.KEPT) -> None:
    results = Results(folder / "results.jsonl", "code")
    for row in ROWS:
        results.add(Outcome(row.name, Verdict.KEPT, "as before", code="code"))
    if verdict is not Verdict.KEPT:
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
    kept(tmp_path)
    assert cli.main(["--report"]) == 0
    assert f"{len(ROWS)} faults injected, 0 lost." in page.read_text()
    assert "Not run yet." not in page.read_text()


def test_one_that_was_lost_is_written_too_and_it_fails(
    page: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept(tmp_path, Verdict.LOST)
    assert cli.main(["--report"]) == 1
    assert f"{len(ROWS)} faults injected, 1 lost." in page.read_text()
    assert f"LOST: {ROWS[0].name}: different" in capsys.readouterr().out


def test_results_belong_to_the_code_they_were_made_with(tmp_path: Path) -> None:
    for name in ("plugins/modules/a.py", "roles/node/tasks/main.yml", "playbooks/p.yml", "docs/a.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    first = code_digest(tmp_path)
    (tmp_path / "docs/a.md").write_text("2")
    assert code_digest(tmp_path) == first
    (tmp_path / "plugins/modules/a.py").write_text("2")
    assert code_digest(tmp_path) != first
