# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order of the rounds, and what they refuse."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.tests.bench.contestants import Contestant
from ansible_collections.volcano.colocation.tests.bench.rounds import RunFailed, turns, unchanging

from .runs import provision, run, task


def test_every_contestant_runs_once_a_round_and_each_begins_in_turn() -> None:
    rounds = [turns(number) for number in (1, 2, 3)]
    assert all(sorted(each.value for each in order) == ["ping", "provision", "stock"] for order in rounds)
    assert {order[0] for order in rounds} == set(Contestant)


def test_an_aligned_node_stays_as_it_is() -> None:
    steady = provision(4.0)
    assert unchanging(steady, Contestant.PROVISION) is steady
    with pytest.raises(RunFailed, match="stock changed an aligned node: Configure kubelet"):
        unchanging(run(4.0, task(name="Configure kubelet", changed=True)), Contestant.STOCK)
