# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tools of the stage `lint`: one table for the stage, `make lint` and the hooks of pre-commit."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from ansible_collections.volcano.colocation.tests.run import lint
from ansible_collections.volcano.colocation.tests.run.lint import LINT
from ansible_collections.volcano.colocation.tests.run.places import CHECKOUT
from ansible_collections.volcano.colocation.tests.run.stages import STAGES, select

CONFIG = CHECKOUT / ".pre-commit-config.yaml"
MAKEFILE = "lint:\n\t@echo tool $(TOOL); test $(TOOL) != vermin\n"
"""A tool that fails, and others that pass."""


def hooks() -> list[dict[str, object]]:
    (repository,) = yaml.safe_load(CONFIG.read_text())["repos"]
    listed: list[dict[str, object]] = repository["hooks"]
    return listed


def test_the_stage_runs_all_tools() -> None:
    (stage,) = select(["lint"], STAGES)
    assert stage.commands == tuple(LINT.values())


def test_each_tool_is_a_hook() -> None:
    assert {hook["id"]: hook["entry"] for hook in hooks()} == {name: f"make --silent lint TOOL={name}" for name in LINT}


@pytest.mark.parametrize("arguments", [[], ["nothing"], ["mypy", "ruff"]])
def test_another_name_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert lint.main(arguments) == 2
    assert capsys.readouterr().err == f"name one of the tools: {' '.join(LINT)}\n"


def test_a_tool_returns_its_status(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lint, "LINT", {"one": ("sh", "-c", "exit 3")})
    assert lint.main(["one"]) == 3


@pytest.fixture(name="repository")
def _repository(tmp_path: Path) -> Path:
    """A repository with the hooks of this one, and a staged module."""
    shutil.copy2(CONFIG, tmp_path)
    (tmp_path / "Makefile").write_text(MAKEFILE)
    module = tmp_path / "plugins" / "modules" / "new.py"
    module.parent.mkdir(parents=True)
    module.write_text("")
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "--all"], cwd=tmp_path, check=True)
    return tmp_path


def pre_commit(repository: Path, stage: str) -> list[str]:
    """Run the hooks of a stage for the staged files; lines of the output."""
    done = subprocess.run(
        ["pre-commit", "run", "--color", "never", "--hook-stage", stage, "--verbose"],
        cwd=repository,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_a_commit_runs_the_fast_hooks_of_its_files_and_fails_with_them(repository: Path) -> None:
    printed = pre_commit(repository, "pre-commit")
    assert [line for line in printed if line.startswith("tool ")] == [
        "tool ruff",
        "tool ruff-format",
        "tool vermin",
        "tool licenses",
    ]
    (failed,) = [line for line in printed if line.endswith("Failed")]
    assert failed.startswith("Python of the node")
    assert any(line.startswith("schema of the workflow") and "Skipped" in line for line in printed)


def test_all_hooks_run_by_hand(repository: Path) -> None:
    printed = pre_commit(repository, "manual")
    ran = {line.removeprefix("tool ") for line in printed if line.startswith("tool ")}
    assert {"mypy", "plugin-docs", "docs-site"} <= ran <= LINT.keys()
