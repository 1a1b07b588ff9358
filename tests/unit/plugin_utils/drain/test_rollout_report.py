# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Batches, preview and table of a rollout, as they are shown to the user."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.drain.cordon_and_drain import DrainResult
from ansible_collections.volcano.colocation.plugins.plugin_utils.drain.evictable_pods import DrainAction, Pod
from ansible_collections.volcano.colocation.plugins.plugin_utils.drain.rollout_report import (
    DrainPreview,
    drain_diff,
    preview_lines,
    render_table,
    split_batches,
    table_row,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.profile.validators import ProfileError

NAMES = [f"n{number}" for number in range(20)]


@pytest.mark.parametrize(
    ("sizes", "counts"),
    [
        ([1], [1] * 20),
        (["1", "10%", "25%"], [1, 2, 5, 5, 5, 2]),
        (["1%"], [1] * 20),
        ([50], [20]),
        (["100%"], [20]),
    ],
)
def test_batches_are_those_of_serial(sizes: list[Any], counts: list[int]) -> None:
    batches = split_batches(NAMES, sizes)
    assert [len(batch) for batch in batches] == counts
    assert [name for batch in batches for name in batch] == NAMES


def test_without_nodes_there_are_no_batches() -> None:
    assert split_batches([], [1]) == ()


@pytest.mark.parametrize("size", ["0", "0%", "-1", "101%", "half", "", "٣", "1.5", "10 %%"])
def test_an_invalid_size_is_refused(size: str) -> None:
    with pytest.raises(ProfileError, match="neither a number of nodes"):
        split_batches(NAMES, [1, size])


def one(name: str, action: DrainAction, waits: str = "") -> Pod:
    return Pod("default", name, name, action, "why", waits)


PODS = (one("a", DrainAction.EVICT), one("b", DrainAction.EVICT, "web"), one("d", DrainAction.IGNORE))
GOING = DrainResult("", True, PODS, ("default/a", "default/b"))


def test_the_preview_names_every_node_in_its_batch() -> None:
    previews = {
        "n1": DrainPreview("n1", "N1", True, GOING),
        "n2": DrainPreview("n2", "N2", False, DrainResult("", True, ())),
        "n3": DrainPreview("n3", "N3", True, DrainResult("default/x: no controller", False, PODS)),
    }
    assert list(preview_lines([["n1"], ["n2", "n3"]], previews)) == [
        "batch 1 of 2",
        "  n1: drained of 2 pod(s), then changed; 1 of them wait for their PodDisruptionBudget",
        "batch 2 of 2",
        "  n2: changed without a drain",
        "  n3: skipped, it cannot be drained: default/x: no controller",
    ]


def test_a_diff_has_evicted_and_remaining_pods() -> None:
    diff = drain_diff(GOING)
    assert diff["before"] == "schedulable\npod default/d\npod default/a\npod default/b\n"
    assert diff["after"] == "cordoned\npod default/d\n"
    assert drain_diff(DrainResult("", False, PODS, ()))["after"].startswith("cordoned by another client\n")


CHANGED = {"transaction": {"state": "committed"}, "changed": True, "plan": {"changes": [1, 2]}}
ROLLED_BACK = {"transaction": {"state": "rolled-back"}, "failed": True, "msg": "It was rolled back.\nmore"}


@pytest.mark.parametrize(
    ("known", "state", "what"),
    [
        ({"node_aligned": None, "rollout_drained": None}, "not touched", ""),
        ({"node_aligned": {"skipped": True, "changed": False}}, "not touched", ""),
        ({"node_aligned": CHANGED}, "changed", "2 setting(s)"),
        ({"node_aligned": {"changed": True, "plan": {"changes": [1]}}}, "would change", "1 setting(s)"),
        ({"node_aligned": ROLLED_BACK}, "rolled back", "It was rolled back."),
        ({"node_aligned": {"failed": True, "msg": "No."}}, "failed", "No."),
        ({"node_aligned": {"unreachable": True, "msg": "x"}}, "lost contact", "its change ends by itself"),
        ({"node_aligned": {"skipped": True}, "rollout_drained": {"reason": "budget"}}, "not drained", "budget"),
    ],
)
def test_the_row_of_a_node_has_its_state(known: dict[str, Any], state: str, what: str) -> None:
    row = table_row("n", known)
    assert row.state == state
    assert row.what.startswith(what)


def test_a_failure_after_the_change_is_reported_too() -> None:
    assert table_row("n", {"node_aligned": CHANGED}, "n is misaligned") == ("n", "failed", "n is misaligned")


@pytest.mark.parametrize(
    ("known", "state", "what"),
    [
        ({"rollout_drained": {"failed": True, "msg": "no answer"}}, "failed", "no answer"),
        ({"node_aligned": CHANGED, "rollout_opened": {"failed": True, "msg": "not Ready"}}, "failed", "not Ready"),
        ({"node_aligned": {**CHANGED, "verdict": "misaligned"}}, "failed", "it is misaligned after its change"),
        ({"node_aligned": {**CHANGED, "verdict": "aligned"}}, "changed", "2 setting(s)"),
        (
            {"node_aligned": {**CHANGED, "verdict": "misaligned"}, "node_observed": {"plan": {"pending": ["nri"]}}},
            "changed",
            "2 setting(s)",
        ),
    ],
)
def test_a_failure_after_the_change_is_found_in_the_results(known: dict[str, Any], state: str, what: str) -> None:
    assert table_row("n", known) == ("n", state, what)


def test_the_table_has_the_worst_first_and_counts_the_others() -> None:
    rows = [
        table_row("ok", {"node_aligned": CHANGED}),
        table_row("bad", {"node_aligned": ROLLED_BACK}),
        table_row("far", {}),
        table_row("away", {}),
    ]
    assert render_table(rows).splitlines() == [
        "bad  rolled back  It was rolled back.",
        "ok   changed      2 setting(s)",
        "4 nodes in the rollout: 1 rolled back, 1 changed, 2 not touched",
    ]


def test_one_node_has_a_table() -> None:
    assert (
        render_table([table_row("n1", {"node_aligned": CHANGED})]).splitlines()[-1]
        == "1 node in the rollout: 1 changed"
    )


def test_a_long_table_is_shortened() -> None:
    lines = render_table([table_row(f"n{number:03}", {"node_aligned": CHANGED}) for number in range(150)]).splitlines()
    assert lines[100:] == ["and 50 more", "150 nodes in the rollout: 150 changed"]
