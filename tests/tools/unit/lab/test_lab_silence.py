# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node that does not answer for long has gone silent."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.tests.lab.silence import LIMIT, NodeSilent, Silence


def look_at(*looks: tuple[float, bool]) -> None:
    """Check the node at these times, with these results."""
    now, answers = (iter(values) for values in zip(*looks, strict=True))
    times = [next(now)]

    def next_answer() -> bool:
        return next(answers)

    silence = Silence(next_answer, lambda: times[0])
    while True:
        silence.look()
        times[0] = next(now, -1)
        if times[0] < 0:
            return


def test_a_node_is_silent_when_no_check_is_answered() -> None:
    with pytest.raises(NodeSilent, match="has not answered"):
        look_at((0, True), (10, False), (20, False), (11 + LIMIT, False))


def test_an_answer_resets_the_count() -> None:
    look_at((0, False), (LIMIT - 1, False), (LIMIT, True), (LIMIT + 1, False), (2 * LIMIT, False))
