# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/assess.md: its commands run, and print the output on the page."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import DIFFERING, NAMES, captured
from ansible_collections.volcano.colocation.tests.support.tasks.playbook_run import Done, playbook, started_playbook
from ansible_collections.volcano.colocation.tests.unit.docs.test_role_docs import OPTIONS

PAGE = (Path(__file__).parents[3] / "docs" / "assess.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = [line for kind, text in BLOCKS if not kind for line in text.splitlines()]
EXAMPLE_LINES = [line for kind, text in BLOCKS if kind == "text" for line in text.splitlines()]
REPLAYS = [line for line in COMMANDS if "colocation_snapshots=" in line]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("page")
    (directory / "snapshots").mkdir()
    for name in NAMES:
        path = directory / "snapshots" / f"{name}.snapshot.json"
        path.write_text(json.dumps(captured(name)), encoding="utf-8")
    return directory


def output(directory: Path, command: str, playbook: Callable[..., Done] = playbook) -> str:
    program, *arguments = shlex.split(command, comments=True)
    assert program == "ansible-playbook"
    done = playbook(directory, *arguments)
    assert done.status == 0, done.output
    return done.stdout


@pytest.mark.parametrize("command", REPLAYS)
def test_its_replays_run(directory: Path, command: str) -> None:
    assert re.search(rf"^{DIFFERING}: MISALIGNED|--limit {DIFFERING}$", output(directory, command), re.MULTILINE)


def test_its_output_is_what_is_printed(directory: Path) -> None:
    text = "".join(output(directory, command, started_playbook) for command in REPLAYS[:2])
    printed = [re.sub(r"^( +)\d+\. ", r"\1", line) for line in text.splitlines()]
    missing = [line for line in EXAMPLE_LINES if re.sub(r"^( +)\d+\. ", r"\1", line) not in printed]
    assert missing == []


def test_its_variables_are_the_roles() -> None:
    named = set(re.findall(r"\bcolocation_\w+", PAGE)) - {"colocation_nodes"}
    assert named <= set(OPTIONS)
    assert {name for name in OPTIONS if "finding" in name or "severities" in name or "snapshot" in name} <= named
