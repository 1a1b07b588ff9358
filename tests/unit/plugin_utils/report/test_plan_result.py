# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages for users about plans and transactions, without secrets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.assessment.node_plan import make_plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.change_set import Plan, Refusal
from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.file_edits import FileEdit
from ansible_collections.volcano.colocation.plugins.plugin_utils.report.plan_result import (
    diffs,
    failure_message,
    plan_result,
    progress_line,
    refusal_message,
)
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    DIFFERING,
    captured,
    desired,
    facts_of,
)

REFUSALS = (Refusal("a", "it is so", "Do this", file="/x", line=2), Refusal("b", "it is thus", "Do that", variable="v"))


def test_a_diff_shows_both_texts_and_no_secret() -> None:
    (entry,) = diffs([FileEdit("/x", "password: hunter2\nport: 1\n", "password: hunter2\nport: 2\n")])
    assert entry["before_header"] == entry["after_header"] == "/x"
    assert "hunter2" not in json.dumps(entry)
    assert entry["before"].endswith("port: 1\n")
    assert entry["after"].endswith("port: 2\n")


def test_the_diff_of_a_new_file_begins_empty() -> None:
    assert diffs([FileEdit("/x", None, "a\n")])[0]["before"] == ""


def test_the_published_plan_is_json_with_changes_and_what_is_pending() -> None:
    facts = facts_of(captured(DIFFERING))
    document = plan_result(make_plan(facts, desired(), allow_disruption=False))
    assert json.loads(json.dumps(document)) == document
    assert {change["setting"] for change in document["pending"]} >= {"cpuManagerPolicy"}
    assert document["changes"][-1] == {
        "target": "containerd",
        "setting": "plugins.io.containerd.nri.v1.nri.disable",
        "before": None,
        "after": False,
        "file": "/etc/containerd/config.toml",
        "reason": "differs from the profile",
        "message": "plugins.io.containerd.nri.v1.nri.disable: differs from the profile",
        "impact": ["restart runtime"],
    }
    assert document["impact"] == ["restart runtime"]


def test_one_refusal_is_one_sentence() -> None:
    assert refusal_message(Plan(refusals=REFUSALS[:1])) == "Nothing was changed. /x:2: it is so. Do this"


def test_several_refusals_are_a_list() -> None:
    assert refusal_message(Plan(refusals=REFUSALS)).splitlines() == [
        "Nothing was changed, for 2 reasons:",
        "- /x:2: it is so. Do this",
        "- colocation_v: it is thus. Do that",
    ]


@pytest.mark.parametrize(
    ("word", "lead"),
    [
        ("refused", "Nothing was changed."),
        ("rolled-back", "The node was rolled back to its previous state."),
        ("rollback-failed", "The node could NOT be rolled back completely; repair it by hand."),
        ("mystery", "mystery"),
    ],
)
def test_a_failure_says_what_the_node_is_now(word: str, lead: str) -> None:
    error = {"step": "start kubelet", "message": "it died", "node": "kubelet runs as before"}
    assert failure_message({"state": word, "error": error}) == (
        f"{lead} Step 'start kubelet' failed: it died. Kubelet runs as before"
    )


def test_a_failure_without_details_says_that_no_reason_was_given() -> None:
    assert failure_message({"state": "refused", "step": "begin", "error": None}) == (
        "Nothing was changed. Step 'begin' failed: no reason given."
    )


@pytest.mark.parametrize(
    ("transaction", "line"),
    [
        ({"state": "applying"}, "  n1: applying, 0 step(s) done, now: starting"),
        (
            {"state": "applying", "step": "gate", "steps": [{"status": s} for s in ("done", "skipped", "failed")]},
            "  n1: applying, 2 step(s) done, now: gate",
        ),
    ],
)
def test_progress_is_one_line_for_each_state(transaction: dict[str, Any], line: str) -> None:
    assert progress_line("n1", transaction) == line
