# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which states of a node the tests of kills and power cuts take as equal, and therefore visit once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.state.store import STATE_DIRECTORY
from ansible_collections.volcano.colocation.tests.support.node.directory_tree import DIRECTORY, Entry, Tree, hash_of
from ansible_collections.volcano.colocation.tests.support.node.interrupted_nodes import distinct, unknown
from ansible_collections.volcano.colocation.tests.support.node.kills import Moment, Services

JOURNAL = f"{STATE_DIRECTORY}/transactions/t-1/journal.json"
DRAFT = f"{STATE_DIRECTORY}/transactions/t-1/.journal.json.volcano-colocation"


def file(text: str) -> Entry:
    return DIRECTORY._replace(mode=0o100600, content=text.encode())


def journal(**changes: Any) -> Tree:
    document = {"state": "applying", "begun": ["a"], "step": "a", "steps": [], "error": None, "gate": [], **changes}
    return {JOURNAL: file(json.dumps(document))}


def moment(tree: Tree) -> Moment:
    return Moment("call", tree, (), Services(), hash_of(tree))


def step(status: str, name: str = "a") -> dict[str, str]:
    return {"name": name, "status": status}


@pytest.mark.parametrize(
    "changes",
    [
        {"state": "rolling-back"},
        {"begun": ["a", "b"]},
        {"steps": [step("done")]},
        {"written": ["/etc/config"]},
    ],
)
def test_what_a_recovery_uses_makes_another_state(changes: dict[str, Any]) -> None:
    assert hash_of(journal(**changes)) != hash_of(journal())


@pytest.mark.parametrize(
    "changes", [{"step": "b"}, {"error": {"message": "x"}}, {"gate": [{}]}, {"steps": [step("failed")]}]
)
def test_the_log_of_a_journal_makes_no_other_state(changes: dict[str, Any]) -> None:
    assert hash_of(journal(**changes)) == hash_of(journal())


def test_which_steps_are_done_does_not_matter_for_a_roll_back() -> None:
    undone = journal(state="rolling-back")
    assert hash_of(journal(state="rolling-back", steps=[step("done")])) == hash_of(undone)


def test_drafts_are_visited_after_the_first_kills_only() -> None:
    without, with_draft = moment(journal()), moment({**journal(), DRAFT: file("")})
    assert distinct([without, with_draft]) == [without, with_draft]
    assert unknown([with_draft], {without.key}) == []


def test_a_file_of_another_program_with_the_name_of_a_draft_makes_another_state() -> None:
    assert hash_of({"/etc/.config": file("")}) != hash_of({})
