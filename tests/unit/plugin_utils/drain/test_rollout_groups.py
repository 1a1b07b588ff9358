# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The preview and the table of a rollout over many nodes."""

from __future__ import annotations

from collections.abc import Collection

from ansible_collections.volcano.colocation.plugins.plugin_utils.drain.cordon_and_drain import DrainResult
from ansible_collections.volcano.colocation.plugins.plugin_utils.drain.evictable_pods import DrainAction, Pod
from ansible_collections.volcano.colocation.plugins.plugin_utils.drain.rollout_groups import (
    preview_groups,
    render_table_groups,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.drain.rollout_report import (
    DrainPreview,
    TableRow,
    split_batches,
)

NAMES = [f"n{number}" for number in range(200)]


def drained(pods: int, pdb: str = "") -> DrainResult:
    """A drain that evicts so many pods."""
    evicted = tuple(Pod("default", f"p{number}", f"{number}", DrainAction.EVICT, "", pdb) for number in range(pods))
    return DrainResult("", True, evicted, tuple(map(str, evicted)))


def limit(_name: str, hosts: Collection[str]) -> str:
    return f"--limit <{len(hosts)}>"


def test_the_preview_has_the_batches_and_groups_of_nodes() -> None:
    previews = {
        **{name: DrainPreview(name, name, True, drained(number % 9)) for number, name in enumerate(NAMES[:140])},
        **{name: DrainPreview(name, name, True, drained(1, pdb="web")) for name in NAMES[140:150]},
        **{name: DrainPreview(name, name, False, DrainResult("", True, ())) for name in NAMES[150:199]},
        "n199": DrainPreview("n199", "n199", True, DrainResult("default/x: no controller", False, ())),
    }
    assert list(preview_groups(split_batches(NAMES, [1, "10%", "25%"]), previews, limit)) == [
        "6 batches of 1, 20, 50, 29 nodes",
        "140 hosts: drained, then changed",
        "  --limit <140>",
        "49 hosts: changed without a drain",
        "  --limit <49>",
        "10 hosts: drained, then changed; pods wait for their PodDisruptionBudget",
        "  --limit <10>",
        "n199: skipped, it cannot be drained: default/x: no controller",
        "560 pods will be evicted in total",
    ]


def test_many_sizes_are_cut() -> None:
    batches = split_batches(NAMES, [1, 2, 3, 4, 5, 6, 7])
    assert next(preview_groups(batches, {}, limit)) == "32 batches of 1, 2, 3, 4, 5, … nodes"
    assert next(preview_groups(split_batches(NAMES, [1]), {}, limit)) == "200 batches of 1 node"


def test_the_table_has_a_group_for_each_state_and_reason() -> None:
    rows = [
        *(TableRow(name, "changed", f"{number} setting(s)") for number, name in enumerate(NAMES[:20])),
        TableRow("n20", "rolled back", "n20 is not healthy"),
        *(TableRow(name, "failed", f"{name} has no space") for name in NAMES[21:23]),
        *(TableRow(name, "not touched") for name in NAMES[23:]),
    ]
    assert render_table_groups(rows, limit).splitlines() == [
        "2 hosts failed: HOST has no space",
        "  --limit <2>",
        "n20 rolled back: n20 is not healthy",
        "20 hosts changed",
        "  --limit <20>",
        "200 nodes in the rollout: 2 failed, 1 rolled back, 20 changed, 177 not touched",
    ]


def test_its_length_does_not_depend_on_the_nodes() -> None:
    rows = [TableRow(name, "failed", f"reason {number}") for number, name in enumerate(NAMES)]
    assert len(render_table_groups(rows, limit).splitlines()) == 6
